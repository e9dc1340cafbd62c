package requests

import (
	"context"
	"crypto/subtle"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// debugUser is the name of every caller in debug mode.
const debugUser = "test_user"

// Authenticator authenticates the callers of the calendar APIs. All parts but Sessions are required. It is safe for
// concurrent use.
type Authenticator struct {
	Applications auth.Applications
	Users        users.Finder
	// Sessions is nil if nobody can log in.
	Sessions *scs.SessionManager `optional:"true"`
	// Tokens is nil if personal tokens are refused.
	Tokens wire.Tokens `optional:"true"`
	// UserKey is the session key that holds the name of the logged-in user.
	UserKey     string
	Memberships auth.Memberships
	// RecentLogin is how recent the log-in of a session must be for dangerous changes; 0 = any.
	RecentLogin time.Duration
	Openings    auth.Openings
	// DebugAuth allows everything to every caller, as the user test_user. It must never be used on a public address.
	DebugAuth bool
	Errors    *wire.Errors
}

// Identified authenticates a request and stores its actor in the context. A signature takes precedence over a session.
// A change with a session needs the session's CSRF token. Wrong credentials are refused.
func (a *Authenticator) Identified(next http.Handler) http.Handler {
	identify := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		actor, app, r, err := a.identify(w, r)
		if err != nil {
			a.Errors.Write(w, r, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(wire.WithActor(r.Context(), actor, app)))
	})
	if a.Sessions == nil {
		return identify
	}
	withSession := a.Sessions.LoadAndSave(identify)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := r.Cookie(a.Sessions.Cookie.Name); errors.Is(err, http.ErrNoCookie) || r.Header.Get("Authorization") != "" {
			identify.ServeHTTP(w, r)
			return
		}
		withSession.ServeHTTP(w, r)
	})
}

func (a *Authenticator) identify(w http.ResponseWriter, r *http.Request) (auth.Actor, auth.Application, *http.Request, error) {
	if a.Tokens != nil && wire.HasBearer(r) {
		actor, app, err := wire.ByToken(r, a.Tokens, a.Users, a.Applications)
		if err == nil && actor.UserID != 0 && changes(r) {
			actor, err = withTeams(r.Context(), a.Memberships, actor)
		}
		return actor, app, r, err
	}
	if header := r.Header.Get("Authorization"); header != "" {
		body, r, err := wire.Body(w, r, wire.MaxBody)
		if err != nil {
			return auth.Actor{}, auth.Application{}, r, err
		}
		app, err := a.signed(r, header, body)
		return auth.Through(app), app, r, err
	}
	actor, app, err := a.bySession(r)
	if a.DebugAuth && (err != nil && fault.Is(err, fault.Unauthenticated) || err == nil && !actor.Known()) {
		actor, err = a.debugActor(r.Context())
	}
	return actor, app, r, err
}

func (a *Authenticator) signed(r *http.Request, header string, body []byte) (auth.Application, error) {
	name, digest, err := auth.ParseAuthorization(header)
	switch {
	case errors.Is(err, operation.ErrUnknown):
		return auth.Application{}, auth.ErrDigestFormat
	case err != nil:
		return auth.Application{}, auth.ErrOncallDigest
	}
	app, err := auth.Lookup(r.Context(), a.Applications, name)
	if err != nil {
		return auth.Application{}, err
	}
	path, _, _ := strings.Cut(r.RequestURI, "?")
	request := auth.SignedRequest{Authorization: header, Method: r.Method, Path: r.URL.Path, WirePath: path,
		RawQuery: r.URL.RawQuery, Body: body}
	if !app.SignedOncall(request, digest, time.Now()) {
		return auth.Application{}, auth.ErrOncallDigest
	}
	return app, nil
}

// bySession returns the actor of a logged-in person; the zero value if there is no session and the request needs none.
// The actor has the person's teams only if the request is a change.
func (a *Authenticator) bySession(r *http.Request) (auth.Actor, auth.Application, error) {
	var nobody auth.Actor
	if a.Sessions == nil {
		return nobody, auth.Application{}, nil
	}
	if _, err := r.Cookie(a.Sessions.Cookie.Name); err != nil {
		return nobody, auth.Application{}, nil
	}
	ctx := r.Context()
	user, ok, err := wire.SessionUser(ctx, a.Sessions, a.UserKey, a.Users)
	if err != nil {
		return nobody, auth.Application{}, err
	}
	change := changes(r)
	if !ok {
		if gone := a.Sessions.Token(ctx) == "" || a.Sessions.Exists(ctx, a.UserKey); gone && (change || !a.Openings.AnonymousReads) {
			return nobody, auth.Application{}, auth.ErrSessionGone
		}
		return nobody, auth.Application{}, nil
	}
	if token := wire.SessionToken(ctx, a.Sessions); change && (token == "" || !equal(token, r.Header.Get("X-CSRF-TOKEN"))) {
		return nobody, auth.Application{}, auth.ErrCSRF
	}
	app, err := wire.SessionApplication(ctx, a.Applications)
	if err != nil {
		return nobody, auth.Application{}, err
	}
	actor := auth.Through(app).As(user)
	actor.Session, actor.OldLogin = true, !wire.LoggedInWithin(ctx, a.Sessions, a.RecentLogin)
	if !change {
		return actor, app, nil
	}
	actor, err = withTeams(ctx, a.Memberships, actor)
	return actor, app, err
}

func changes(r *http.Request) bool { return r.Method != http.MethodGet && r.Method != http.MethodHead }

// withTeams returns the actor with the teams of the actor's person.
func withTeams(ctx context.Context, in auth.Memberships, actor auth.Actor) (_ auth.Actor, err error) {
	actor.MemberOf, actor.TeamAdminOf, err = auth.TeamsOf(ctx, in, actor.UserID)
	return actor, err
}

// debugActor returns the actor test_user, who may do everything. The user need not exist.
func (a *Authenticator) debugActor(ctx context.Context) (auth.Actor, error) {
	actor := auth.Actor{Username: debugUser}
	user, err := a.Users.ByName(ctx, debugUser)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return actor, err
	}
	if err == nil {
		actor = actor.As(user)
	}
	actor.Admin, actor.ReadOnly = true, false
	return actor, nil
}

func equal(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }
