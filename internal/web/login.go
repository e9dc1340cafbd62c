package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

type loginPage struct {
	frame
	Next, Problem string
	Lost          string // the change that was not made because the session had ended
}

func (w *Web) showLogin(rw http.ResponseWriter, r *http.Request) {
	_, here, err := w.sessionUser(r)
	if err != nil {
		w.fail(rw, r, err)
		return
	}
	next := r.URL.Query().Get("next")
	if here {
		if !localPath(next) {
			next = "/incidents"
		}
		http.Redirect(rw, r, next, http.StatusFound)
		return
	}
	w.views.page(rw, r, w.d.Log, http.StatusOK, "login", loginPage{frame: frame{Title: "Log in"}, Next: next, Lost: lostChange(next),
		Problem: w.d.Sessions.PopString(r.Context(), "flash")})
}

// maxLogin bounds the body of a log-in.
const maxLogin = 16 << 10

// login answers as Iris does (docs/reference/people.md 1): a redirect, back to the form with a message when it fails.
func (w *Web) login(rw http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(rw, r.Body, maxLogin)
	next := r.URL.Query().Get("next")
	if next == "" {
		next = "/incidents"
	}
	if !localPath(next) {
		w.problem(rw, r, http.StatusBadRequest, "Invalid next parameter", "The page to go to after the log-in must be on this server.")
		return
	}
	name := strings.TrimSpace(r.PostFormValue("username"))
	user, err := w.d.People.Authenticate(r.Context(), name, r.PostFormValue("password"))
	if err == nil {
		_, err = wire.BeginSession(r.Context(), w.d.Sessions, w.d.UserKey, user)
	}
	var flash string
	switch {
	case fault.Is(err, fault.Unauthenticated):
		flash = "The user name or the password is wrong."
	case fault.Is(err, fault.Throttled):
		w.notNow(rw, r, next, http.StatusTooManyRequests, err, "Too many attempts to log in from your address.")
		return
	case errors.Is(err, auth.ErrBusy):
		w.notNow(rw, r, next, http.StatusServiceUnavailable, err, "Too many people log in at the same time.")
		return
	case errors.Is(err, auth.ErrStranger):
		flash = "Your password is right, but nobody has added you to Iris yet. Ask an administrator."
	case errors.Is(err, auth.ErrMixedUp):
		flash = "Your password is right, but your user name belongs to another person in Iris. Ask an administrator."
	case errors.Is(err, auth.ErrAway):
		w.directoryAway(rw, r, next, err)
		return
	case err != nil:
		w.fail(rw, r, err)
		return
	default:
		http.Redirect(rw, r, next, http.StatusFound)
		return
	}
	w.d.Sessions.Put(r.Context(), "flash", flash)
	again := "/login"
	if r.URL.Query().Has("next") {
		again += "?next=" + url.QueryEscape(next)
	}
	http.Redirect(rw, r, again, http.StatusFound)
}

// notNow shows the form again, with the time of the next attempt.
func (w *Web) notNow(rw http.ResponseWriter, r *http.Request, next string, status int, err error, why string) {
	wait := 5
	if f := new(fault.Error); errors.As(err, &f) && f.RetryAfter > 0 {
		wait = int((f.RetryAfter + time.Second - 1) / time.Second)
	}
	rw.Header().Set("Retry-After", strconv.Itoa(wait))
	w.views.page(rw, r, w.d.Log, status, "login", loginPage{frame: frame{Title: "Log in"}, Next: next,
		Problem: fmt.Sprintf("%s Wait %d seconds and try again.", why, wait)})
}

// directoryAway shows the form again: people with a password of Iris can still log in.
func (w *Web) directoryAway(rw http.ResponseWriter, r *http.Request, next string, err error) {
	w.d.Log.Warn("no directory answers, so a password cannot be checked", zap.Error(err))
	rw.Header().Set("Retry-After", "5")
	w.views.page(rw, r, w.d.Log, http.StatusServiceUnavailable, "login", loginPage{frame: frame{Title: "Log in"}, Next: next,
		Problem: "The directory that checks your password cannot be reached. Try again in a moment. Passwords that Iris itself keeps still work."})
}

