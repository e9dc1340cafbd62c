package wire

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/cache"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// UsernameHeader names the person on whose behalf an application acts.
const UsernameHeader = "X-IRIS-USERNAME"

// Authenticator authenticates requests: of a person with a session, or of an application that signed the request. It is
// safe for concurrent use.
type Authenticator struct {
	applications auth.Applications
	recent       *cache.Cache[string, auth.Application] // by the name in the request
	people       users.Finder
	sessions     *scs.SessionManager
	userKey      string
	tokens       Tokens // nil = tokens are refused
	errors       *Errors
	unverified   bool
	commandLine  bool
	again        time.Duration // dangerous changes in a session need a log-in that is at most so old; 0 = any
}

// NewAuthenticator returns an Authenticator. With nil sessions, only applications can authenticate. userKey is the
// session key of the name of the logged-in user.
func NewAuthenticator(apps auth.Applications, people users.Finder, sessions *scs.SessionManager, userKey string, e *Errors) *Authenticator {
	return &Authenticator{applications: sharedLookups{apps, cache.New(cache.Config[string, auth.Application]{})},
		recent: cache.New(cache.Config[string,
			auth.Application]{TTL: recentFor}), people: people, sessions: sessions, userKey: userKey, errors: e}
}

// WithTokens returns an Authenticator that also accepts tokens of people and programs. A token takes precedence over a
// session.
func (a *Authenticator) WithTokens(t Tokens) *Authenticator {
	b := *a
	b.tokens = t
	return &b
}

// WithRecentLogin returns an Authenticator for which dangerous changes in a session whose log-in is older are refused;
// 0 = none is.
func (a *Authenticator) WithRecentLogin(within time.Duration) *Authenticator {
	b := *a
	b.again = within
	return &b
}

// WithoutVerification returns an Authenticator that accepts names without credentials. It refuses changes that a page
// of another site sent, unless CORS allows the site. Only a server on a loopback address with authentication switched
// off may use it.
func (a *Authenticator) WithoutVerification() *Authenticator {
	b := *a
	b.unverified = true
	return &b
}

// ForCommandLine returns an Authenticator that accepts every request as one of the iris command on the database. Only a
// handler without a listener may use it.
func (a *Authenticator) ForCommandLine() *Authenticator {
	b := *a
	b.commandLine = true
	return &b
}

// sharedLookups makes concurrent requests of one application share one read. It keeps nothing after the read.
type sharedLookups struct {
	apps  auth.Applications
	reads *cache.Cache[string, auth.Application]
}

func (s sharedLookups) ByName(ctx context.Context, name string) (auth.Application, error) {
	return s.reads.Get(ctx, name, func(ctx context.Context) (auth.Application, error) {
		return s.apps.ByName(ctx,
			name)
	})
}

// Middleware authenticates a request and stores the actor in its context (Actor). A session takes precedence over a
// signature. A request without credentials has no actor. Wrong credentials are answered with an error. Changes with a
// session are refused if a page of another site sent them, unless CORS allows the site.
func (a *Authenticator) Middleware(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	identify := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		actor, app, r, err := a.identify(w, r)
		if err == nil && (actor.Session && !a.byToken(r) || a.unverified) && !fromAllowedOrigin(r.Context()) {
			if cross.Check(r) != nil {
				err = fault.New(fault.Forbidden, "This request was sent by a page of another site")
			}
		}
		if err != nil {
			a.errors.Write(w, r, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(WithActor(r.Context(), actor, app)))
	})
	if a.sessions == nil {
		return identify
	}
	withSession := a.sessions.LoadAndSave(identify)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := r.Cookie(a.sessions.Cookie.Name); errors.Is(err, http.ErrNoCookie) {
			identify.ServeHTTP(w, r)
			return
		}
		withSession.ServeHTTP(w, r)
	})
}

// recentFor is how old the application of a request may be for Recent.
const recentFor = 10 * time.Second

// Recent is Middleware for handlers that check the version of the application when they store the request. It
// authenticates a request that an application signed for itself without a read, if the application was read in the last
// seconds and its key matches. Other requests, those with an Idempotency-Key too, are authenticated by Middleware.
func (a *Authenticator) Recent(next http.Handler) http.Handler {
	strict := a.Middleware(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, digest, err := auth.ParseAuthorization(r.Header.Get("Authorization"))
		if err != nil || a.unverified || r.Header.Get(UsernameHeader) != "" || r.Header.Get("Idempotency-Key") != "" || r.Header.Get("Cookie") != "" {
			strict.ServeHTTP(w, r)
			return
		}
		signed, r, err := signedRequest(w, r)
		if err != nil {
			a.errors.Write(w, r, err)
			return
		}
		app, _ := a.recent.Lookup(name)
		// An unknown application has no keys. It is checked too, so that the time of a refusal does not depend on the
		// cache.
		if !app.Signed(signed, digest, time.Now()) || app.Version == 0 {
			strict.ServeHTTP(w, r)
			return
		}
		app.Recent = true
		next.ServeHTTP(w, r.WithContext(WithActor(r.Context(), auth.Through(app), app)))
	})
}

