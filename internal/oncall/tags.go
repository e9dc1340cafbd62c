package oncall

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/iris-oncall/iris/internal/fault"
)

// Tag names the state of a shift: it is another one after every edit.
func (s Shift) Tag() string {
	return TagOf([]any{s.ID, s.TeamID, s.Role, s.User, s.Start.Unix(), s.End.Unix(), s.Schedule, s.Link, s.Note})
}

// TagOf returns a text that identifies a state: equal states have equal tags.
func TagOf(state any) string {
	raw, err := json.Marshal(state)
	if err != nil {
		return "" // plain values always have a form
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:12])
}

// ErrStale refuses an edit of something that is no longer as its editor saw it.
var ErrStale = fault.New(fault.Stale, "somebody changed this meanwhile: look at it again before you save")

// MatchTag returns ErrStale unless tag is one of wanted. "*" in wanted is any tag; nil allows every state.
func MatchTag(wanted []string, tag string) error {
	if wanted == nil || slices.Contains(wanted, "*") || slices.Contains(wanted, tag) {
		return nil
	}
	return ErrStale
}
