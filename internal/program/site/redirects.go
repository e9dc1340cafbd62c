package site

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// redirectIrisPages redirects from the addresses of Iris's own pages, which are in bookmarks and old messages, to the
// page for the same purpose. Most pages have the address that they had there. /cluster was a page of its own.
func redirectIrisPages(r chi.Router) {
	for from, to := range map[string]string{
		"/user":               "/me",
		"/cluster":            "/system",
		"/stats":              "/statistics",
		"/stats/{name}":       "/applications/{name}",
		"/singlestats/{name}": "/statistics",
		"/validate/{name}":    "/templates",
	} {
		page.Get(r, from, func(rw http.ResponseWriter, r *http.Request) {
			http.Redirect(rw, r, strings.ReplaceAll(to, "{name}", url.PathEscape(wire.Param(r, "name"))),
				http.StatusFound)
		})
	}
}
