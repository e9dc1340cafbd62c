package web

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/wire"
)

// redirectIrisPages redirects from the addresses of Iris's own pages, which are in bookmarks and old messages. The target is the
// page for the same purpose; where there is none, the target is the route of the API.
func redirectIrisPages(r chi.Router) {
	for from, to := range map[string]string{
		"/user":                "/me",
		"/messages":            "/incidents",
		"/messages/{name}":     "/v0/messages/{name}",
		"/templates":           "/v0/templates?active=1",
		"/templates/{name}":    "/v0/templates/{name}",
		"/applications":        "/v0/applications",
		"/applications/{name}": "/v0/applications/{name}",
		"/stats":               "/v0/stats",
		"/stats/{name}":        "/v0/applications/{name}/stats",
		"/singlestats/{name}":  "/v0/singlestats/{name}",
	} {
		page.Get(r, from, func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, strings.ReplaceAll(to, "{name}", url.PathEscape(wire.Param(r, "name"))), http.StatusFound)
		})
	}
}
