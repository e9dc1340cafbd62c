package requests

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
)

// maxLinked is the maximum number of shifts that one request may make. It allows more than two a day for a year.
const maxLinked = 1000

// LinkedCreation reads an edit that adds several shifts with a common link id.
func (a Requests) LinkedCreation(ctx context.Context, raw json.RawMessage) (editing.Edit, error) {
	const title = "Invalid argument"
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return editing.Edit{}, fault.Titled(title, "events argument needs to be a list")
	}
	if len(items) == 0 {
		return editing.Edit{}, fault.Titled(title, "events list cannot be empty")
	}
	if len(items) > maxLinked {
		return editing.Edit{}, fault.Titled(title, fmt.Sprintf("events list cannot hold more than %d events",
			maxLinked))
	}
	drafts := make([]editing.ShiftRequest, len(items))
	for i, item := range items {
		b, err := jsonbody.ParseMember(fmt.Sprintf("events[%d]", i), item, BadEvent)
		if err != nil {
			return editing.Edit{}, err
		}
		if i == 0 && !b.Given("team") {
			return editing.Edit{}, fault.Titled(title, "event missing team attribute")
		}
		if drafts[i], err = a.draft(ctx, b); err != nil {
			return editing.Edit{}, err
		}
	}
	team, err := a.ActiveTeam(ctx, drafts[0].TeamName)
	if err != nil {
		return editing.Edit{}, fault.When(err, fault.NotFound,
			fault.Titled(BadEvent, "Invalid team name: "+drafts[0].TeamName))
	}
	missing, err := a.properRoles(ctx, drafts)
	if err != nil {
		return editing.Edit{}, err
	}
	if missing == nil {
		if missing, err = a.foreignSchedule(ctx, team, drafts...); err != nil {
			return editing.Edit{}, err
		}
	}
	return editing.Edit{
		Access: a.Access(ctx, true), Selection: editing.Selection{TeamID: team.ID}, Body: raw,
		Change: editing.CreateLinked{Shifts: drafts, Refusal: missing},
	}, nil
}

// properRoles replaces the roles of drafts by their stored spelling. It returns the refusal of a role that does not
// exist.
func (a Requests) properRoles(ctx context.Context, drafts []editing.ShiftRequest) (refusal, err error) {
	proper := map[string]string{}
	for i := range drafts {
		d := &drafts[i]
		if _, done := proper[d.Role]; !done {
			name, known, err := a.RoleName(ctx, d.Role)
			if err != nil {
				return nil, err
			}
			if !known {
				refusal = Integrity("role not found")
			}
			proper[d.Role] = name
		}
		d.Role = proper[d.Role]
	}
	return refusal, nil
}

// LinkedChange reads an edit that changes all shifts of a link.
func (a Requests) LinkedChange(ctx context.Context, link string, b jsonbody.Object) (editing.Edit, error) {
	p, err := a.patch(ctx, b, "role", "user", "note")
	if err != nil {
		return editing.Edit{}, err
	}
	return a.about(ctx, editing.Selection{Links: []string{link}}, editing.Modify{Patch: p, Linked: true}, b.Raw)
}

// LinkedDeletion returns an edit that deletes all shifts of a link.
func (a Requests) LinkedDeletion(ctx context.Context, link string) (editing.Edit, error) {
	return a.about(ctx, editing.Selection{Links: []string{link}}, editing.Remove{Linked: true}, nil)
}
