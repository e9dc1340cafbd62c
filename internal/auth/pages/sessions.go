// This file serves the page of a person's web sessions, where the person ends them. Administrators see and end those of
// anybody.

package pages

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
)

// Sessions stores sessions. The methods are those of the routes of /v1/sessions.
type Sessions interface {
	OfUser(ctx context.Context, user users.ID, current string) ([]auth.Session, error)
	End(ctx context.Context, id int64, user users.ID, actor string) error
	EndOthers(ctx context.Context, u users.User, current, actor string) error
}

// SessionOwners finds people by name.
type SessionOwners interface {
	ByName(ctx context.Context, name string) (users.User, error)
}

// SessionDeps are the parts that the page works on.
type SessionDeps struct {
	Sessions Sessions
	People   SessionOwners
}

// SessionPages serves the page. It is safe for concurrent use.
type SessionPages struct {
	SessionDeps
	Pages *page.Pages
}

// Routes mounts the page and its forms. People who may only read end their sessions too.
func (h SessionPages) Routes(r chi.Router) {
	page.Get(r, "/sessions", h.list)
	r.Post("/sessions/end-others", h.endOthers)
	r.Post("/sessions/{session}/end", h.end)
}

type sessionListView struct {
	page.Frame
	Of   string // the person, if it is another one; "" = the reader
	Rows []auth.Session
}

// person returns whose sessions a request is about: the reader's, or those of the person that an administrator names.
func (h SessionPages) person(r *http.Request) (u users.User, own bool, err error) {
	reader := page.Reader(r)
	name := r.FormValue("user")
	if name == "" || users.SameName(name, reader.Name) {
		return reader, true, nil
	}
	if err := (auth.Actor{}).As(reader).MayAdminister(); err != nil {
		return u, false, err
	}
	u, err = h.People.ByName(r.Context(), name)
	return u, false, err
}

func (h SessionPages) list(rw http.ResponseWriter, r *http.Request) {
	u, own, err := h.person(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v := sessionListView{Frame: h.Pages.Frame(r, "Sessions", "account")}
	if !own {
		v.Of = u.Name
	}
	if v.Rows, err = h.Sessions.OfUser(r.Context(), u.ID, h.Pages.Sessions.Token(r.Context())); err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Pages.Render(rw, r, http.StatusOK, "sessions", v)
}

// end ends a session of the reader. Administrators end any.
func (h SessionPages) end(rw http.ResponseWriter, r *http.Request) {
	reader := page.Reader(r)
	owner := reader.ID
	if (auth.Actor{}).As(reader).MayAdminister() == nil {
		owner = 0
	}
	id, err := strconv.ParseInt(chi.URLParam(r, "session"), 10, 64)
	if err != nil {
		err = fault.New(fault.NotFound, "there is no such session")
	} else {
		err = h.Sessions.End(r.Context(), id, owner, reader.Name)
	}
	h.done(rw, r, err)
}

// endOthers ends all sessions of a person except the one of this browser.
func (h SessionPages) endOthers(rw http.ResponseWriter, r *http.Request) {
	u, _, err := h.person(r)
	if err == nil {
		err = h.Sessions.EndOthers(r.Context(), u, h.Pages.Sessions.Token(r.Context()), page.Reader(r).Name)
	}
	h.done(rw, r, err)
}

func (h SessionPages) done(rw http.ResponseWriter, r *http.Request, err error) {
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	to := "/sessions"
	if name := r.FormValue("user"); name != "" {
		to += "?user=" + url.QueryEscape(name)
	}
	http.Redirect(rw, r, to, http.StatusSeeOther)
}
