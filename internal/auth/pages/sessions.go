// This file serves the page of a person's web sessions, where the person ends them. Administrators see and end those of
// anybody.

package pages

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
)

// SessionPages serves the page. It is safe for concurrent use.
type SessionPages struct {
	Sessions *auth.Sessions
	Pages    *page.Pages
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

func (h SessionPages) list(rw http.ResponseWriter, r *http.Request) {
	of := sessionsOf(r)
	found, err := h.Sessions.List.Do(r.Context(), page.Actor(r),
		auth.SessionFilter{SessionsOf: of, Paging: operation.Paging{Limit: mostShown}})
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v := sessionListView{Frame: h.Pages.Frame(r, "Sessions", "account"), Rows: found.Items}
	if !users.SameName(of.User, page.Reader(r).Name) {
		v.Of = of.User
	}
	h.Pages.Render(rw, r, http.StatusOK, "sessions", v)
}

func sessionsOf(r *http.Request) auth.SessionsOf { return auth.SessionsOf{User: r.FormValue("user")} }

func (h SessionPages) end(rw http.ResponseWriter, r *http.Request) {
	id, _ := strconv.ParseInt(chi.URLParam(r, "session"), 10, 64) // no session has the number 0
	_, err := h.Sessions.End.Do(r.Context(), page.Actor(r), auth.OneSession{ID: id})
	h.done(rw, r, err)
}

func (h SessionPages) endOthers(rw http.ResponseWriter, r *http.Request) {
	_, err := h.Sessions.EndOthers.Do(r.Context(), page.Actor(r), sessionsOf(r))
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
