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

type backgroundKey struct{}

// WithBackground returns a context for requests that the browser sends by itself while a page is open. They do not
// extend the session: it ends after the idle time although the page is open.
func WithBackground(ctx context.Context) context.Context {
	return context.WithValue(ctx, backgroundKey{}, true)
}

// IsBackground reports whether WithBackground has marked the request of this context.
func IsBackground(ctx context.Context) bool { return ctx.Value(backgroundKey{}) != nil }
