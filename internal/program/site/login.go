package site

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/auth/signon"
	"github.com/iris-oncall/iris/internal/incidents/pages"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/page"
)

type loginView struct {
	page.Frame
	Next, Problem string
	Lost          string // text about a change that was not made because the session had ended
	Providers     []signon.Choice
}

func (w *Handler) showLogin(rw http.ResponseWriter, r *http.Request) {
	_, loggedIn, err := w.sessionUser(r)
	if err == nil && !loggedIn {
		loggedIn, err = w.signOn.EnterByProxy(r)
	}
	if err != nil && !fault.Is(err, fault.Forbidden) {
		w.pages.Fail(rw, r, err)
		return
	}
	next := r.URL.Query().Get("next")
	if loggedIn {
		if !signon.LocalPath(next) {
			next = "/incidents"
		}
		http.Redirect(rw, r, next, http.StatusFound)
		return
	}
	problem, ok := signon.ProxyProblem(err)
	if !ok {
		problem = w.pages.Sessions.PopString(r.Context(), "flash")
	}
	w.renderLogin(rw, r, http.StatusOK, loginView{Next: cmp.Or(next, "/"), Lost: pages.LostChange(next),
		Problem: problem})
}

func (w *Handler) renderLogin(rw http.ResponseWriter, r *http.Request, status int, v loginView) {
	v.Title, v.Providers = "Log in", w.signOn.Choices
	w.pages.Render(rw, r, status, "login", v)
}

// maxLogin is the largest body of a log-in, in bytes.
const maxLogin = 16 << 10

// login answers as Iris does (docs/reference/people.md 1): with a redirect to the next page, or back to the form with a
// message. Without a next page it redirects to the list of incidents, as Iris does. The form of the log-in page has the
// home page as the next page.
func (w *Handler) login(rw http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(rw, r.Body, maxLogin)
	next := r.URL.Query().Get("next")
	if next == "" {
		next = "/incidents"
	}
	if !signon.LocalPath(next) {
		w.pages.Problem(rw, r, w.pages.Frame(r, "Invalid next parameter", ""), http.StatusBadRequest,
			"The page after the log-in must be on this server.")
		return
	}
	user, err := w.people.Authenticate(r.Context(), strings.TrimSpace(r.PostFormValue("username")),
		r.PostFormValue("password"))
	to := ""
	if err == nil {
		to, err = w.account.Enter(r, user, next)
	}
	var problem string
	switch {
	case err == nil:
		http.Redirect(rw, r, to, http.StatusFound)
		return
	case fault.Is(err, fault.Unauthenticated):
		problem = "The user name or the password is wrong."
	case errors.Is(err, auth.ErrUnknownPerson):
		problem = "Your password is right, but nobody has added you to Iris yet. Ask an administrator."
	case errors.Is(err, auth.ErrNameConflict):
		problem = "Your password is right, but your user name belongs to another person in Iris. Ask an administrator."
	case fault.Is(err, fault.Throttled):
		w.retryLogin(rw, r, next, http.StatusTooManyRequests, err, "Too many attempts to log in from your address.")
		return
	case errors.Is(err, auth.ErrBusy):
		w.retryLogin(rw, r, next, http.StatusServiceUnavailable, err, "Too many people log in at the same time.")
		return
	case errors.Is(err, auth.ErrDirectoryUnavailable):
		w.log.Warn("no directory server answers, so a password cannot be checked", zap.Error(err))
		w.retryLogin(rw, r, next, http.StatusServiceUnavailable, err,
			"The directory that checks your password cannot be reached. Passwords that Iris itself keeps still work.")
		return
	default:
		w.pages.Fail(rw, r, err)
		return
	}
	w.pages.Sessions.Put(r.Context(), "flash", problem)
	form := "/login"
	if r.URL.Query().Has("next") {
		form += "?next=" + url.QueryEscape(next)
	}
	http.Redirect(rw, r, form, http.StatusFound)
}

// defaultRetry is the time to the next attempt, in seconds, if the error does not name one.
const defaultRetry = 5

// retryLogin shows the form again, with the reason and the time of the next attempt.
func (w *Handler) retryLogin(rw http.ResponseWriter, r *http.Request, next string, status int, err error, why string) {
	wait := defaultRetry
	if f := new(fault.Error); errors.As(err, &f) && f.RetryAfter > 0 {
		wait = int((f.RetryAfter + time.Second - 1) / time.Second)
	}
	rw.Header().Set("Retry-After", strconv.Itoa(wait))
	w.renderLogin(rw, r, status, loginView{Next: next, Problem: fmt.Sprintf("%s Wait %d seconds and try again.", why,
		wait)})
}

// showLogout asks before the session ends, because a page of another site can make a browser send a GET.
func (w *Handler) showLogout(rw http.ResponseWriter, r *http.Request) {
	_, loggedIn, err := w.sessionUser(r)
	if err != nil {
		w.pages.Fail(rw, r, err)
		return
	}
	if !loggedIn {
		http.Redirect(rw, r, "/login", http.StatusFound)
		return
	}
	w.pages.Render(rw, r, http.StatusOK, "logout", w.pages.Frame(r, "Log out", ""))
}

type logoutView struct {
	page.Frame
	At, Label string // where the person logs out too
}

// logout ends the session. CrossOriginProtection has refused requests of other sites' pages. A person who logged in at
// a provider gets a page that goes on to the logout there: browsers forbid a form to redirect to another site.
func (w *Handler) logout(rw http.ResponseWriter, r *http.Request) {
	at, label, err := w.signOn.LogoutURL(r)
	if err == nil {
		err = w.pages.Sessions.Destroy(r.Context())
	}
	if err != nil {
		w.pages.Fail(rw, r, err)
		return
	}
	if at == "" {
		http.Redirect(rw, r, "/login", http.StatusFound)
		return
	}
	w.pages.Render(rw, r, http.StatusOK, "loggedout", logoutView{page.Frame{Title: "Logged out", Refresh: at}, at,
		label})
}
