package oncallapi

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/edits"
	"github.com/iris-oncall/iris/internal/oncall/schedules"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

// edit is one change of a calendar as a request asks for it. It is read once, and then either made or rehearsed.
type edit struct {
	choice edits.Selection
	decide edits.Decide
	// after is what an override leaves of the given shifts and adds, filled by decide.
	after []oncall.Shift
	// substitute is who an override puts in.
	substitute oncall.Person
	// rows are the chosen shifts with their names, as they were before.
	rows map[oncall.ShiftID]oncall.ShiftRow
}

// run makes the edit, or does it and undoes it again.
func (a *API) run(r *http.Request, e *edit, raw json.RawMessage, rehearse bool) (oncall.Changes, error) {
	return a.Shifts.Edit(r.Context(), e.choice, by(r, raw), rehearse, e.decide)
}

// desk is where the caller edits the calendar of a crew. named: the request named the team, so may the refusal.
func (a *API) desk(ctx context.Context, now time.Time, crew edits.Membership, named bool) edits.Editor {
	actor, name := wire.Actor(ctx), crew.Name
	if !named {
		name = ""
	}
	return edits.Editor{
		Now: now, Grace: a.Config.Grace, Team: crew, NewLink: newLink,
		May: edits.Permission{Member: actor.MayEditCalendar(crew.TeamID, name), Admin: actor.MayAdministerTeam(crew.TeamID, crew.Name)},
	}
}

// newLink returns 32 fresh hex digits.
func newLink() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // crypto/rand never fails
	return hex.EncodeToString(b)
}

const badEvent = "Invalid event"

// draft reads a shift that somebody asks for. The role's and the user's existence is looked at later.
func (a *API) draft(ctx context.Context, b body) (edits.ShiftRequest, error) {
	var d edits.ShiftRequest
	var err error
	if d.Start, err = b.mustAt("start"); err != nil {
		return d, err
	}
	if d.End, err = b.mustAt("end"); err != nil {
		return d, err
	}
	if d.UserName, err = b.required("user"); err != nil {
		return d, err
	}
	if d.Role, err = b.required("role"); err != nil {
		return d, err
	}
	if d.TeamName, err = b.text("team"); err != nil {
		return d, err
	}
	if d.Note, err = b.text("note"); err != nil {
		return d, err
	}
	if id, ok, err := b.number("schedule_id"); err != nil {
		return d, err
	} else if ok {
		d.Schedule = oncall.ScheduleID(id)
	}
	d.User, err = a.userID(ctx, d.UserName)
	return d, err
}

// userID finds a user's id; 0 when there is no such user.
func (a *API) userID(ctx context.Context, name string) (users.ID, error) {
	u, err := a.People.ByName(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return 0, nil
	}
	return u.ID, err
}

// roleName returns a role's proper name; ok is false when there is none.
func (a *API) roleName(ctx context.Context, name string) (proper string, ok bool, err error) {
	role, err := a.role(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return name, false, nil
	}
	return role.Name, err == nil, err
}

// creation reads a request for one shift (docs/reference/oncall-v0.md 6.1).
func (a *API) creation(ctx context.Context, b body) (*edit, error) {
	d, err := a.draft(ctx, b)
	if err != nil {
		return nil, err
	}
	if d.TeamName == "" {
		return nil, b.missing("team")
	}
	role, roleKnown, err := a.roleName(ctx, d.Role)
	if err != nil {
		return nil, err
	}
	d.Role = role
	team, err := a.activeTeam(ctx, d.TeamName)
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
	return &edit{
		choice: edits.Selection{TeamID: team.ID},
		decide: func(now time.Time, crew edits.Membership, _ []oncall.Shift) (edits.Decision, error) {
			c, err := a.desk(ctx, now, crew, true).Create(d)
			switch {
			case err != nil:
			case !roleKnown:
				err = integrity(`role "` + d.Role + `" not found`)
			default:
				err = stray
			}
			return edits.Decision{Changes: c, Action: "event_created", Context: func(added []oncall.Shift) any {
				return map[string]any{"new_event_id": added[0].ID, "request_body": b.raw}
			}}, err
		},
	}, nil
}

// strangeSchedule is the refusal of drafts that ascribe a shift to a schedule which is not one of the team.
func (a *API) strangeSchedule(ctx context.Context, team oncall.Profile, drafts ...edits.ShiftRequest) (refusal, err error) {
	var own []schedules.StoredSchedule
	for _, d := range drafts {
		if d.Schedule == 0 {
			continue
		}
		if own == nil {
			if own, err = a.Schedules.ByTeam(ctx, team.ID); err != nil {
				return nil, err
			}
		}
		if !slices.ContainsFunc(own, func(s schedules.StoredSchedule) bool { return s.ID == d.Schedule }) {
			return integrity(fmt.Sprintf(`team "%s" has no schedule %d`, team.Name, d.Schedule)), nil
		}
	}
	return nil, nil
}

// strayCreation is the refusal of a shift for a team that does not exist: what comes before it in the order of checks, or that.
func (a *API) strayCreation(ctx context.Context, d edits.ShiftRequest) error {
	now, err := a.People.Clock(ctx)
	if err != nil {
		return err
	}
	_, err = a.desk(ctx, now, edits.Membership{TeamID: -1, Name: d.TeamName}, true).Create(d) // nobody is part of it
	return err
}

