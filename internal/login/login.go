// Package login lets people log in to the pages: with a password kept here or the directory's, and with a bound on attempts.
// iris-api puts it together; the rules about accounts are in internal/auth.
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
	pgpeople "github.com/iris-oncall/iris/internal/postgres/people"
	"github.com/iris-oncall/iris/internal/users"
)

// UserKey is where a session keeps the name of the logged-in user.
const UserKey = "user"

// NewSessions returns the web sessions. The cookie has the predecessor's name.
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

// knownAddresses remembers from which addresses people logged in.
type knownAddresses interface {
	Known(ctx context.Context, name, address string) (bool, error)
	Remember(ctx context.Context, id users.ID, address string) error
}

// People logs users in for the pages and finds them. It is safe for concurrent use.
type People struct {
	*pgpeople.Users
	accounts *auth.Accounts
	guard    loginGuard
	known    knownAddresses
	log      *zap.Logger
}

// NewPeople returns People over the rows of users. known keeps the addresses from which people logged in.
func NewPeople(rows *pgpeople.Users, accounts *auth.Accounts, known knownAddresses, log *zap.Logger) *People {
	return &People{Users: rows, accounts: accounts, known: known, log: log}
}

// Authenticate implements the log-in. The guard bounds attempts, but never those from an address at which the person logged in
// before.
func (p *People) Authenticate(ctx context.Context, name, password string) (users.User, error) {
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

// ByAddress tells callers apart by their address, which trustProxies has found; IPv6 by the network they have.
func ByAddress(r *http.Request) (string, error) {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return httprate.CanonicalizeIP(host), nil
}
