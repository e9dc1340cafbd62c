package routing

import (
	"net/http"

	"github.com/iris-oncall/iris/internal/kit/etag"
)

// ShowTag sets the ETag header to the tag of the object's state. Clients send it as If-Match with an edit (RFC 9110).
func ShowTag(w http.ResponseWriter, tag string) { w.Header().Set("ETag", `"`+tag+`"`) }

// IfMatch returns the tags in the If-Match of the request; nil = the request has no If-Match. It skips malformed tags.
func IfMatch(r *http.Request) []string { return etag.Parse(r.Header.Values("If-Match")...) }
