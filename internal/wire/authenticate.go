package wire

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/users"
)

// UsernameHeader names the person that an application speaks for.
const UsernameHeader = "X-IRIS-USERNAME"

// People finds users by name, ignoring case; a NotFound fault when there is none.
type People interface {
	ByName(ctx context.Context, name string) (users.User, error)
}

// Authenticator finds out who a request comes from: a person with a session, or an application that signed it.
// It is safe for concurrent use.
type Authenticator struct {
	Applications auth.Applications
	People       People
	Sessions     *scs.SessionManager // nil = no sessions here
	UserKey      string              // session key that holds the name of the logged-in user
	Errors       *Errors
}

// Middleware finds out who a request comes from and keeps it with the request (Actor). A request without credentials
// goes on as nobody's; wrong credentials are answered at once. Requests with a session cookie that change something are
// refused when another site's page sent them.
func (a *Authenticator) Middleware(next http.Handler) http.Handler {
	cross := http.NewCrossOriginProtection()
	identify := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		actor, r, err := a.identify(w, r)
		if err == nil && actor.Session {
			if cross.Check(r) != nil {
				err = fault.New(fault.Forbidden, "This request was sent by a page of another site")
			}
		}
		if err != nil {
			a.Errors.Write(w, r, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(WithActor(r.Context(), actor)))
	})
	if a.Sessions == nil {
		return identify
	}
	withSession := a.Sessions.LoadAndSave(identify)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := r.Cookie(a.Sessions.Cookie.Name); errors.Is(err, http.ErrNoCookie) {
			identify.ServeHTTP(w, r)
			return
		}
		withSession.ServeHTTP(w, r)
	})
}

func (a *Authenticator) identify(w http.ResponseWriter, r *http.Request) (auth.Actor, *http.Request, error) {
	actor, ok, err := a.bySession(r)
	if ok || err != nil {
		return actor, r, err
	}
	header := r.Header.Get("Authorization")
	if header == "" {
		return auth.Actor{}, r, nil
	}
	body, r, err := Body(w, r, MaxBody)
	if err != nil {
		return auth.Actor{}, r, err
	}
	path, _, _ := strings.Cut(r.RequestURI, "?")
	signed := auth.SignedRequest{Authorization: header, Username: r.Header.Get(UsernameHeader), Method: r.Method,
		Path: r.URL.Path, WirePath: path, RawQuery: r.URL.RawQuery, Body: body}
	app, err := auth.Authenticate(r.Context(), a.Applications, signed, time.Now())
	if err != nil {
		return auth.Actor{}, r, err
	}
	actor = through(app)
	if signed.Username != "" {
		actor.Username = signed.Username
		user, err := a.People.ByName(r.Context(), signed.Username)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return auth.Actor{}, r, err
		}
		if err == nil && user.Active {
			actor.UserID, actor.Admin, actor.ReadOnly = user.ID, user.Admin, user.ReadOnly
		}
	}
	return actor, r, nil
}

// bySession returns the actor of a logged-in person. A session of somebody who was removed or switched off is none.
func (a *Authenticator) bySession(r *http.Request) (auth.Actor, bool, error) {
	if a.Sessions == nil {
		return auth.Actor{}, false, nil
	}
	if _, err := r.Cookie(a.Sessions.Cookie.Name); err != nil {
		return auth.Actor{}, false, nil //nolint:nilerr // no cookie, no session
	}
	name := a.Sessions.GetString(r.Context(), a.UserKey)
	if name == "" {
		return auth.Actor{}, false, nil
	}
	user, err := a.People.ByName(r.Context(), name)
	if fault.Is(err, fault.NotFound) || (err == nil && !user.Active) {
		return auth.Actor{}, false, nil
	}
	if err != nil {
		return auth.Actor{}, false, err
	}
	app, err := a.Applications.ByName(r.Context(), auth.SessionApplication)
	if err != nil {
		return auth.Actor{}, false, err
	}
	actor := through(app)
	actor.Session, actor.UserID, actor.Username = true, user.ID, user.Name
	actor.Admin, actor.ReadOnly = user.Admin, user.ReadOnly
	return actor, true, nil
}

func through(app auth.Application) auth.Actor {
	return auth.Actor{ApplicationID: app.ID, Application: app.Name, ActsForUsers: app.AllowAuthenticatingUsers,
		OpensForOthers: app.AllowOtherAppIncidents, AllowOncall: app.AllowOncall}
}
