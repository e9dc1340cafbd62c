package auth

import (
	"context"
	"time"
)

// Keys of the values of a web session that its row has too, for lists.
const (
	SessionUserID  = "user_id"
	SessionHow     = "how"
	SessionAddress = "address"
	SessionDevice  = "device"
)

// Session is a running web session of a person, without its secret.
type Session struct {
	ID         int64
	How        string // "password", or the name of the provider; "" = unknown
	Address    string // of the log-in
	Device     string // browser and system, such as "Firefox on Linux"
	CreatedAt  time.Time
	LastUsedAt time.Time // exact to about one minute
	ExpiresAt  time.Time
	Current    bool // the session that asks
}

type noUseKey struct{}

// WithoutUse returns a context whose requests are no use of their session: the browser sends them by itself while a page is open.
func WithoutUse(ctx context.Context) context.Context { return context.WithValue(ctx, noUseKey{}, true) }

// IsUse reports whether a request with this context counts as use of its session.
func IsUse(ctx context.Context) bool { return ctx.Value(noUseKey{}) == nil }
