package site

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/web/wire"
)

// Refuse makes routes answer browsers with a page if no route matches. Programs get the answer that routes has. Call it
// after wire.Errors.Refuse.
func (w *Handler) Refuse(routes *chi.Mux) {
	unknown := w.problem("Not found", "There is no page at this address.", http.StatusNotFound)
	routes.NotFound(choose(unknown, routes.NotFoundHandler()))
	other := w.problem("Not possible here", "This address does not take such a request.", http.StatusMethodNotAllowed)
	routes.MethodNotAllowed(choose(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		wire.Allow(rw, routes, r)
		other.ServeHTTP(rw, r)
	}), routes.MethodNotAllowedHandler()))
}

// choose answers browsers with page and programs with answer.
func choose(page http.Handler, answer http.HandlerFunc) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		if wire.FromBrowser(r) {
			page.ServeHTTP(rw, r)
			return
		}
		answer(rw, r)
	}
}

// problem returns the handler of an error page. It has the navigation if the reader is logged in.
func (w *Handler) problem(title, text string, status int) http.Handler {
	return headers(w.pages.Sessions.LoadAndSave(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		user, loggedIn, err := w.sessionUser(r)
		if err == nil && loggedIn {
			ctx, err = w.withReader(ctx, user)
		}
		if err != nil {
			w.pages.Fail(rw, r, err)
			return
		}
		r = r.WithContext(ctx)
		w.pages.Problem(rw, r, w.pages.Frame(r, title, ""), status, text)
	})))
}
