package wire

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/mileusna/useragent"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// Keys of a session, in addition to userKey, which the server chooses.
const (
	sessionEpoch = "login_epoch"
	sessionLogIn = "logged_in_at" // seconds since 1970
	sessionCSRF  = "csrf_token"
	sessionProxy = "proxy_subject" // the account that a proxy named when the session began
)

// SessionCookie is the name of the cookie with the secret of a session, as in the predecessor.
const SessionCookie = "iris-auth"

// Client is where a request comes from.
type Client struct {
	Address string
	Agent   string // the header User-Agent
}

type clientKey struct{}

// WithClient returns a context with the client of a request that may begin a session.
func WithClient(ctx context.Context, c Client) context.Context {
	return context.WithValue(ctx, clientKey{}, c)
}

// ClientOf returns the client of a request; the zero value if it is not known.
func ClientOf(ctx context.Context) Client {
	c, _ := ctx.Value(clientKey{}).(Client)
	return c
}

// device names browser and system, "Firefox on Linux"; "" = unknown.
func (c Client) device() string {
	agent := c.Agent[:min(len(c.Agent), maxAgent)]
	ua := useragent.Parse(agent)
	switch {
	case ua.Name != "" && ua.OS != "":
		return ua.Name + " on " + ua.OS
	case ua.Name != "":
		return ua.Name[:min(len(ua.Name), maxDevice)]
	}
	return agent[:min(len(agent), maxDevice)]
}

const (
	maxAgent  = 500 // bytes
	maxDevice = 60  // bytes
)

// BeginSession makes u the user of the session of ctx. how is "password" or the name of a provider. proved is when the
// person proved who they are, zero if that is not known: then no log-in of the session is recent. It changes the
// session's token, so that a token that an attacker set before the log-in is useless. It returns the session's CSRF
// token: 128 random bits as hexadecimal digits. userKey is the session key of the user's name.
func BeginSession(ctx context.Context, sessions *scs.SessionManager, userKey string, u users.User, how string, proved time.Time) (csrf string, err error) {
	if err := sessions.RenewToken(ctx); err != nil {
		return "", err
	}
	random := make([]byte, 16)
	_, _ = rand.Read(random) // crypto/rand never fails
	csrf = hex.EncodeToString(random)
	sessions.Put(ctx, userKey, u.Name)
	sessions.Put(ctx, auth.SessionUserID, int64(u.ID))
	client := ClientOf(ctx)
	ConfirmLogin(ctx, sessions, proved)
	sessions.Put(ctx, auth.SessionHow, how)
	sessions.Put(ctx, auth.SessionAddress, client.Address)
	sessions.Put(ctx, auth.SessionDevice, client.device())
	sessions.Put(ctx, sessionEpoch, u.LoginEpoch)
	sessions.Put(ctx, sessionCSRF, csrf)
	return csrf, nil
}

// ConfirmLogin notes when the person of the session of ctx logged in, or confirmed the password. A zero time is never
// recent, and one in the future counts as now.
func ConfirmLogin(ctx context.Context, sessions *scs.SessionManager, proved time.Time) {
	if now := time.Now(); proved.After(now) {
		proved = now
	}
	sessions.Put(ctx, sessionLogIn, max(proved.Unix(), 0))
}

// LoggedInWithin reports whether the person of the session of ctx logged in at most so long ago; 0 = at any time.
func LoggedInWithin(ctx context.Context, sessions *scs.SessionManager, within time.Duration) bool {
	return within == 0 || time.Since(time.Unix(sessions.GetInt64(ctx, sessionLogIn), 0)) < within
}

// ProxyAccount is the account that an authenticating proxy names in a request.
type ProxyAccount struct {
	Subject string // "" = the proxy names nobody, or there is no proxy
	// AuthTime is when the person proved to the proxy who they are; zero = the proxy does not say.
	AuthTime time.Time
}

type proxyKey struct{}

// WithProxyAccount returns a context with the account that the proxy names. Sessions that began with an account of the
// proxy work only in such a context.
func WithProxyAccount(ctx context.Context, a ProxyAccount) context.Context {
	return context.WithValue(ctx, proxyKey{}, a)
}

// ProxyAccountOf returns the account that the proxy names in a request; the zero value = none.
func ProxyAccountOf(ctx context.Context) ProxyAccount {
	a, _ := ctx.Value(proxyKey{}).(ProxyAccount)
	return a
}

// BindToProxy ends the session of ctx as soon as a request comes with it in which the proxy names another account than
// subject, or none.
func BindToProxy(ctx context.Context, sessions *scs.SessionManager, subject string) {
	sessions.Put(ctx, sessionProxy, subject)
}

// BoundToProxy reports whether the session of ctx began with an account of the proxy.
func BoundToProxy(ctx context.Context, sessions *scs.SessionManager) bool {
	return sessions.GetString(ctx, sessionProxy) != ""
}

// followProxy reports whether the session of ctx may go on: it did not begin with an account of the proxy, or the proxy
// names the same one. Otherwise it ends the session. A later log-in at the proxy makes the session's log-in recent.
func followProxy(ctx context.Context, sessions *scs.SessionManager) (bool, error) {
	began := sessions.GetString(ctx, sessionProxy)
	if began == "" {
		return true, nil
	}
	named := ProxyAccountOf(ctx)
	if named.Subject != began {
		return false, sessions.Destroy(ctx)
	}
	if named.AuthTime.Unix() > sessions.GetInt64(ctx, sessionLogIn) {
		ConfirmLogin(ctx, sessions, named.AuthTime)
	}
	return true, nil
}

// SessionUser returns the user of the session of ctx. ok is false without a log-in, and if the person was deleted, was
// switched off or got another password after the log-in. It ends a session that began behind a proxy if the proxy names
// another account or none.
func SessionUser(ctx context.Context, sessions *scs.SessionManager, userKey string, people users.Finder) (u users.User, ok bool, err error) {
	name := sessions.GetString(ctx, userKey)
	if name == "" {
		return users.User{}, false, nil
	}
	if follows, err := followProxy(ctx, sessions); err != nil || !follows {
		return users.User{}, false, err
	}
	u, err = people.ByName(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return users.User{}, false, nil
	}
	if err != nil {
		return users.User{}, false, err
	}
	if !u.Active || sessions.GetInt64(ctx, auth.SessionUserID) != int64(u.ID) || sessions.GetInt(ctx, sessionEpoch) != u.LoginEpoch {
		return users.User{}, false, nil
	}
	return u, true, nil
}

// SessionApplication returns the application of requests with a session.
func SessionApplication(ctx context.Context, apps auth.Applications) (auth.Application, error) {
	return apps.ByName(ctx, auth.SessionApplication)
}

// SessionToken returns the CSRF token of the session of ctx, which scripts of pages send with changes; "" without a
// log-in.
func SessionToken(ctx context.Context, sessions *scs.SessionManager) string {
	return sessions.GetString(ctx, sessionCSRF)
}
