// Package etag computes tags of object states (ETag and If-Match of RFC 9110). With them, an edit is refused if
// somebody changed the object after the editor read it. The edges and the domain call it. It knows no HTTP and no
// objects.
package etag

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Of returns a tag that identifies a state: states with the same JSON have the same tag.
func Of(state any) string {
	raw, err := json.Marshal(state)
	if err != nil {
		return "" // plain values can always be encoded
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:12])
}

// Parse returns the tags of the values of If-Match; nil = there are none, so every state is right. It skips malformed
// tags.
func Parse(values ...string) []string {
	if len(values) == 0 {
		return nil
	}
	tags := []string{}
	for _, one := range strings.Split(strings.Join(values, ","), ",") {
		one = strings.TrimPrefix(strings.TrimSpace(one), "W/") // proxies that compress mark tags as weak
		if quoted := len(one) > 1 && one[0] == '"' && one[len(one)-1] == '"'; quoted {
			tags = append(tags, one[1:len(one)-1])
		} else if one == "*" {
			tags = append(tags, one)
		}
	}
	return tags
}

// ErrStale is the refusal of an edit whose object changed after the editor read it.
var ErrStale = fault.New(fault.Stale, "somebody changed this meanwhile: reload it before you save")

// Match returns ErrStale unless wanted has tag or "*". A nil wanted allows every state. An empty tag means that there is
// no object, which no wanted state matches.
func Match(wanted []string, tag string) error {
	if wanted == nil || tag != "" && (slices.Contains(wanted, "*") || slices.Contains(wanted, tag)) {
		return nil
	}
	return ErrStale
}
