package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/users"
)

type loginPage struct {
	frame
	Next, Username, Problem string
}

func (w *Web) showLogin(rw http.ResponseWriter, r *http.Request) {
	if w.d.Sessions.GetString(r.Context(), w.d.UserKey) != "" {
		http.Redirect(rw, r, "/incidents", http.StatusFound)
		return
	}
	w.views.page(rw, r, w.d.Log, http.StatusOK, "login", loginPage{frame: frame{Title: "Log in"}, Next: r.URL.Query().Get("next"),
		Problem: w.d.Sessions.PopString(r.Context(), "flash")})
}

// login answers as Iris does (contract: log-in session): a redirect, back to the form with a message when it fails.
func (w *Web) login(rw http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(rw, r.Body, 16<<10)
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
	switch {
	case fault.Is(err, fault.Unauthenticated):
		w.d.Sessions.Put(r.Context(), "flash", "That user name and password do not fit together.")
		http.Redirect(rw, r, "/login?next="+url.QueryEscape(next), http.StatusFound)
	case fault.Is(err, fault.Throttled):
		w.d.Sessions.Put(r.Context(), "flash", "Too many attempts. Wait a minute and try again.")
		http.Redirect(rw, r, "/login?next="+url.QueryEscape(next), http.StatusFound)
	case err != nil:
		w.fail(rw, r, err)
	default:
		if err := w.d.Sessions.RenewToken(r.Context()); err != nil {
			w.fail(rw, r, err)
			return
		}
		w.d.Sessions.Put(r.Context(), w.d.UserKey, user.Name)
		http.Redirect(rw, r, next, http.StatusFound)
	}
}

func (w *Web) logout(rw http.ResponseWriter, r *http.Request) {
	if err := w.d.Sessions.Destroy(r.Context()); err != nil {
		w.fail(rw, r, err)
		return
	}
	http.Redirect(rw, r, "/login", http.StatusFound)
}

// localPath reports whether p stays on this server: "//host" and "/\host" leave it.
func localPath(p string) bool {
	u, err := url.Parse(p)
	return err == nil && strings.HasPrefix(p, "/") && u.Host == "" && u.Scheme == "" && !strings.HasPrefix(p, "//") && !strings.Contains(p, `\`)
}

type userKey struct{}

// requireUser sends whoever is not logged in to the log-in page, and takes users who were removed or switched off out of
// their sessions at once.
func (w *Web) requireUser(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		name := w.d.Sessions.GetString(r.Context(), w.d.UserKey)
		if name == "" {
			w.toLogin(rw, r)
			return
		}
		user, err := w.d.People.ByName(r.Context(), name)
		if fault.Is(err, fault.NotFound) || (err == nil && !user.Active) {
			_ = w.d.Sessions.Destroy(r.Context())
			w.toLogin(rw, r)
			return
		}
		if err != nil {
			w.fail(rw, r, err)
			return
		}
		next.ServeHTTP(rw, r.WithContext(context.WithValue(r.Context(), userKey{}, user)))
	})
}

func (w *Web) toLogin(rw http.ResponseWriter, r *http.Request) {
	if r.Header.Get("HX-Request") != "" {
		rw.Header().Set("HX-Redirect", "/login")
		rw.WriteHeader(http.StatusNoContent)
		return
	}
	to := "/login/"
	if r.URL.Path != "/" && r.Method == http.MethodGet {
		to += "?next=" + url.QueryEscape(r.URL.RequestURI())
	}
	http.Redirect(rw, r, to, http.StatusFound)
}

func actor(r *http.Request) users.User {
	u, _ := r.Context().Value(userKey{}).(users.User)
	return u
}

// fail shows a page for an error: what the reader can do about it. Unexpected errors go to the log in full.
func (w *Web) fail(rw http.ResponseWriter, r *http.Request, err error) {
	switch fault.KindOf(err) {
	case fault.NotFound:
		w.problem(rw, r, http.StatusNotFound, "Not found", "There is no such thing here.")
	case fault.Invalid:
		w.problem(rw, r, http.StatusBadRequest, "That did not work", err.Error())
	case fault.Forbidden:
		w.problem(rw, r, http.StatusForbidden, "Not allowed", err.Error())
	case fault.Unavailable:
		w.d.Log.Warn("page needs the database", zap.String("path", r.URL.Path), zap.Error(err))
		w.problem(rw, r, http.StatusServiceUnavailable, "The database cannot be reached", "Nothing is lost: try again in a moment. Processors page on as soon as it is back.")
	default:
		w.d.Log.Error("page failed", zap.String("path", r.URL.Path), zap.Error(err))
		w.problem(rw, r, http.StatusInternalServerError, "Something went wrong", "This is a defect of Iris; the server's log says more.")
	}
}

func (w *Web) problem(rw http.ResponseWriter, r *http.Request, status int, title, text string) {
	w.views.page(rw, r, w.d.Log, status, "error", struct {
		frame
		Problem string
	}{w.frame(r, title, ""), text})
}
