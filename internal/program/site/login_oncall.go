package site

import (
	"net/http"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// oncallUser is the answer to Oncall's log-in: the user, and the CSRF token that clients send with changes.
type oncallUser struct {
	ID        int64                 `json:"id"`
	Name      string                `json:"name"`
	FullName  *string               `json:"full_name"`
	TimeZone  *string               `json:"time_zone"`
	PhotoURL  *string               `json:"photo_url"`
	Active    int                   `json:"active"`
	God       int                   `json:"god"`
	Contacts  map[users.Mode]string `json:"contacts"`
	CSRFToken string                `json:"csrf_token"`
}

// loginOncall answers as Oncall does, with JSON. It begins the same session as login.
func (w *Handler) loginOncall(rw http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(rw, r.Body, maxLogin)
	user, err := w.beginOncall(r)
	if err != nil {
		w.errors.Write(rw, r, err)
		return
	}
	wire.JSON(rw, http.StatusOK, user)
}

func (w *Handler) beginOncall(r *http.Request) (out oncallUser, err error) {
	name, password := strings.TrimSpace(r.PostFormValue("username")), r.PostFormValue("password")
	if name == "" || password == "" {
		return out, fault.Titled("Invalid login attempt", "Missing user/password")
	}
	user, err := w.people.Authenticate(r.Context(), name, password)
	if fault.Is(err, fault.Unauthenticated) {
		return out, &fault.Error{Kind: fault.Unauthenticated, Message: "Authentication failure",
			Detail: "bad login credentials"}
	}
	if err != nil {
		return out, err
	}
	if err := w.account.Check(r.Context(), user, strings.TrimSpace(r.PostFormValue("second_factor"))); err != nil {
		return out, err
	}
	if _, loggedIn, err := w.sessionUser(r); err != nil {
		return out, err
	} else if loggedIn {
		return out, fault.New(fault.Invalid, "User already logged in")
	}
	contacts, err := w.people.Contacts(r.Context(), user.ID)
	if err != nil {
		return out, err
	}
	shown, err := w.people.Shown(r.Context(), user.ID)
	if err != nil {
		return out, err
	}
	token, err := wire.BeginSession(r.Context(), w.pages.Sessions, w.userKey, user, "password", time.Now())
	out = oncallUser{ID: user.OncallID, Name: user.Name, FullName: operation.OrNull(user.FullName),
		TimeZone: operation.OrNull(shown.TimeZone), PhotoURL: operation.OrNull(shown.PhotoURL), Active: 1,
		Contacts: contacts, CSRFToken: token}
	if user.Admin {
		out.God = 1
	}
	return out, err
}

// logoutOncall answers as Oncall does, with an empty body.
func (w *Handler) logoutOncall(rw http.ResponseWriter, r *http.Request) {
	if err := w.pages.Sessions.Destroy(r.Context()); err != nil {
		w.errors.Write(rw, r, err)
		return
	}
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(http.StatusOK)
}
