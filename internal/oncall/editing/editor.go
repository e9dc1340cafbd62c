package editing

import (
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// DefaultGrace is for how long after its start a shift may still be edited by anybody in the team.
const DefaultGrace = 24 * time.Hour

// Membership is what editing needs to know of a team.
type Membership struct {
	TeamID  int64
	Name    string
	Members map[users.ID]bool // of the membership rule: admins and everybody in a roster; false = switched off
}

// refuses says why a person cannot be put on call: not a member of the team (then it returns the text stranger), or
// deactivated. "" = the person can be.
func (c Membership) refuses(id users.ID, stranger string) string {
	active, member := c.Members[id]
	switch {
	case !member:
		return stranger
	case !active:
		return "the user is switched off and cannot be put on call"
	}
	return ""
}

// Permission is what the caller may do on the team, decided by internal/auth: nil or the fault to answer with. Edits ask
// at the place in the order of checks where the wire expects it.
type Permission struct{ Member, Admin error }

// Editor is where the calendar of a team is edited: who may do what, at which instant. Its methods are pure; they return
// what is to be stored, or a fault with the title and description of the wire (docs/reference/oncall-v0.md 6). A shift is "past" if it
// began longer than Grace ago.
type Editor struct {
	Now   time.Time
	Grace time.Duration // 0 = DefaultGrace; negative = none
	Team  Membership
	May   Permission
	Link  string // 32 fresh hex digits, for shifts that are made together
}

func (d Editor) past(t time.Time) bool {
	grace := d.Grace
	if grace == 0 {
		grace = DefaultGrace
	}
	return t.Before(d.Now.Add(-max(grace, 0)))
}

// ShiftRequest is a shift as somebody asks for it.
type ShiftRequest struct {
	Start, End time.Time
	Role       string
	User       users.ID // 0 = no such user
	UserName   string   // for the text of a refusal
	TeamName   string   // as asked for; only CreateLinked reads it
	Schedule   oncall.ScheduleID
	Note       string
}

// Patch is a change of a shift; nil leaves a field as it is.
type Patch struct {
	Start, End *time.Time
	Role       *string
	User       *users.ID // 0 = no such user
	Note       *string
}

func (p Patch) apply(s oncall.Shift) oncall.Shift {
	set(&s.Start, p.Start)
	set(&s.End, p.End)
	set(&s.Role, p.Role)
	set(&s.User, p.User)
	set(&s.Note, p.Note)
	return s
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

const (
	badEvent    = "Invalid event"
	badUpdate   = "Invalid event update"
	badSwap     = "Invalid event swap request"
	badOverride = "Invalid override request"
)

// Create makes a shift by hand (docs/reference/oncall-v0.md 6.1). Roles and teams that do not exist are the caller's to refuse.
func (d Editor) Create(n ShiftRequest) (oncall.Changes, error) {
	if err := d.times(n); err != nil {
		return oncall.Changes{}, err
	}
	if d.May.Member != nil {
		return oncall.Changes{}, d.May.Member
	}
	if why := d.Team.refuses(n.User, "User must be part of the team"); why != "" {
		return oncall.Changes{}, fault.Titled(badEvent, why)
	}
	s := d.shift(n)
	return oncall.Changes{Add: []oncall.Shift{s}, Notices: []oncall.Notice{oncall.ShiftAdded(s)}}, nil
}

func (d Editor) times(n ShiftRequest) error {
	switch {
	case d.past(n.Start):
		return fault.Titled(badEvent, "Creating events in the past not allowed")
	case !n.Start.Before(n.End):
		return fault.Titled(badEvent, "Event must start before it ends")
	}
	return nil
}

// shift is n as a shift. One that a caller ascribes to a schedule is hand-made all the same.
func (d Editor) shift(n ShiftRequest) oncall.Shift {
	return oncall.Shift{
		TeamID: d.Team.TeamID, Role: n.Role, User: n.User, Start: n.Start, End: n.End,
		Schedule: n.Schedule, Note: n.Note, Edited: n.Schedule != 0,
	}
}

// Edit changes one shift and takes it out of its link (docs/reference/oncall-v0.md 6.2). A running shift may be shortened or prolonged by
// any member; anything else about the past needs an admin.
func (d Editor) Edit(s oncall.Shift, p Patch) (oncall.Changes, error) {
	after := p.apply(s)
	if !after.Start.Before(after.End) {
		return oncall.Changes{}, fault.Titled(badUpdate, "Event must start before it ends")
	}
	if d.past(s.Start) || d.past(after.Start) {
		sameButEnd := after.Role == s.Role && after.User == s.User && after.Start.Equal(s.Start)
		if !(sameButEnd && after.End.After(d.Now)) && d.May.Admin != nil {
			return oncall.Changes{}, d.May.Admin
		}
	}
	if d.May.Member != nil {
		return oncall.Changes{}, d.May.Member
	}
	if err := d.newHolder(p, s); err != nil {
		return oncall.Changes{}, err
	}
	after.Link, after.Edited = "", true
	return oncall.Changes{
		Update:  []oncall.Update{{Before: s, After: after}},
		Notices: []oncall.Notice{edited(s, after)},
	}, nil
}

// newHolder refuses a patch that gives shifts to somebody who cannot have them. Those who are switched off may keep theirs.
func (d Editor) newHolder(p Patch, shifts ...oncall.Shift) error {
	if p.User == nil {
		return nil
	}
	_, member := d.Team.Members[*p.User]
	keeps := !slices.ContainsFunc(shifts, func(s oncall.Shift) bool { return s.User != *p.User })
	if why := d.Team.refuses(*p.User, "Event user must be part of the team"); why != "" && !(member && keeps) {
		return fault.Titled(badUpdate, why)
	}
	return nil
}

func edited(before, after oncall.Shift) oncall.Notice {
	n := oncall.Notice{Kind: oncall.ShiftEdited, Roles: []string{before.Role}, Users: []users.ID{before.User}, Shifts: []oncall.Shift{before, after}}
	if after.Role != before.Role {
		n.Roles = append(n.Roles, after.Role)
	}
	if after.User != before.User {
		n.Users = append(n.Users, after.User)
	}
	return n
}

// Delete removes a shift (docs/reference/oncall-v0.md 6.3).
func (d Editor) Delete(s oncall.Shift) (oncall.Changes, error) {
	if d.May.Member != nil {
		return oncall.Changes{}, d.May.Member
	}
	if d.past(s.Start) {
		return oncall.Changes{}, fault.Titled(badUpdate, "Deleting events in the past not allowed")
	}
	return oncall.Changes{Delete: []oncall.Shift{s}, Notices: []oncall.Notice{deleted(s)}}, nil
}

func deleted(s oncall.Shift) oncall.Notice {
	return oncall.Notice{Kind: oncall.ShiftDeleted, Roles: []string{s.Role}, Users: []users.ID{s.User}, Shifts: []oncall.Shift{s}}
}
