package login

import (
	"context"
	"net/http"
	"strings"

	"github.com/alexedwards/scs/v2"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	pgauth "github.com/iris-oncall/iris/internal/auth/pg"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/users/pg"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// UserKey is the session key that holds the name of the logged-in user.
const UserKey = "user"

// NewSessions returns the web sessions. fail answers requests whose session cannot be read or stored.
func NewSessions(c config.API, store *pgauth.Sessions, fail func(http.ResponseWriter, *http.Request, error)) *scs.SessionManager {
	m := scs.New()
	m.Store = store
	m.Lifetime = c.HTTP.SessionTTL
	m.Cookie.Name = wire.SessionCookie
	m.Cookie.HttpOnly = true
	m.Cookie.SameSite = http.SameSiteLaxMode
	m.Cookie.Secure = strings.HasPrefix(c.PublicURL, "https://")
	m.ErrorFunc = fail
	return m
}

// knownAddresses stores the addresses from which people logged in.
type knownAddresses interface {
	Known(ctx context.Context, name, address string) (bool, error)
	Remember(ctx context.Context, id users.ID, address string) error
}

// People finds users and checks their log-in. It is safe for concurrent use.
type People struct {
	*pg.Users
	accounts *auth.Accounts
	attempts Attempts
	known    knownAddresses
	log      *zap.Logger
}

// Attempts counts attempts for all processes. Enter refuses one with a Throttled fault that says how long to wait.
// Failed logs a wrong name or password.
type Attempts interface {
	Enter(ctx context.Context, a auth.Attempt, l auth.AttemptLimits) error
	Succeeded(ctx context.Context, a auth.Attempt) error
	Failed(ctx context.Context, account string) error
}

// NewPeople returns People. known stores the addresses from which people logged in.
func NewPeople(rows *pg.Users, accounts *auth.Accounts, known knownAddresses, attempts Attempts, log *zap.Logger) *People {
	return &People{Users: rows, accounts: accounts, known: known, attempts: attempts, log: log}
}

// Authenticate checks a password. Attempts are limited; the refusal is a Throttled fault. Other errors are those of
// auth.Accounts.
func (p *People) Authenticate(ctx context.Context, name, password string) (u users.User, err error) {
	address := wire.ClientOf(ctx).Address
	a := attempt(address, name)
	if a.Known, err = p.known.Known(ctx, name, address); err != nil {
		return u, err
	}
	if err := p.attempts.Enter(ctx, a, limits); err != nil {
		return u, err
	}
	if u, err = p.accounts.Authenticate(ctx, name, password); err != nil {
		if fault.Is(err, fault.Unauthenticated) {
			if err := p.attempts.Failed(ctx, name); err != nil {
				return users.User{}, err
			}
		}
		return users.User{}, err
	}
	if err := p.attempts.Succeeded(ctx, a); err != nil {
		p.log.Warn("attempts to log in cannot be forgotten", zap.Error(err))
	}
	if err := p.known.Remember(ctx, u.ID, address); err != nil {
		p.log.Warn("address of a log-in cannot be stored", zap.Error(err))
	}
	return u, nil
}
