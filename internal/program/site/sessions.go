package site

import (
	"context"
	"net/http"
	"net/url"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/wire"
)

func (w *Handler) sessionUser(r *http.Request) (u users.User, loggedIn bool, err error) {
	return wire.SessionUser(r.Context(), w.pages.Sessions, w.userKey, w.people)
}

// requireReader redirects to the log-in page without a session. The sessions of a person end when the person is
// removed, is switched off or gets another password.
func (w *Handler) requireReader(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		user, loggedIn, err := w.sessionUser(r)
		if err != nil {
			w.pages.Fail(rw, r, err)
			return
		}
		if !loggedIn {
			if w.pages.Sessions.Exists(r.Context(), w.userKey) {
				_ = w.pages.Sessions.Destroy(r.Context())
			}
			if !w.incidents.RefuseChange(rw, r) && !w.pages.KeepForm(rw, r) {
				toLogin(rw, r)
			}
			return
		}
		ctx, app := r.Context(), auth.Application{Name: auth.SessionApplication}
		if r.Method != http.MethodGet && r.Method != http.MethodHead { // what people open and send belongs to it
			if app, err = wire.SessionApplication(ctx, w.applications); err != nil {
				w.pages.Fail(rw, r, err)
				return
			}
		}
		actor := auth.Through(app).As(user)
		actor.Session, actor.OldLogin = true, !wire.LoggedInWithin(ctx, w.pages.Sessions, w.recent)
		ctx = wire.WithActor(ctx, actor, app)
		if ctx, err = w.withReader(ctx, user); err != nil {
			w.pages.Fail(rw, r, err)
			return
		}
		next.ServeHTTP(rw, r.WithContext(ctx))
	})
}

// withReader returns a context that names the logged-in person, and how times are shown to the person.
func (w *Handler) withReader(ctx context.Context, user users.User) (context.Context, error) {
	shown, err := w.people.Shown(ctx, user.ID)
	user.TimeZone = shown.TimeZone
	return page.WithClock(page.WithReader(ctx, user), shown.Clock), err
}

// requireWriter refuses people who may only read.
func (w *Handler) requireWriter(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if err := (auth.Actor{}).As(page.Reader(r)).MayWrite(); err != nil {
			w.pages.Fail(rw, r, err)
			return
		}
		next.ServeHTTP(rw, r)
	})
}

func toLogin(rw http.ResponseWriter, r *http.Request) {
	to := "/login/"
	if r.URL.Path != "/" && r.Method == http.MethodGet {
		to += "?next=" + url.QueryEscape(r.URL.RequestURI())
	}
	if page.IsRefresh(r) {
		if r.Method == http.MethodPost { // the form stays as it was typed
			rw.Header().Set("Content-Type", "text/html; charset=utf-8")
			rw.WriteHeader(http.StatusUnauthorized)
			return
		}
		rw.Header().Set("HX-Redirect", to)
		rw.WriteHeader(http.StatusNoContent)
		return
	}
	http.Redirect(rw, r, to, http.StatusFound)
}

// sessionFailed answers when a session cannot be read or stored, usually because the database cannot be reached.
func (w *Handler) sessionFailed(rw http.ResponseWriter, r *http.Request, err error) {
	if r.Method == http.MethodPost && (r.URL.Path == "/login" || r.URL.Path == "/logout") {
		w.errors.Write(rw, r, err)
		return
	}
	w.log.Warn("session cannot be read or stored", zap.String("path", wire.LogPath(r)), zap.Error(err))
	w.pages.Unavailable(rw, r)
}

// sessionReady is where a log-in in another tab ends (page.Pages.KeepForm).
func (w *Handler) sessionReady(rw http.ResponseWriter, r *http.Request) {
	w.pages.Render(rw, r, http.StatusOK, "session-ready", w.pages.Frame(r, "You are logged in", ""))
}
