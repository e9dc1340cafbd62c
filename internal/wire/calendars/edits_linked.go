package calendars

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/wire/jsonbody"
)

// maxLinked is how many shifts one request may make: more than two a day for a year.
const maxLinked = 1000

// LinkedCreation reads a request for several shifts that belong together.
func (a Requests) LinkedCreation(ctx context.Context, raw json.RawMessage) (*Edit, error) {
	const title = "Invalid argument"
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return nil, fault.Titled(title, "events argument needs to be a list")
	}
	if len(items) == 0 {
		return nil, fault.Titled(title, "events list cannot be empty")
	}
	if len(items) > maxLinked {
		return nil, fault.Titled(title, fmt.Sprintf("events list cannot hold more than %d events", maxLinked))
	}
	drafts := make([]editing.ShiftRequest, len(items))
	for i, item := range items {
		b, err := jsonbody.ParseMember(fmt.Sprintf("events[%d]", i), item, BadEvent)
		if err != nil {
			return nil, err
		}
		if i == 0 && !b.Given("team") {
			return nil, fault.Titled(title, "event missing team attribute")
		}
		if drafts[i], err = a.draft(ctx, b); err != nil {
			return nil, err
		}
	}
	team, err := a.ActiveTeam(ctx, drafts[0].TeamName)
	if err != nil {
		return nil, fault.When(err, fault.NotFound, fault.Titled(BadEvent, "Invalid team name: "+drafts[0].TeamName))
	}
	missing, err := a.unknownIn(ctx, drafts)
	if err != nil {
		return nil, err
	}
	if missing == nil {
		if missing, err = a.strangeSchedule(ctx, team, drafts...); err != nil {
			return nil, err
		}
	}
	return &Edit{
		Choice: editing.Selection{TeamID: team.ID},
		Decide: func(now time.Time, crew editing.Membership, _ []oncall.Shift) (editing.Decision, error) {
			c, err := a.Desk(ctx, now, crew, true).CreateLinked(drafts)
			if err == nil {
				err = missing
			}
			return editing.Decision{Changes: c, Action: "event_created", Context: func(added []oncall.Shift) any {
				return map[string]any{"link_id": added[0].Link, "event_ids": ShiftIDs(added), "request_body": raw}
			}}, err
		},
	}, nil
}

// unknownIn gives the roles of drafts their proper names, and returns the refusal of one that does not exist.
func (a Requests) unknownIn(ctx context.Context, drafts []editing.ShiftRequest) (refusal, err error) {
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

// ShiftIDs returns the numbers of shifts.
func ShiftIDs(shifts []oncall.Shift) []oncall.ShiftID {
	out := make([]oncall.ShiftID, len(shifts))
	for i, s := range shifts {
		out[i] = s.ID
	}
	return out
}

// LinkedChange reads a request to edit all shifts of a link.
func (a Requests) LinkedChange(ctx context.Context, link string, b jsonbody.Object) (*Edit, error) {
	p, err := a.patch(ctx, b, "role", "user", "note")
	if err != nil {
		return nil, err
	}
	e, err := a.about(ctx, editing.Selection{Links: []string{link}})
	if err != nil {
		return nil, err
	}
	e.Decide = func(now time.Time, crew editing.Membership, chosen []oncall.Shift) (editing.Decision, error) {
		c, err := a.Desk(ctx, now, crew, true).EditLinked(chosen, p)
		return editing.Decision{Changes: c, Action: "event_edited", Context: func([]oncall.Shift) any {
			return map[string]any{"old_event": e.old(chosen), "request_body": b.Raw}
		}}, err
	}
	return e, nil
}

// LinkedDeletion is a request to remove all shifts of a link.
func (a Requests) LinkedDeletion(ctx context.Context, link string) (*Edit, error) {
	e, err := a.about(ctx, editing.Selection{Links: []string{link}})
	if err != nil {
		return nil, err
	}
	e.Decide = func(now time.Time, crew editing.Membership, chosen []oncall.Shift) (editing.Decision, error) {
		c, err := a.Desk(ctx, now, crew, true).DeleteLinked(chosen)
		return editing.Decision{Changes: c, Action: "event_deleted", Context: func([]oncall.Shift) any {
			return map[string]any{"old_event": e.old(chosen)}
		}}, err
	}
	return e, nil
}
