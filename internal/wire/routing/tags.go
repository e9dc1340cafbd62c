package routing

import (
	"net/http"
	"strings"
)

// ShowTag tells the client the state of what it is shown, for an If-Match of the edit that follows (RFC 9110).
func ShowTag(w http.ResponseWriter, tag string) { w.Header().Set("ETag", `"`+tag+`"`) }

// Matches reports whether a request may change something whose state is tag: its If-Match names the state, or it has none.
// A request without one saves over whatever is there.
func Matches(r *http.Request, tag string) bool {
	wanted := r.Header.Values("If-Match")
	if len(wanted) == 0 {
		return true
	}
	for _, one := range strings.Split(strings.Join(wanted, ","), ",") {
		one = strings.TrimPrefix(strings.TrimSpace(one), "W/") // a proxy that compresses weakens tags
		if one == "*" || one == `"`+tag+`"` {
			return true
		}
	}
	return false
}
