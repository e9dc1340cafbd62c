package app

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/go-chi/httprate"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/users"
)

// userKey is where a session keeps the name of the logged-in user.
const userKey = "user"

// newSessions returns the web sessions. The cookie has the predecessor's name.
func newSessions(c config.API, store *postgres.Sessions, fail func(http.ResponseWriter, *http.Request, error)) *scs.SessionManager {
	m := scs.New()
	m.Store = store
	m.Lifetime = c.HTTP.SessionTTL
	m.Cookie.Name = "iris-auth"
	m.Cookie.HttpOnly = true
	m.Cookie.SameSite = http.SameSiteLaxMode
	m.Cookie.Secure = strings.HasPrefix(c.PublicURL, "https://")
	m.ErrorFunc = fail
	return m
}

// expireSessions removes sessions that are over, now and then.
func expireSessions(s *postgres.Sessions, log *zap.Logger) func(context.Context) error {
	return func(ctx context.Context) error {
		tick := time.NewTicker(10 * time.Minute)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
				if _, err := s.DeleteExpired(ctx); err != nil && ctx.Err() == nil {
					log.Warn("expired sessions cannot be removed", zap.Error(fmt.Errorf("expire sessions: %w", err)))
				}
			}
		}
	}
}

// people logs users in for the pages and finds them.
type people struct {
	*postgres.Users
	accounts *auth.Accounts
	guard    *loginGuard
}

// Authenticate implements the log-in, with a bound on attempts (loginGuard).
func (p *people) Authenticate(ctx context.Context, name, password string) (users.User, error) {
	address, _ := ctx.Value(addressKey{}).(string)
	if err := p.guard.enter(address, name, time.Now()); err != nil {
		return users.User{}, err
	}
	u, err := p.accounts.Authenticate(ctx, name, password)
	if err == nil {
		p.guard.succeeded(address, name, time.Now())
	}
	return u, err
}

// byAddress tells callers apart by their address, which trustProxies has found; IPv6 by the network they have.
func byAddress(r *http.Request) (string, error) {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return httprate.CanonicalizeIP(host), nil
}