// loggedIn is a user object as Oncall shows it, with the token that its clients send with changes.
type loggedIn struct {
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

// loginOncall answers as Oncall does: JSON. It opens the same session as login.
func (w *Web) loginOncall(rw http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(rw, r.Body, maxLogin)
	page, err := w.enter(r)
	if err != nil {
		w.errors.Write(rw, r, err)
		return
	}
	wire.JSON(rw, http.StatusOK, page)
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (w *Web) enter(r *http.Request) (page loggedIn, err error) {
	name, password := strings.TrimSpace(r.PostFormValue("username")), r.PostFormValue("password")
	if name == "" || password == "" {
		return page, fault.Titled("Invalid login attempt", "Missing user/password")
	}
	user, err := w.d.People.Authenticate(r.Context(), name, password)
	if fault.Is(err, fault.Unauthenticated) {
		return page, &fault.Error{Kind: fault.Unauthenticated, Message: "Authentication failure", Detail: "bad login credentials"}
	}
	if err != nil {
		return page, err
	}
	if _, here, err := w.sessionUser(r); err != nil {
		return page, err
	} else if here {
		return page, fault.New(fault.Invalid, "User already logged in")
	}
	contacts, err := w.d.People.Contacts(r.Context(), user.ID)
	if err != nil {
		return page, err
	}
	photo, zone, err := w.d.People.Shown(r.Context(), user.ID)
	if err != nil {
		return page, err
	}
	token, err := wire.BeginSession(r.Context(), w.d.Sessions, w.d.UserKey, user)
	page = loggedIn{ID: user.OncallID, Name: user.Name, FullName: orNull(user.FullName), TimeZone: orNull(zone), PhotoURL: orNull(photo), Active: 1, Contacts: contacts, CSRFToken: token}
	if user.Admin {
		page.God = 1
	}
	return page, err
}

// showLogout asks before it ends the session: a page of another site can make a browser send a GET.
func (w *Web) showLogout(rw http.ResponseWriter, r *http.Request) {
	_, here, err := w.sessionUser(r)
	if err != nil {
		w.fail(rw, r, err)
		return
	}
	if !here {
		http.Redirect(rw, r, "/login", http.StatusFound)
		return
	}
	w.views.page(rw, r, w.d.Log, http.StatusOK, "logout", w.frame(r, "Log out", ""))
}

// logout ends the session; requests of other sites' pages do not get here (CrossOriginProtection).
func (w *Web) logout(rw http.ResponseWriter, r *http.Request) {
	if err := w.d.Sessions.Destroy(r.Context()); err != nil {
		w.fail(rw, r, err)
		return
	}
	http.Redirect(rw, r, "/login", http.StatusFound)
}

// logoutOncall answers as Oncall does: nothing.
func (w *Web) logoutOncall(rw http.ResponseWriter, r *http.Request) {
	if err := w.d.Sessions.Destroy(r.Context()); err != nil {
		w.errors.Write(rw, r, err)
		return
	}
	rw.Header().Set("Content-Type", "application/json")
	rw.WriteHeader(http.StatusOK)
}

func (w *Web) sessionUser(r *http.Request) (users.User, bool, error) {
	return wire.SessionUser(r.Context(), w.d.Sessions, w.d.UserKey, w.d.People)
}

// localPath reports whether p stays on this server: "//host" and "/\host" leave it.
func localPath(p string) bool {
	u, err := url.Parse(p)
	return err == nil && strings.HasPrefix(p, "/") && u.Host == "" && u.Scheme == "" && !strings.HasPrefix(p, "//") && !strings.Contains(p, `\`)
}

type userKey struct{}

// requireUser redirects to the log-in page without a session. Sessions of people who were removed, were switched off or got
// another password do not count.
func (w *Web) requireUser(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		user, here, err := w.sessionUser(r)
		if err != nil {
			w.fail(rw, r, err)
			return
		}
		if !here {
			if w.d.Sessions.Exists(r.Context(), w.d.UserKey) {
				_ = w.d.Sessions.Destroy(r.Context())
			}
			if !w.refusedChange(rw, r) {
				w.toLogin(rw, r)
			}
			return
		}
		next.ServeHTTP(rw, r.WithContext(context.WithValue(r.Context(), userKey{}, user)))
	})
}

// requireWrite refuses people who may only read.
func (w *Web) requireWrite(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if err := (auth.Actor{}).As(actor(r)).MayWrite(); err != nil {
			w.fail(rw, r, err)
			return
		}
		next.ServeHTTP(rw, r)
	})
}

func (w *Web) toLogin(rw http.ResponseWriter, r *http.Request) {
	to := "/login/"
	if r.URL.Path != "/" && r.Method == http.MethodGet {
		to += "?next=" + url.QueryEscape(r.URL.RequestURI())
	}
	if r.Header.Get("HX-Request") != "" {
		rw.Header().Set("HX-Redirect", to)
		rw.WriteHeader(http.StatusNoContent)
		return
	}
	http.Redirect(rw, r, to, http.StatusFound)
}

func actor(r *http.Request) users.User {
	u, _ := r.Context().Value(userKey{}).(users.User)
	return u
}

// fail shows a page for an error, with what the reader can do. Unexpected errors are logged in full.
func (w *Web) fail(rw http.ResponseWriter, r *http.Request, err error) {
	switch fault.KindOf(err) {
	case fault.NotFound:
		w.problem(rw, r, http.StatusNotFound, "Not found", "This page or object does not exist.")
	case fault.Invalid:
		w.problem(rw, r, http.StatusBadRequest, "That did not work", fault.Public(err))
	case fault.Forbidden:
		w.problem(rw, r, http.StatusForbidden, "Not allowed", fault.Public(err))
	case fault.Unavailable:
		w.d.Log.Warn("page needs the database", zap.String("path", wire.LogPath(r)), zap.Error(err))
		rw.Header().Set("Retry-After", "5")
		w.problem(rw, r, http.StatusServiceUnavailable, "The database cannot be reached", databaseAway)
	default:
		w.d.Log.Error("page failed", zap.String("path", wire.LogPath(r)), zap.Error(err))
		w.problem(rw, r, http.StatusInternalServerError, "Something went wrong", "This is a defect of Iris. The log of the server has the details.")
	}
}

func (w *Web) problem(rw http.ResponseWriter, r *http.Request, status int, title, text string) {
	w.problemIn(rw, r, w.frame(r, title, ""), status, text)
}

func (w *Web) problemIn(rw http.ResponseWriter, r *http.Request, f frame, status int, text string) {
	w.views.page(rw, r, w.d.Log, status, "error", struct {
		frame
		Problem string
	}{f, text})
}

const databaseAway = "Nothing is lost: try again in a moment. Paging continues as soon as the database is back."

// sessionFailed answers when a session cannot be read or kept: usually the database is away.
func (w *Web) sessionFailed(rw http.ResponseWriter, r *http.Request, err error) {
	if r.Method == http.MethodPost && (r.URL.Path == "/login" || r.URL.Path == "/logout") {
		w.errors.Write(rw, r, err)
		return
	}
	w.d.Log.Warn("session cannot be read or kept", zap.String("path", wire.LogPath(r)), zap.Error(err))
	rw.Header().Set("Retry-After", "5")
	w.problemIn(rw, r, frame{Title: "The database cannot be reached"}, http.StatusServiceUnavailable, databaseAway)
}
