package calendaring

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
)

// BadEvent is the title of faults of a new shift.
const BadEvent = "Invalid event"

// Creation returns an edit that adds one shift. body is the body of the request, for the audit log.
func (f Finder) Creation(ctx context.Context, by editing.Access, d editing.ShiftRequest, body json.RawMessage) (e editing.Edit, err error) {
	if d.User, err = f.UserID(ctx, d.UserName); err != nil {
		return e, err
	}
	role, roleKnown, err := f.RoleName(ctx, d.Role)
	if err != nil {
		return e, err
	}
	d.Role = role
	team, err := f.ActiveTeam(ctx, d.TeamName)
	if fault.Is(err, fault.NotFound) {
		return e, f.unknownTeam(ctx, by, d)
	}
	if err != nil {
		return e, err
	}
	refusal, err := f.foreignSchedule(ctx, team, d)
	if err != nil {
		return e, err
	}
	if !roleKnown {
		refusal = Integrity(`role "` + d.Role + `" not found`)
	}
	return editing.Edit{Access: by, Selection: editing.Selection{TeamID: team.ID}, Body: body,
		Change: editing.Create{Shift: d, Refusal: refusal}}, nil
}

// foreignSchedule returns the refusal of drafts that name a schedule of another team; nil if there is none.
func (f Finder) foreignSchedule(ctx context.Context, team oncall.Profile, drafts ...editing.ShiftRequest) (refusal, err error) {
	var own []scheduling.StoredSchedule
	for _, d := range drafts {
		if d.Schedule == 0 {
			continue
		}
		if own == nil {
			if own, err = f.Schedules.ByTeam(ctx, team.ID); err != nil {
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
func (f Finder) unknownTeam(ctx context.Context, by editing.Access, d editing.ShiftRequest) error {
	now, err := f.People.Clock(ctx)
	if err != nil {
		return err
	}
	_, err = by.Editor(now, editing.Membership{TeamID: -1, Name: d.TeamName}).Create(d) // no team has this number
	return err
}

// MaxLinked is the maximum number of shifts that one request may make. It allows more than two a day for a year.
const MaxLinked = 1000

// LinkedCreation returns an edit that adds several shifts, at least one, with a common link id.
func (f Finder) LinkedCreation(ctx context.Context, by editing.Access, drafts []editing.ShiftRequest, body json.RawMessage) (e editing.Edit, err error) {
	for i := range drafts {
		if drafts[i].User, err = f.UserID(ctx, drafts[i].UserName); err != nil {
			return e, err
		}
	}
	team, err := f.ActiveTeam(ctx, drafts[0].TeamName)
	if err != nil {
		return e, fault.When(err, fault.NotFound, fault.Titled(BadEvent, "Invalid team name: "+drafts[0].TeamName))
	}
	missing, err := f.properRoles(ctx, drafts)
	if err != nil {
		return e, err
	}
	if missing == nil {
		if missing, err = f.foreignSchedule(ctx, team, drafts...); err != nil {
			return e, err
		}
	}
	return editing.Edit{Access: by, Selection: editing.Selection{TeamID: team.ID}, Body: body,
		Change: editing.CreateLinked{Shifts: drafts, Refusal: missing}}, nil
}

// properRoles replaces the roles of drafts by their stored spelling. It returns the refusal of a role that does not
// exist.
func (f Finder) properRoles(ctx context.Context, drafts []editing.ShiftRequest) (refusal, err error) {
	proper := map[string]string{}
	for i := range drafts {
		d := &drafts[i]
		if _, done := proper[d.Role]; !done {
			name, known, err := f.RoleName(ctx, d.Role)
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

// Wanted is what an edit changes of shifts. nil leaves a field as it is.
type Wanted struct {
	Start, End       *time.Time
	Role, User, Note *string
}

func inSeconds(at *time.Time) *time.Time {
	if at == nil {
		return nil
	}
	whole := whole(*at)
	return &whole
}

// patch finds the role and the person.
func (f Finder) patch(ctx context.Context, w Wanted) (editing.Patch, error) {
	p := editing.Patch{Start: inSeconds(w.Start), End: inSeconds(w.End), Note: w.Note}
	if w.Role != nil {
		proper, known, err := f.RoleName(ctx, *w.Role)
		if err != nil {
			return p, err
		}
		if !known {
			return p, Integrity(`role "` + *w.Role + `" not found`)
		}
		p.Role = &proper
	}
	if w.User != nil {
		id, err := f.UserID(ctx, *w.User)
		if err != nil {
			return p, err
		}
		p.User = &id
	}
	return p, nil
}

// Change returns an edit that changes one shift, or with a link all its shifts. The zero value of link is none.
func (f Finder) Change(ctx context.Context, by editing.Access, id oncall.ShiftID, link string, w Wanted, body json.RawMessage) (editing.Edit, error) {
	p, err := f.patch(ctx, w)
	if err != nil {
		return editing.Edit{}, err
	}
	return f.about(ctx, by, chosen(id, link), editing.Modify{Patch: p, Linked: link != ""}, body)
}

// Deletion returns an edit that deletes one shift, or with a link all its shifts.
func (f Finder) Deletion(ctx context.Context, by editing.Access, id oncall.ShiftID, link string) (editing.Edit, error) {
	return f.about(ctx, by, chosen(id, link), editing.Remove{Linked: link != ""}, nil)
}

func chosen(id oncall.ShiftID, link string) editing.Selection {
	if link != "" {
		return editing.Selection{Links: []string{link}}
	}
	return editing.Selection{IDs: []oncall.ShiftID{id}}
}

// about returns an edit of selected shifts.
func (f Finder) about(ctx context.Context, by editing.Access, c editing.Selection, change editing.Change, body json.RawMessage) (editing.Edit, error) {
	rows, err := f.ShiftRows(ctx, c)
	switch change.(type) {
	case editing.Exchange, editing.Override:
		by.Named = false
	}
	return editing.Edit{Access: by, Selection: c, Change: change, Rows: rows, Body: body}, err
}

// Swapping returns an edit that exchanges the people of two sides. With fromNow, the past part of a running shift keeps
// its person.
func (f Finder) Swapping(ctx context.Context, by editing.Access, sides [2]editing.SideRef, fromNow bool, body json.RawMessage) (editing.Edit, error) {
	var c editing.Selection
	for _, side := range sides {
		if side.Link != "" {
			c.Links = append(c.Links, side.Link)
		} else {
			c.IDs = append(c.IDs, side.ID)
		}
	}
	return f.about(ctx, by, c, editing.Exchange{Sides: sides, FromNow: fromNow}, body)
}

// Overriding returns an edit that puts a substitute on call for a part of some shifts.
func (f Finder) Overriding(ctx context.Context, by editing.Access, ids []oncall.ShiftID, name string, in oncall.Span, body json.RawMessage) (editing.Edit, error) {
	invalid := fault.New(fault.Invalid, "Invalid name or list of events")
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	person, err := f.People.ByName(ctx, name)
	if fault.Is(err, fault.NotFound) || err == nil && len(ids) == 0 {
		err = invalid
	}
	if err != nil {
		return editing.Edit{}, err
	}
	e, err := f.about(ctx, by, editing.Selection{IDs: ids}, editing.Override{Start: in.Start, End: in.End, Substitute: person}, body)
	if err == nil && len(e.Rows) == 0 {
		err = invalid
	}
	return e, err
}

// newLink returns 32 random hexadecimal digits.
func newLink() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // crypto/rand never fails
	return hex.EncodeToString(b)
}
