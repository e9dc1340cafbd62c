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
	"github.com/iris-oncall/iris/internal/postgres/access"
	pgpeople "github.com/iris-oncall/iris/internal/postgres/people"
	"github.com/iris-oncall/iris/internal/users"
)

// userKey is where a session keeps the name of the logged-in user.
const userKey = "user"

// newSessions returns the web sessions. The cookie has the predecessor's name.
func newSessions(c config.API, store *access.Sessions, fail func(http.ResponseWriter, *http.Request, error)) *scs.SessionManager {
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
func expireSessions(s *access.Sessions, log *zap.Logger) func(context.Context) error {
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

// knownAddresses remembers from which addresses people logged in.
type knownAddresses interface {
	Known(ctx context.Context, name, address string) (bool, error)
	Remember(ctx context.Context, id users.ID, address string) error
}

// people logs users in for the pages and finds them.
type people struct {
	*pgpeople.Users
	accounts *auth.Accounts
	guard    *loginGuard
	known    knownAddresses
	log      *zap.Logger
}

// Authenticate implements the log-in. The guard bounds attempts, but never those from an address at which the person logged in
// before.
func (p *people) Authenticate(ctx context.Context, name, password string) (users.User, error) {
	address, _ := ctx.Value(addressKey{}).(string)
	if err := p.guard.enter(address, name, time.Now()); err != nil {
		known, storageErr := p.known.Known(ctx, name, address)
		if storageErr != nil {
			p.log.Warn("known addresses cannot be read: a log-in is refused", zap.Error(storageErr))
		}
		if !known {
			return users.User{}, err
		}
	}
	u, err := p.accounts.Authenticate(ctx, name, password)
	if err != nil {
		return users.User{}, err
	}
	p.guard.succeeded(address, name)
	if err := p.known.Remember(ctx, u.ID, address); err != nil {
		p.log.Warn("the address of a log-in cannot be remembered", zap.Error(err))
	}
	return u, nil
}

// byAddress tells callers apart by their address, which trustProxies has found; IPv6 by the network they have.
func byAddress(r *http.Request) (string, error) {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return httprate.CanonicalizeIP(host), nil
}