func (a *API) createEvent(w http.ResponseWriter, r *http.Request) error {
	b, err := readBody(w, r, badEvent)
	if err != nil {
		return err
	}
	e, err := a.creation(r.Context(), b)
	if err != nil {
		return err
	}
	c, err := a.run(r, e, b.raw, false)
	if err != nil {
		return err
	}
	return answer(w, http.StatusCreated, c.Add[0].ID)
}

const badUpdate = "Invalid event update"

// patch reads what a body changes of a shift; allowed are the keys that it may have.
func (a *API) patch(ctx context.Context, b body, allowed ...string) (edits.Patch, error) {
	var p edits.Patch
	for key := range b.members {
		if !has(allowed, key) {
			return p, fault.Titled(badUpdate, "Invalid column")
		}
	}
	for name, at := range map[string]**time.Time{"start": &p.Start, "end": &p.End} {
		t, ok, err := b.at(name)
		if err != nil {
			return p, err
		}
		if ok {
			*at = &t
		}
	}
	if b.given("role") {
		role, err := b.text("role")
		if err != nil {
			return p, err
		}
		proper, known, err := a.roleName(ctx, role)
		if err != nil {
			return p, err
		}
		if !known {
			return p, integrity(`role "` + role + `" not found`)
		}
		p.Role = &proper
	}
	if b.given("user") {
		name, err := b.text("user")
		if err != nil {
			return p, err
		}
		id, err := a.userID(ctx, name)
		if err != nil {
			return p, err
		}
		p.User = &id
	}
	note, err := b.textPtr("note")
	p.Note = note
	return p, err
}

// change reads a request to edit one shift (docs/reference/oncall-v0.md 6.2).
func (a *API) change(ctx context.Context, id oncall.ShiftID, b body) (*edit, error) {
	p, err := a.patch(ctx, b, "start", "end", "role", "user", "note")
	if err != nil {
		return nil, err
	}
	e, err := a.about(ctx, edits.Selection{IDs: []oncall.ShiftID{id}})
	if err != nil {
		return nil, err
	}
	e.decide = func(now time.Time, crew edits.Membership, chosen []oncall.Shift) (edits.Decision, error) {
		if len(chosen) == 0 {
			return edits.Decision{}, errGone
		}
		c, err := a.desk(ctx, now, crew, true).Edit(chosen[0], p)
		return edits.Decision{Changes: c, Action: "event_edited", Context: func([]oncall.Shift) any {
			return map[string]any{"old_event": e.old(chosen)[0], "request_body": b.raw}
		}}, err
	}
	return e, nil
}

var errGone = fault.New(fault.NotFound, "not found")

// about begins an edit of chosen shifts with reading their names.
func (a *API) about(ctx context.Context, c edits.Selection) (*edit, error) {
	rows, err := a.shiftRows(ctx, c)
	return &edit{choice: c, rows: rows}, err
}

// old words shifts as they were for the audit log.
func (e *edit) old(shifts []oncall.Shift) []map[string]any {
	out := make([]map[string]any, len(shifts))
	for i, s := range shifts {
		row := e.rows[s.ID]
		row.Shift = s
		out[i] = eventObject(row)
	}
	return out
}

func (a *API) updateEvent(w http.ResponseWriter, r *http.Request) error {
	id, err := shiftID(r, "id")
	if err != nil {
		return err
	}
	b, err := readBody(w, r, badUpdate)
	if err != nil {
		return err
	}
	e, err := a.change(r.Context(), oncall.ShiftID(id), b)
	if err != nil {
		return err
	}
	e.decide = guarded(r, e.decide)
	if _, err := a.run(r, e, b.raw, false); err != nil {
		return err
	}
	return empty(w, http.StatusOK)
}

// deletion is a request to remove one shift (docs/reference/oncall-v0.md 6.3).
func (a *API) deletion(ctx context.Context, id oncall.ShiftID) (*edit, error) {
	e, err := a.about(ctx, edits.Selection{IDs: []oncall.ShiftID{id}})
	if err != nil {
		return nil, err
	}
	e.decide = func(now time.Time, crew edits.Membership, chosen []oncall.Shift) (edits.Decision, error) {
		if len(chosen) == 0 {
			return edits.Decision{}, errGone
		}
		c, err := a.desk(ctx, now, crew, true).Delete(chosen[0])
		return edits.Decision{Changes: c, Action: "event_deleted", Context: func([]oncall.Shift) any {
			return map[string]any{"old_event": e.old(chosen)[0]}
		}}, err
	}
	return e, nil
}

func (a *API) deleteEvent(w http.ResponseWriter, r *http.Request) error {
	id, err := shiftID(r, "id")
	if err != nil {
		return err
	}
	e, err := a.deletion(r.Context(), oncall.ShiftID(id))
	if err != nil {
		return err
	}
	e.decide = guarded(r, e.decide)
	if _, err := a.run(r, e, nil, false); err != nil {
		return err
	}
	return empty(w, http.StatusOK)
}

// personOf is the person that a request acts for: the caller, or whom an application names.
func (a *API) personOf(ctx context.Context, b body) (oncall.Person, error) {
	name := wire.Actor(ctx).Username
	if name == "" {
		var err error
		if name, err = b.text("user"); err != nil {
			return oncall.Person{}, err
		}
		if name == "" {
			return oncall.Person{}, auth.ErrPersonNeeded
		}
	}
	p, err := a.People.ByName(ctx, name)
	return p, when(err, fault.NotFound, fault.Invalidf("user", "there is no user %q", name))
}
