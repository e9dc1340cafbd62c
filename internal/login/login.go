// Package login checks who logs in to the pages: with a local password or the directory's, and with a limit on attempts.
// iris-api uses it. The rules about accounts are in internal/auth.
package login

import (
	"context"
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
	"github.com/iris-oncall/iris/internal/postgres/people"
	"github.com/iris-oncall/iris/internal/users"
)

// UserKey is the session key that holds the name of the logged-in user.
const UserKey = "user"

// NewSessions returns the web sessions. The cookie has the same name as in the predecessor. fail answers requests whose session
// cannot be read or stored.
func NewSessions(c config.API, store *access.Sessions, fail func(http.ResponseWriter, *http.Request, error)) *scs.SessionManager {
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

// knownAddresses stores the addresses from which people logged in.
type knownAddresses interface {
	Known(ctx context.Context, name, address string) (bool, error)
	Remember(ctx context.Context, id users.ID, address string) error
}

// People finds users and checks their log-in. It is safe for concurrent use.
type People struct {
	*people.Users
	accounts *auth.Accounts
	guard    loginGuard
	known    knownAddresses
	log      *zap.Logger
}

// NewPeople returns People. known stores the addresses from which people logged in.
func NewPeople(rows *people.Users, accounts *auth.Accounts, known knownAddresses, log *zap.Logger) *People {
	return &People{Users: rows, accounts: accounts, known: known, log: log}
}

// Authenticate checks a password. The guard limits attempts, except from addresses where the person logged in before; its refusal
// is a Throttled fault. Other errors are those of auth.Accounts.
func (p *People) Authenticate(ctx context.Context, name, password string) (users.User, error) {
	address, _ := ctx.Value(addressKey{}).(string)
	if err := p.guard.enter(address, name, time.Now()); err != nil {
		known, storageErr := p.known.Known(ctx, name, address)
		if storageErr != nil {
			p.log.Warn("known addresses cannot be read: log-in refused", zap.Error(storageErr))
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
		p.log.Warn("address of a log-in cannot be stored", zap.Error(err))
	}
	return u, nil
}

// ByAddress returns the key of a client for rate limits: its address, or the /64 network for IPv6. RemoteAddr must be the
// address of the client (trustProxies).
func ByAddress(r *http.Request) (string, error) {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return httprate.CanonicalizeIP(host), nil
}
