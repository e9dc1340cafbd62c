package editing

import (
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// defaultGrace is how long after its start a shift may still be edited by every member of the team.
const defaultGrace = 24 * time.Hour

// Membership is what editing needs to know of a team.
type Membership struct {
	TeamID  int64
	Name    string
	Members map[users.ID]bool // administrators and everybody in a roster; false = switched off
}

// refuses returns why a person cannot be put on call; "" = the person can. For a person outside the team it returns the
// text stranger.
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

// Refusals are the faults of a caller who may not do what members and administrators of the team may; nil = the caller
// may. Package auth decides them. Each edit checks them at the place where the wire expects the check.
type Refusals struct{ Member, Admin error }

// Editor edits the calendar of one team: as one caller, at one instant. Its methods are pure. They return the changes
// to store, or a fault with the title and description of the wire (docs/reference/oncall-v0.md 6). A shift is "past" if
// it began more than Grace ago.
type Editor struct {
	Now      time.Time
	Grace    time.Duration // 0 = defaultGrace; negative = none
	Team     Membership
	Refusals Refusals
	Link     string // 32 new hex digits, for shifts that are made together
}

func (d Editor) past(t time.Time) bool {
	grace := d.Grace
	if grace == 0 {
		grace = defaultGrace
	}
	return t.Before(d.Now.Add(-max(grace, 0)))
}

// ShiftRequest is a shift as requested.
type ShiftRequest struct {
	Start, End time.Time
	Role       string
	User       users.ID // 0 = no such user
	UserName   string   // for the text of a refusal
	TeamName   string   // as requested; only CreateLinked reads it
	Schedule   oncall.ScheduleID
	Note       string
}

// Patch is a change of a shift; nil leaves a field unchanged.
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

// Create makes a shift by hand (docs/reference/oncall-v0.md 6.1). The caller refuses roles and teams that do not exist.
func (d Editor) Create(n ShiftRequest) (oncall.Changes, error) {
	if err := d.times(n); err != nil {
		return oncall.Changes{}, err
	}
	if d.Refusals.Member != nil {
		return oncall.Changes{}, d.Refusals.Member
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

// shift returns the requested shift. It counts as hand-made even if the request names a schedule.
func (d Editor) shift(n ShiftRequest) oncall.Shift {
	return oncall.Shift{
		TeamID: d.Team.TeamID, Role: n.Role, User: n.User, Start: n.Start, End: n.End,
		Schedule: n.Schedule, Note: n.Note, Edited: n.Schedule != 0,
	}
}

// Edit changes one shift and removes it from its link (docs/reference/oncall-v0.md 6.2). Every member may shorten or
// prolong a running shift; all other changes of the past need an administrator.
func (d Editor) Edit(s oncall.Shift, p Patch) (oncall.Changes, error) {
	after := p.apply(s)
	if !after.Start.Before(after.End) {
		return oncall.Changes{}, fault.Titled(badUpdate, "Event must start before it ends")
	}
	if d.past(s.Start) || d.past(after.Start) {
		sameButEnd := after.Role == s.Role && after.User == s.User && after.Start.Equal(s.Start)
		if !(sameButEnd && after.End.After(d.Now)) && d.Refusals.Admin != nil {
			return oncall.Changes{}, d.Refusals.Admin
		}
	}
	if d.Refusals.Member != nil {
		return oncall.Changes{}, d.Refusals.Member
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

// newHolder refuses a patch that gives shifts to a person who cannot be put on call. A person who is switched off may
// keep a shift.
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
	n := oncall.Notice{Kind: oncall.ShiftEdited, Roles: []string{before.Role}, Users: []users.ID{before.User},
		Shifts: []oncall.Shift{before, after}}
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
	if d.Refusals.Member != nil {
		return oncall.Changes{}, d.Refusals.Member
	}
	if d.past(s.Start) {
		return oncall.Changes{}, fault.Titled(badUpdate, "Deleting events in the past not allowed")
	}
	return oncall.Changes{Delete: []oncall.Shift{s}, Notices: []oncall.Notice{deleted(s)}}, nil
}

func deleted(s oncall.Shift) oncall.Notice {
	return oncall.Notice{Kind: oncall.ShiftDeleted, Roles: []string{s.Role}, Users: []users.ID{s.User},
		Shifts: []oncall.Shift{s}}
}
