package calendars

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/wire"
	"github.com/iris-oncall/iris/internal/wire/jsonbody"
)

// Edit is one change of a calendar as a request asks for it. It is read once, and then either made or rehearsed.
type Edit struct {
	Choice editing.Selection
	Decide editing.Decide
	// after is what an override leaves of the given shifts and adds, filled by decide.
	after []oncall.Shift
	// substitute is who an override puts in.
	substitute oncall.Person
	// rows are the chosen shifts with their names, as they were before.
	Rows map[oncall.ShiftID]oncall.ShiftRow
}

// Run makes the edit, or does it and undoes it again.
func (a Requests) Run(r *http.Request, e *Edit, raw json.RawMessage, rehearse bool) (oncall.Changes, error) {
	return a.Shifts.Edit(r.Context(), e.Choice, By(r, raw), rehearse, e.Decide)
}

// Desk is where the caller edits the calendar of a crew. named: the request named the team, so may the refusal.
func (a Requests) Desk(ctx context.Context, now time.Time, crew editing.Membership, named bool) editing.Editor {
	actor, name := wire.Actor(ctx), crew.Name
	if !named {
		name = ""
	}
	return editing.Editor{
		Now: now, Grace: a.Grace, Team: crew, NewLink: newLink,
		May: editing.Permission{Member: actor.MayEditCalendar(crew.TeamID, name), Admin: actor.MayAdministerTeam(crew.TeamID, crew.Name)},
	}
}

// newLink returns 32 fresh hex digits.
func newLink() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // crypto/rand never fails
	return hex.EncodeToString(b)
}

// BadEvent is the title of faults of a new shift.
const BadEvent = "Invalid event"

// draft reads a shift that somebody asks for. The role's and the user's existence is looked at later.
func (a Requests) draft(ctx context.Context, b jsonbody.Object) (editing.ShiftRequest, error) {
	var d editing.ShiftRequest
	var err error
	if d.Start, err = b.RequiredTime("start"); err != nil {
		return d, err
	}
	if d.End, err = b.RequiredTime("end"); err != nil {
		return d, err
	}
	if d.UserName, err = b.Required("user"); err != nil {
		return d, err
	}
	if d.Role, err = b.Required("role"); err != nil {
		return d, err
	}
	if d.TeamName, err = b.Text("team"); err != nil {
		return d, err
	}
	if d.Note, err = b.Text("note"); err != nil {
		return d, err
	}
	if id, ok, err := b.Number("schedule_id"); err != nil {
		return d, err
	} else if ok {
		d.Schedule = oncall.ScheduleID(id)
	}
	d.User, err = a.UserID(ctx, d.UserName)
	return d, err
}

// Creation reads a request for one shift.
func (a Requests) Creation(ctx context.Context, b jsonbody.Object) (*Edit, error) {
	d, err := a.draft(ctx, b)
	if err != nil {
		return nil, err
	}
	if d.TeamName == "" {
		return nil, b.Missing("team")
	}
	role, roleKnown, err := a.RoleName(ctx, d.Role)
	if err != nil {
		return nil, err
	}
	d.Role = role
	team, err := a.ActiveTeam(ctx, d.TeamName)
	if fault.Is(err, fault.NotFound) {
		return nil, a.strayCreation(ctx, d)
	}
	if err != nil {
		return nil, err
	}
	stray, err := a.strangeSchedule(ctx, team, d)
	if err != nil {
		return nil, err
	}
	return &Edit{
		Choice: editing.Selection{TeamID: team.ID},
		Decide: func(now time.Time, crew editing.Membership, _ []oncall.Shift) (editing.Decision, error) {
			c, err := a.Desk(ctx, now, crew, true).Create(d)
			switch {
			case err != nil:
			case !roleKnown:
				err = Integrity(`role "` + d.Role + `" not found`)
			default:
				err = stray
			}
			return editing.Decision{Changes: c, Action: "event_created", Context: func(added []oncall.Shift) any {
				return map[string]any{"new_event_id": added[0].ID, "request_body": b.Raw}
			}}, err
		},
	}, nil
}

// strangeSchedule is the refusal of drafts that ascribe a shift to a schedule which is not one of the team.
func (a Requests) strangeSchedule(ctx context.Context, team oncall.Profile, drafts ...editing.ShiftRequest) (refusal, err error) {
	var own []scheduling.StoredSchedule
	for _, d := range drafts {
		if d.Schedule == 0 {
			continue
		}
		if own == nil {
			if own, err = a.Schedules.ByTeam(ctx, team.ID); err != nil {
				return nil, err
			}
		}
		if !slices.ContainsFunc(own, func(s scheduling.StoredSchedule) bool { return s.ID == d.Schedule }) {
			return Integrity(fmt.Sprintf(`team "%s" has no schedule %d`, team.Name, d.Schedule)), nil
		}
	}
	return nil, nil
}

