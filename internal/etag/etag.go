// Package etag names states of objects, so that an edit can be refused when somebody changed the object since its editor
// read it (ETag and If-Match of RFC 9110). It knows no transport and no objects.
package etag

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/iris-oncall/iris/internal/fault"
)

// Of returns a tag that identifies a state: equal states have equal tags.
func Of(state any) string {
	raw, err := json.Marshal(state)
	if err != nil {
		return "" // plain values can always be encoded
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:12])
}

// ErrStale refuses an edit of an object that is no longer as its editor saw it.
var ErrStale = fault.New(fault.Stale, "somebody changed this meanwhile: reload it before you save")

// Match returns ErrStale unless tag is one of wanted. "*" in wanted is any tag; nil allows every state.
func Match(wanted []string, tag string) error {
	if wanted == nil || slices.Contains(wanted, "*") || slices.Contains(wanted, tag) {
		return nil
	}
	return ErrStale
}
