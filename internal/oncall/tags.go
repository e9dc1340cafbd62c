package oncall

import "github.com/iris-oncall/iris/internal/kit/etag"

// Tag identifies the state of a shift: it changes with every edit.
func (s Shift) Tag() string {
	return etag.Of([]any{s.ID, s.TeamID, s.Role, s.User, s.Start.Unix(), s.End.Unix(), s.Schedule, s.Link, s.Note})
}
