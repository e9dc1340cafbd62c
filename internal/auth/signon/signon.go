package signon

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/httprate"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth/sso"
	"github.com/iris-oncall/iris/internal/auth/sso/oidc"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Provider speaks with an identity provider; see package oidc. It must be safe for concurrent use.
type Provider interface {
	// Begin begins a log-in. again = the person logs in again, even with a session at the provider.
	Begin(ctx context.Context, again bool) (oidc.Request, string, error)
	CheckAnswer(r oidc.Request, answer url.Values) error
	Finish(ctx context.Context, r oidc.Request, answer url.Values) (sso.Identity, sso.Session, error)
	LogoutURL(idToken, after string) string
	LogoutToken(ctx context.Context, raw string) (oidc.Logout, error)
}

// Choice is a provider on the log-in page.
type Choice struct {
	Name, Label, Issuer string
	Provider            Provider
}

// Sessions stores which sessions began with an account, and which values were used.
type Sessions interface {
	Began(ctx context.Context, token string, from sso.Session) error
	Of(ctx context.Context, token string) (sso.Session, error)
	End(ctx context.Context, issuer, subject, sid string) (int64, error)
	Use(ctx context.Context, value string, keep time.Duration) (first bool, err error)
}

// Sealer encrypts what the browser keeps during a log-in.
type Sealer interface {
	Seal(plain []byte, about string) []byte
	Unseal(sealed []byte, about string) ([]byte, error)
}

// Deps are the parts that the log-in works on.
type Deps struct {
	Choices   []Choice
	Proxy     Proxy
	Admit     func(ctx context.Context, id sso.Identity) (users.User, error)
	Sessions  Sessions
	Keys      Sealer
	PublicURL string // address of the site, without a final slash
}

// SignOn serves the log-in. It is safe for concurrent use.
type SignOn struct {
	Deps
	web     *scs.SessionManager
	userKey string
	errors  *wire.Errors
	log     *zap.Logger
}

// New returns a log-in that begins sessions of web under userKey.
func New(d Deps, web *scs.SessionManager, userKey string, log *zap.Logger) *SignOn {
	log = log.Named("signon")
	return &SignOn{Deps: d, web: web, userKey: userKey, errors: wire.NewErrors(log), log: log}
}

// Routes mounts the routes. They need loaded sessions.
func (s *SignOn) Routes(r chi.Router) {
	r.Get("/login/sso/{provider}", s.begin)
	r.Get("/login/sso/{provider}/callback", s.callback)
	r.With(httprate.LimitBy(logoutsPerMinute, time.Minute, wire.ByAddress)).Post("/login/sso/{provider}/backchannel",
		s.backchannel)
}

// logoutsPerMinute is how many logout tokens an address may send. A token with an unknown key makes Iris read the
// provider's keys.
const logoutsPerMinute = 600

func (s *SignOn) choice(rw http.ResponseWriter, r *http.Request) (Choice, bool) {
	for _, c := range s.Choices {
		if c.Name == chi.URLParam(r, "provider") {
			return c, true
		}
	}
	s.errors.Write(rw, r, fault.New(fault.NotFound, "there is no such identity provider"))
	return Choice{}, false
}

// attempt is what the browser keeps, encrypted, while the person is at the provider.
type attempt struct {
	Provider string
	Request  oidc.Request
	Next     string
	Until    time.Time
}

const attemptSealed = "log-in at an identity provider"

// cookie returns the cookie of an attempt. Browsers accept a __Host- cookie only from this host and over TLS, so that
// no neighbour can set one.
func (s *SignOn) cookie(value string, age int) *http.Cookie {
	secure := strings.HasPrefix(s.PublicURL, "https://")
	name := "iris-login"
	if secure {
		name = "__Host-" + name
	}
	return &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: secure,
		SameSite: http.SameSiteLaxMode}
}

// begin redirects to the provider.
func (s *SignOn) begin(rw http.ResponseWriter, r *http.Request) {
	c, ok := s.choice(rw, r)
	if !ok {
		return
	}
	next := r.URL.Query().Get("next")
	if !LocalPath(next) {
		next = ""
	}
	request, address, err := c.Provider.Begin(r.Context(), r.URL.Query().Get("again") != "")
	if err != nil {
		s.fail(rw, r, c, next, err)
		return
	}
	plain, err := json.Marshal(attempt{Provider: c.Name, Request: request, Next: next,
		Until: time.Now().Add(oidc.RequestLife)})
	if err != nil {
		s.fail(rw, r, c, next, err)
		return
	}
	sealed := base64.RawURLEncoding.EncodeToString(s.Keys.Seal(plain, attemptSealed))
	http.SetCookie(rw, s.cookie(sealed, int(oidc.RequestLife.Seconds())))
	http.Redirect(rw, r, address, http.StatusFound)
}

