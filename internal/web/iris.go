package web

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/wire"
)

// irisPages are the addresses of Iris's own pages, which are in bookmarks and old messages, and their targets: a page where
// there is one, else the route of the API for the name at the end of the address.
var irisPages = []struct{ path, to string }{
	{"/user", "/me"},
	{"/messages", "/incidents"},
	{"/messages/{name}", "/v0/messages/{name}"},
	{"/templates", "/v0/templates?active=1"},
	{"/templates/{name}", "/v0/templates/{name}"},
	{"/applications", "/v0/applications"},
	{"/applications/{name}", "/v0/applications/{name}"},
	{"/stats", "/v0/stats"},
	{"/stats/{name}", "/v0/applications/{name}/stats"},
	{"/singlestats/{name}", "/v0/singlestats/{name}"},
}

// irisRoutes mounts the addresses of Iris's pages.
func (w *Web) irisRoutes(r chi.Router, get func(chi.Router, string, http.HandlerFunc)) {
	for _, page := range irisPages {
		for _, end := range []string{"", "/"} {
			get(r, page.path+end, func(rw http.ResponseWriter, r *http.Request) {
				to := page.to
				if name := wire.Param(r, "name"); name != "" {
					to = strings.ReplaceAll(to, "{name}", url.PathEscape(name))
				}
				http.Redirect(rw, r, to, http.StatusFound)
			})
		}
	}
}

// home redirects to the incidents, or to the log-in and from there to the incidents.
func (w *Web) home(rw http.ResponseWriter, r *http.Request) {
	_, here, err := w.sessionUser(r)
	switch {
	case err != nil:
		w.fail(rw, r, err)
	case here:
		http.Redirect(rw, r, "/incidents", http.StatusFound)
	default:
		w.toLogin(rw, r)
	}
}
