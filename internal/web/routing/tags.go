package routing

import (
	"net/http"
	"slices"

	"github.com/iris-oncall/iris/internal/kit/etag"
)

// ShowTag sets the ETag header to the tag of the object's state. Clients send it as If-Match with an edit (RFC 9110).
func ShowTag(w http.ResponseWriter, tag string) { w.Header().Set("ETag", `"`+tag+`"`) }

// CheckTag returns etag.ErrStale if the request has an If-Match that does not match tag, or "If-None-Match: *" and
// there is an object. A tag that is empty means that there is none. conditional is true if If-Match names states:
// storage must then check the state again.
func CheckTag(r *http.Request, tag string) (conditional bool, err error) {
	if tag != "" && r.Header.Get("If-None-Match") == "*" {
		return false, etag.ErrStale
	}
	wanted := IfMatch(r)
	return wanted != nil && !slices.Contains(wanted, "*"), etag.Match(wanted, tag)
}

// IfMatch returns the tags in the If-Match of the request; nil = the request has no If-Match. It skips malformed tags.
func IfMatch(r *http.Request) []string { return etag.Parse(r.Header.Values("If-Match")...) }
