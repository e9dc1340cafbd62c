package requests

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Run applies the edit.
func (a Requests) Run(r *http.Request, e editing.Edit) (editing.Outcome, error) {
	return a.Shifts.Edit(r.Context(), e, By(r, e.Body))
}

// Access returns the permissions of the caller for edits. named is true if the request names the team: a refusal may
// then name it.
func (a Requests) Access(ctx context.Context, named bool) editing.Access {
	return editing.Access{Caller: wire.Actor(ctx), Grace: a.Grace, Named: named, Link: newLink()}
}

// newLink returns 32 random hexadecimal digits.
func newLink() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // crypto/rand never fails
	return hex.EncodeToString(b)
}

// BadEvent is the title of faults of a new shift.
const BadEvent = "Invalid event"

// draft reads a requested shift. It does not check whether the role exists.
func (a Requests) draft(ctx context.Context, b jsonbody.Object) (editing.ShiftRequest, error) {
	var d editing.ShiftRequest
	var err error
	d.Start, err = b.RequiredTime("start")
	d.End = jsonbody.Next(&err, b.RequiredTime, "end")
	d.UserName = jsonbody.Next(&err, b.Required, "user")
	d.Role = jsonbody.Next(&err, b.Required, "role")
	d.TeamName = jsonbody.Next(&err, b.Text, "team")
	d.Note = jsonbody.Next(&err, b.Text, "note")
	if err != nil {
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

// Creation reads an edit that adds one shift.
func (a Requests) Creation(ctx context.Context, b jsonbody.Object) (editing.Edit, error) {
	d, err := a.draft(ctx, b)
	if err != nil {
		return editing.Edit{}, err
	}
	if d.TeamName == "" {
		return editing.Edit{}, b.Missing("team")
	}
	role, roleKnown, err := a.RoleName(ctx, d.Role)
	if err != nil {
		return editing.Edit{}, err
	}
	d.Role = role
	team, err := a.ActiveTeam(ctx, d.TeamName)
	if fault.Is(err, fault.NotFound) {
		return editing.Edit{}, a.unknownTeam(ctx, d)
	}
	if err != nil {
		return editing.Edit{}, err
	}
	refusal, err := a.foreignSchedule(ctx, team, d)
	if err != nil {
		return editing.Edit{}, err
	}
	if !roleKnown {
		refusal = Integrity(`role "` + d.Role + `" not found`)
	}
	return editing.Edit{
		Access: a.Access(ctx, true), Selection: editing.Selection{TeamID: team.ID}, Body: b.Raw,
		Change: editing.Create{Shift: d, Refusal: refusal},
	}, nil
}

// foreignSchedule returns the refusal of drafts that name a schedule of another team; nil if there is none.
func (a Requests) foreignSchedule(ctx context.Context, team oncall.Profile, drafts ...editing.ShiftRequest) (refusal, err error) {
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

// unknownTeam returns the refusal of a shift for a team that does not exist. The checks have a fixed order: if an
// earlier one fails too, it returns the refusal of that check.
func (a Requests) unknownTeam(ctx context.Context, d editing.ShiftRequest) error {
	now, err := a.People.Clock(ctx)
	if err != nil {
		return err
	}
	_, err = a.Access(ctx, true).Editor(now, editing.Membership{TeamID: -1,
		Name: d.TeamName}).Create(d) // no team has this number
	return err
}

// BadUpdate is the title of faults of a changed shift.
const BadUpdate = "Invalid event update"

// patch reads the changes of a shift in a body. Keys that are not in allowed are refused.
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

// Change reads an edit that changes one shift.
func (a Requests) Change(ctx context.Context, id oncall.ShiftID, b jsonbody.Object) (editing.Edit, error) {
	p, err := a.patch(ctx, b, "start", "end", "role", "user", "note")
	if err != nil {
		return editing.Edit{}, err
	}
	return a.about(ctx, editing.Selection{IDs: []oncall.ShiftID{id}}, editing.Modify{Patch: p}, b.Raw)
}

// ErrGone is the refusal for an object that does not exist.
var ErrGone = fault.New(fault.NotFound, "not found")

// about returns an edit of selected shifts.
func (a Requests) about(ctx context.Context, c editing.Selection, change editing.Change, body json.RawMessage) (editing.Edit, error) {
	rows, err := a.ShiftRows(ctx, c)
	named := true
	switch change.(type) {
	case editing.Exchange, editing.Override:
		named = false
	}
	return editing.Edit{Access: a.Access(ctx, named), Selection: c, Change: change, Rows: rows, Body: body}, err
}

// Deletion returns an edit that deletes one shift.
func (a Requests) Deletion(ctx context.Context, id oncall.ShiftID) (editing.Edit, error) {
	return a.about(ctx, editing.Selection{IDs: []oncall.ShiftID{id}}, editing.Remove{}, nil)
}