// signedRequest returns the parts of a request that its signature covers, and the request with its body kept.
func signedRequest(w http.ResponseWriter, r *http.Request) (auth.SignedRequest, *http.Request, error) {
	body, r, err := Body(w, r, MaxBody)
	path, _, _ := strings.Cut(r.RequestURI, "?")
	return auth.SignedRequest{Authorization: r.Header.Get("Authorization"), Username: r.Header.Get(UsernameHeader),
		Method: r.Method,
		Path:   r.URL.Path, WirePath: path, RawQuery: r.URL.RawQuery, Body: body}, r, err
}

// byToken reports whether a request is authenticated by a token. Pages of other sites cannot send one.
func (a *Authenticator) byToken(r *http.Request) bool { return a.tokens != nil && HasBearer(r) }

func (a *Authenticator) identify(w http.ResponseWriter, r *http.Request) (auth.Actor, auth.Application, *http.Request, error) {
	if a.commandLine {
		app, err := a.applications.ByName(r.Context(), auth.SessionApplication)
		return auth.CommandLine(app), app, r, err
	}
	if a.byToken(r) {
		actor, app, err := ByToken(r, a.tokens, a.people, a.applications)
		return actor, app, r, err
	}
	if actor, app, err := a.bySession(r); err != nil || actor.Known() {
		return actor, app, r, err
	}
	header, username := r.Header.Get("Authorization"), r.Header.Get(UsernameHeader)
	if a.unverified {
		app, err := auth.Unverified(r.Context(), a.applications,
			auth.SignedRequest{Authorization: header, Username: username})
		if err != nil {
			return auth.Actor{}, auth.Application{}, r, err
		}
		actor, err := a.speaking(r.Context(), app, username)
		return actor, app, r, err
	}
	if header == "" {
		return auth.Actor{}, auth.Application{}, r, nil
	}
	name, _, err := auth.ParseAuthorization(header)
	if err != nil {
		return auth.Actor{}, auth.Application{}, r, err
	}
	signed, r, err := signedRequest(w, r)
	if err != nil {
		return auth.Actor{}, auth.Application{}, r, err
	}
	app, err := auth.Authenticate(r.Context(), a.applications, signed, time.Now())
	if err != nil {
		return auth.Actor{}, auth.Application{}, r, err
	}
	a.recent.Put(name, app)
	actor, err := a.speaking(r.Context(), app, username)
	return actor, app, r, err
}

// speaking returns the actor of an application, on behalf of a person if the application names one.
func (a *Authenticator) speaking(ctx context.Context, app auth.Application, username string) (auth.Actor, error) {
	actor := auth.Through(app)
	if username == "" {
		return actor, nil
	}
	user, err := a.people.ByName(ctx, username)
	switch {
	case fault.Is(err, fault.NotFound): // allowed: the application may act for people whom Iris does not know
		actor.Username = username
	case err != nil:
		return auth.Actor{}, err
	case !user.Active:
		return auth.Actor{}, fault.Newf(fault.Unauthenticated, "The user %s is not active", user.Name)
	default:
		actor = actor.As(user)
	}
	return actor, nil
}

// bySession returns the actor of a logged-in person; the zero value if there is no session or it has ended.
func (a *Authenticator) bySession(r *http.Request) (auth.Actor, auth.Application, error) {
	if a.sessions == nil {
		return auth.Actor{}, auth.Application{}, nil
	}
	if _, err := r.Cookie(a.sessions.Cookie.Name); err != nil {
		return auth.Actor{}, auth.Application{}, nil // the session was not loaded
	}
	user, ok, err := SessionUser(r.Context(), a.sessions, a.userKey, a.people)
	if err != nil || !ok {
		return auth.Actor{}, auth.Application{}, err
	}
	app, err := SessionApplication(r.Context(), a.applications)
	if err != nil {
		return auth.Actor{}, auth.Application{}, err
	}
	actor := auth.Through(app).As(user)
	actor.Session, actor.OldLogin = true, !LoggedInWithin(r.Context(), a.sessions, a.again)
	return actor, app, nil
}
