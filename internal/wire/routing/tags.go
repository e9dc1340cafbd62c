package routing

import (
	"net/http"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/etag"
)

// ShowTag sets the ETag header to the state of the answered object, for the If-Match of a following edit (RFC 9110).
func ShowTag(w http.ResponseWriter, tag string) { w.Header().Set("ETag", `"`+tag+`"`) }

// CheckTag returns etag.ErrStale unless the If-Match of the request allows the state that tag names. conditional reports
// whether If-Match names states, so that the change must not be made in another one.
func CheckTag(r *http.Request, tag string) (conditional bool, err error) {
	wanted := IfMatch(r)
	return wanted != nil && !slices.Contains(wanted, "*"), etag.Match(wanted, tag)
}

// IfMatch returns the tags that the request's If-Match names; nil = it names none.
func IfMatch(r *http.Request) []string {
	wanted := r.Header.Values("If-Match")
	if len(wanted) == 0 {
		return nil
	}
	tags := []string{}
	for _, one := range strings.Split(strings.Join(wanted, ","), ",") {
		one = strings.TrimPrefix(strings.TrimSpace(one), "W/") // a proxy that compresses weakens tags
		if quoted := len(one) > 1 && one[0] == '"' && one[len(one)-1] == '"'; quoted {
			tags = append(tags, one[1:len(one)-1])
		} else if one == "*" {
			tags = append(tags, one)
		}
	}
	return tags
}
