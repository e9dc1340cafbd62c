package oncall

import "github.com/iris-oncall/iris/internal/kit/etag"

// Tag identifies the state of a shift: it changes with every edit.
func (s Shift) Tag() string {
	return etag.Of([]any{s.ID, s.TeamID, s.Role, s.User, s.Start.Unix(), s.End.Unix(), s.Schedule, s.Link, s.Note})
}

// Tag identifies the name of a roster, its members and their order.
func (r Roster) Tag() string {
	state := []any{r.ID, r.Name}
	for _, m := range r.Members {
		state = append(state, m.User, m.InRotation)
	}
	return etag.Of(state)
}