// strayCreation is the refusal of a shift for a team that does not exist: what comes before it in the order of checks, or that.
func (a Requests) strayCreation(ctx context.Context, d editing.ShiftRequest) error {
	now, err := a.People.Clock(ctx)
	if err != nil {
		return err
	}
	_, err = a.Desk(ctx, now, editing.Membership{TeamID: -1, Name: d.TeamName}, true).Create(d) // nobody is part of it
	return err
}

// BadUpdate is the title of faults of a changed shift.
const BadUpdate = "Invalid event update"

// patch reads what a body changes of a shift; allowed are the keys that it may have.
func (a Requests) patch(ctx context.Context, b jsonbody.Object, allowed ...string) (editing.Patch, error) {
	var p editing.Patch
	for key := range b.Members {
		if !slices.Contains(allowed, key) {
			return p, fault.Titled(BadUpdate, "Invalid column")
		}
	}
	for name, at := range map[string]**time.Time{"start": &p.Start, "end": &p.End} {
		t, ok, err := b.Time(name)
		if err != nil {
			return p, err
		}
		if ok {
			*at = &t
		}
	}
	if b.Given("role") {
		role, err := b.Text("role")
		if err != nil {
			return p, err
		}
		proper, known, err := a.RoleName(ctx, role)
		if err != nil {
			return p, err
		}
		if !known {
			return p, Integrity(`role "` + role + `" not found`)
		}
		p.Role = &proper
	}
	if b.Given("user") {
		name, err := b.Text("user")
		if err != nil {
			return p, err
		}
		id, err := a.UserID(ctx, name)
		if err != nil {
			return p, err
		}
		p.User = &id
	}
	note, err := b.TextPtr("note")
	p.Note = note
	return p, err
}

// Change reads a request to edit one shift.
func (a Requests) Change(ctx context.Context, id oncall.ShiftID, b jsonbody.Object) (*Edit, error) {
	p, err := a.patch(ctx, b, "start", "end", "role", "user", "note")
	if err != nil {
		return nil, err
	}
	e, err := a.about(ctx, editing.Selection{IDs: []oncall.ShiftID{id}})
	if err != nil {
		return nil, err
	}
	e.Decide = func(now time.Time, crew editing.Membership, chosen []oncall.Shift) (editing.Decision, error) {
		if len(chosen) == 0 {
			return editing.Decision{}, ErrGone
		}
		c, err := a.Desk(ctx, now, crew, true).Edit(chosen[0], p)
		return editing.Decision{Changes: c, Action: "event_edited", Context: func([]oncall.Shift) any {
			return map[string]any{"old_event": e.old(chosen)[0], "request_body": b.Raw}
		}}, err
	}
	return e, nil
}

// ErrGone says that there is no such thing, or no longer.
var ErrGone = fault.New(fault.NotFound, "not found")

// about begins an edit of chosen shifts with reading their names.
func (a Requests) about(ctx context.Context, c editing.Selection) (*Edit, error) {
	rows, err := a.ShiftRows(ctx, c)
	return &Edit{Choice: c, Rows: rows}, err
}

// old words shifts as they were for the audit log.
func (e *Edit) old(shifts []oncall.Shift) []map[string]any {
	out := make([]map[string]any, len(shifts))
	for i, s := range shifts {
		row := e.Rows[s.ID]
		row.Shift = s
		out[i] = EventObject(row)
	}
	return out
}

// Deletion is a request to remove one shift.
func (a Requests) Deletion(ctx context.Context, id oncall.ShiftID) (*Edit, error) {
	e, err := a.about(ctx, editing.Selection{IDs: []oncall.ShiftID{id}})
	if err != nil {
		return nil, err
	}
	e.Decide = func(now time.Time, crew editing.Membership, chosen []oncall.Shift) (editing.Decision, error) {
		if len(chosen) == 0 {
			return editing.Decision{}, ErrGone
		}
		c, err := a.Desk(ctx, now, crew, true).Delete(chosen[0])
		return editing.Decision{Changes: c, Action: "event_deleted", Context: func([]oncall.Shift) any {
			return map[string]any{"old_event": e.old(chosen)[0]}
		}}, err
	}
	return e, nil
}
