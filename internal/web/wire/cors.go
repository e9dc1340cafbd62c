package wire

import (
	"context"
	"net/http"
	"slices"
)

type originKey struct{}

// fromAllowedOrigin reports whether a page of an allowed site sent the request.
func fromAllowedOrigin(ctx context.Context) bool {
	allowed, _ := ctx.Value(originKey{}).(bool)
	return allowed
}

// corsMethods are the methods that pages of allowed sites may use.
const corsMethods = "GET, HEAD, POST, PUT, DELETE"

// CORS allows pages of the named origins to call the API with the session of their user, and to read the answers. It
// applies to paths below /v0, /api/v0 and /v1, not to the log-in and the pages. Browsers hide the answers from pages of
// other sites. Below /api/v0 a change with a session still needs the CSRF token.
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
				if oncall { // Oncall's API answers OPTIONS itself
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
