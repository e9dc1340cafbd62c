package wire

import (
	"context"
	"net/http"
	"slices"
)

type originKey struct{}

// fromAllowedOrigin reports whether the request was sent by a page of a site that the operator allows.
func fromAllowedOrigin(ctx context.Context) bool {
	allowed, _ := ctx.Value(originKey{}).(bool)
	return allowed
}

// corsMethods are those that pages of allowed sites may use.
const corsMethods = "GET, HEAD, POST, PUT, DELETE"

// CORS lets pages of the named origins call the API in a browser, with the session of their user, and read the
// answers: paths below /v0, /api/v0 and /v1, not the log-in and the pages. Browsers refuse the answers to pages of all other
// sites. Below /api/v0 a change by a session still needs its token.
func CORS(origins []string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		if len(origins) == 0 {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			oncall := below(r, "/api/v0")
			if !oncall && !below(r, "/v0") && !below(r, "/v1") {
				next.ServeHTTP(w, r)
				return
			}
			h := w.Header()
			h.Add("Vary", "Origin") // caches must not give one site's answer to another
			origin := r.Header.Get("Origin")
			if origin == "" || !slices.Contains(origins, origin) {
				next.ServeHTTP(w, r)
				return
			}
			h.Set("Access-Control-Allow-Origin", origin)
			h.Set("Access-Control-Allow-Credentials", "true")
			if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
				h.Set("Access-Control-Allow-Methods", corsMethods)
				if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
					h.Set("Access-Control-Allow-Headers", asked)
				}
				h.Add("Vary", "Access-Control-Request-Headers")
				h.Set("Access-Control-Max-Age", "600")
				if oncall { // which answers OPTIONS itself
					next.ServeHTTP(w, r)
					return
				}
				w.WriteHeader(http.StatusNoContent)
				return
			}
			h.Set("Access-Control-Expose-Headers", "ETag, Location, Retry-After, X-Iris-Warning, Idempotent-Replayed")
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), originKey{}, true)))
		})
	}
}