// errAttempt refuses an answer of the provider to which no attempt of this browser belongs.
var errAttempt = fault.New(fault.Unauthenticated, "the log-in took too long, or was begun in another browser")

// opened returns the attempt that the browser keeps.
func (s *SignOn) opened(r *http.Request, c Choice) (a attempt, err error) {
	kept, err := r.Cookie(s.cookie("", 0).Name)
	if err != nil {
		return a, errAttempt
	}
	sealed, err := base64.RawURLEncoding.DecodeString(kept.Value)
	if err != nil {
		return a, errAttempt
	}
	plain, err := s.Keys.Unseal(sealed, attemptSealed)
	if err != nil || json.Unmarshal(plain, &a) != nil || a.Provider != c.Name || !time.Now().Before(a.Until) {
		return attempt{}, errAttempt
	}
	return a, nil
}

// callback takes the answer of the provider, and begins a session.
func (s *SignOn) callback(rw http.ResponseWriter, r *http.Request) {
	c, ok := s.choice(rw, r)
	if !ok {
		return
	}
	a, err := s.opened(r, c)
	http.SetCookie(rw, s.cookie("", -1))
	if err == nil {
		err = s.finish(r, c, a)
	}
	if err != nil {
		s.fail(rw, r, c, a.Next, err)
		return
	}
	next := a.Next
	if next == "" {
		next = "/"
	}
	http.Redirect(rw, r, next, http.StatusFound)
}

func (s *SignOn) finish(r *http.Request, c Choice, a attempt) error {
	ctx, answer := r.Context(), r.URL.Query()
	if err := c.Provider.CheckAnswer(a.Request, answer); err != nil {
		return err
	}
	first, err := s.Sessions.Use(ctx, "state "+a.Request.State, 2*oidc.RequestLife)
	if err != nil {
		return err
	}
	if !first {
		return errAttempt
	}
	id, session, err := c.Provider.Finish(ctx, a.Request, answer)
	if err != nil {
		return err
	}
	return s.enter(ctx, id, session)
}

// enter begins a session for an account. The session is stored first, so that a logout at the provider finds it.
func (s *SignOn) enter(ctx context.Context, id sso.Identity, session sso.Session) error {
	u, err := s.Admit(ctx, id)
	if err != nil {
		return err
	}
	if _, err := wire.BeginSession(ctx, s.web, s.userKey, u, id.Provider, session.AuthTime); err != nil {
		return err
	}
	token, _, err := s.web.Commit(ctx)
	if err != nil {
		return err
	}
	return s.Sessions.Began(ctx, token, session)
}

// fail shows the log-in page with the reason. Errors of the server are logged, and so are refusals; neither has a token
// in it.
func (s *SignOn) fail(rw http.ResponseWriter, r *http.Request, c Choice, next string, err error) {
	var problem string
	switch {
	case errors.Is(err, errAttempt):
		problem = "The log-in took too long, or was begun in another browser. Try again."
	case fault.Is(err, fault.Forbidden):
		problem = "You are not logged in: " + fault.Public(err) + "."
	case fault.Is(err, fault.Unauthenticated):
		s.log.Warn("log-in refused", zap.String("provider", c.Name), zap.Error(err))
		problem = c.Label + " did not confirm the log-in. Try again."
	case fault.Is(err, fault.Unavailable):
		problem = c.Label + " cannot be reached. Passwords that Iris itself keeps still work."
	default:
		s.log.Error("log-in failed", zap.String("provider", c.Name), zap.Error(err))
		problem = "The log-in failed in Iris. Try again in a moment."
	}
	s.web.Put(r.Context(), "flash", problem)
	form := "/login"
	if next != "" {
		form += "?next=" + url.QueryEscape(next)
	}
	http.Redirect(rw, r, form, http.StatusFound)
}

// LocalPath reports whether p is a path on this server. "//host" and "/\host" are not.
func LocalPath(p string) bool {
	u, err := url.Parse(p)
	return err == nil && strings.HasPrefix(p, "/") && u.Host == "" && u.Scheme == "" && !strings.HasPrefix(p, "//") &&
		!strings.Contains(p, `\`)
}
