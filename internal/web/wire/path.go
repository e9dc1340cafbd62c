package wire

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"
)

// TrimSlash makes the router ignore one trailing slash of the API's paths. It does not change the URL of the request,
// which may be signed. It must be on the root router, before routing.
func TrimSlash(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rctx := chi.RouteContext(r.Context())
		if rctx != nil && rctx.RoutePath == "" && (below(r, "/v0") || below(r, "/v1") || below(r, "/api") || below(r, "/healthcheck")) {
			path := r.URL.RawPath
			if path == "" {
				path = r.URL.Path
			}
			if trimmed, ok := strings.CutSuffix(path, "/"); ok {
				rctx.RoutePath = trimmed
			}
		}
		next.ServeHTTP(w, r)
	})
}

// programs are the roots of the paths that only programs use.
var programs = []string{"/v0", "/v1", "/v2", "/api", "/scim", "/pagerduty", "/opsgenie", "/generic", "/static",
	"/healthcheck"}

// FromBrowser reports whether a browser asks for a page. A path of an API is no page.
func FromBrowser(r *http.Request) bool {
	return acceptsPage(r) && !slices.ContainsFunc(programs, func(root string) bool { return below(r, root) })
}

func acceptsPage(r *http.Request) bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }

// Param returns a path parameter with its escapes decoded.
func Param(r *http.Request, name string) string {
	raw := chi.URLParam(r, name)
	if r.URL.RawPath == "" {
		return raw
	}
	if plain, err := url.PathUnescape(raw); err == nil {
		return plain
	}
	return raw
}

// methods are the possible methods of a path, in their order in the Allow header.
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
	http.MethodDelete}

// Refuse makes routes answer requests that match no route: an unknown path with 404, a known path with 405 and the
// allowed methods. It calls seen with each request of the second kind before it answers.
func (e *Errors) Refuse(routes *chi.Mux, seen ...func(r *http.Request)) {
	routes.NotFound(e.NotFound)
	routes.MethodNotAllowed(func(w http.ResponseWriter, r *http.Request) {
		Allow(w, routes, r)
		for _, see := range seen {
			see(r)
		}
		e.MethodNotAllowed(w, r)
	})
}

// Allow sets the Allow header of a 405.
func Allow(w http.ResponseWriter, routes chi.Routes, r *http.Request) {
	if there := allowed(routes, r); there != "" {
		w.Header().Set("Allow", there)
	}
}

// allowed returns the methods that routes has for the path of the request.
func allowed(routes chi.Routes, r *http.Request) string {
	path := r.URL.RawPath
	if path == "" {
		path = r.URL.Path
	}
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	var out []string
	for _, m := range methods {
		asked := m
		if m == http.MethodHead {
			asked = http.MethodGet // routes that answer GET also answer HEAD
		}
		if routes.Match(chi.NewRouteContext(), asked, path) {
			out = append(out, m)
		}
	}
	return strings.Join(out, ", ")
}

// secretPaths are prefixes of paths whose next segment is a secret that gives access.
var secretPaths = []string{"/ack/", "/api/v0/ical/", "/api/v0/ical_key/key/", "/v1/calendar-feeds/", "/v1/hooks/", "/login/password/",
	"/invitation/"}

// LogPath returns the path of a request for logs. It replaces the secrets in secretPaths.
func LogPath(r *http.Request) string {
	for _, open := range secretPaths {
		if rest, ok := strings.CutPrefix(r.URL.Path, open); ok && rest != "" {
			return open + "..."
		}
	}
	return r.URL.Path
}
