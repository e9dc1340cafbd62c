package oncall

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/iris-oncall/iris/internal/fault"
)

// Tag identifies the state of a shift: it changes with every edit.
func (s Shift) Tag() string {
	return TagOf([]any{s.ID, s.TeamID, s.Role, s.User, s.Start.Unix(), s.End.Unix(), s.Schedule, s.Link, s.Note})
}

// TagOf returns a tag that identifies a state: equal states have equal tags.
func TagOf(state any) string {
	raw, err := json.Marshal(state)
	if err != nil {
		return "" // plain values can always be encoded
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:12])
}

// ErrStale refuses an edit whose tag does not match, because the object was changed since the caller read it.
var ErrStale = fault.New(fault.Stale, "somebody changed this meanwhile: reload it before you save")

// MatchTag returns ErrStale unless tag is one of wanted. "*" in wanted matches every tag; nil allows every state.
func MatchTag(wanted []string, tag string) error {
	if wanted == nil || slices.Contains(wanted, "*") || slices.Contains(wanted, tag) {
		return nil
	}
	return ErrStale
}
