package wire

import (
	"net/http"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Limits of the query of a request. Each parameter may become a condition of a search in the database.
const (
	MaxQuery      = 16 << 10
	maxParameters = 256
)

// BoundQuery refuses requests whose query is longer than MaxQuery bytes or has more than maxParameters parameters. It
// does not parse the query.
func (e *Errors) BoundQuery(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch raw := r.URL.RawQuery; {
		case len(raw) > MaxQuery:
			e.Write(w, r, fault.Titled("Query string too long", "it may have at most 16384 bytes"))
		case strings.Count(raw, "&") >= maxParameters:
			e.Write(w, r, fault.Titled("Too many query parameters", "there may be at most 256"))
		default:
			next.ServeHTTP(w, r)
		}
	})
}
