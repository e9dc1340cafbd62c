package oncall

import (
	"cmp"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/users"
)

// ShiftID is a shift's public number (wire: event id).
type ShiftID int64

// ScheduleID is a schedule's public number.
type ScheduleID int64

// Roles with a meaning of their own. All other roles are only names.
const (
	RolePrimary     = "primary"
	RoleSecondary   = "secondary"
	RoleShadow      = "shadow"
	RoleVacation    = "vacation"    // not on call, and away for every team
	RoleUnavailable = "unavailable" // not on call, and away for every team
)

// OnDuty reports whether a holder of the role is on call: not for vacation and unavailable.
func OnDuty(role string) bool { return role != RoleVacation && role != RoleUnavailable }

// Shift says that a person holds a role of a team from Start until, not including, End. Oncall's wire calls it event.
type Shift struct {
	ID     ShiftID // 0 = not stored yet
	TeamID int64   // Team.ID, the internal number
	Role   string
	User   users.ID
	Start  time.Time // whole seconds
	End    time.Time
	// Schedule made the shift; 0 = made by hand. Schedules may be deleted; their shifts stay.
	Schedule ScheduleID
	// Covers is the schedule of the shift that this one overrides, or of which this one is a part; 0 = none. On the
	// wire only for an undo.
	Covers ScheduleID
	Link   string // 32 hex digits shared by shifts that were made together; "" = alone
	Note   string
	// RemainsOf is the stored shift of which this one, not stored yet, is a remaining part. Feeds show both as one
	// event.
	RemainsOf ShiftID
	// Edited: changed by hand since the schedule made it. Populate works around such shifts.
	Edited bool
}

// At reports whether the shift is running at t.
func (s Shift) At(t time.Time) bool { return !t.Before(s.Start) && t.Before(s.End) }

// Overlaps reports whether the shift and [start, end) share an instant.
func (s Shift) Overlaps(start, end time.Time) bool { return s.Start.Before(end) && start.Before(s.End) }

// HandMade reports whether a person made or changed the shift. Populate does not delete such shifts.
func (s Shift) HandMade() bool { return s.Schedule == 0 || s.Edited }

// BlocksSchedule reports whether populate of the schedule must work around the shift.
func (s Shift) BlocksSchedule(id ScheduleID) bool {
	return id != 0 && (s.Schedule == id && s.Edited || s.Covers == id)
}

// CompareShifts orders by start, then id: the order of every list of shifts (docs/reference/oncall-v0.md 1).
func CompareShifts(a, b Shift) int {
	return cmp.Or(a.Start.Compare(b.Start), cmp.Compare(a.ID, b.ID))
}

// SortShifts sorts by start, then id.
func SortShifts(shifts []Shift) { slices.SortStableFunc(shifts, CompareShifts) }

// FirstShift returns the first of shifts, which must not be empty, by start.
func FirstShift(shifts []Shift) Shift { return slices.MinFunc(shifts, CompareShifts) }

// SortedShifts returns a copy of shifts by start, then id.
func SortedShifts(shifts []Shift) []Shift {
	out := slices.Clone(shifts)
	SortShifts(out)
	return out
}

// Extent returns the earliest start and the latest end of shifts.
func Extent(shifts []Shift) (start, end time.Time) {
	start = FirstShift(shifts).Start
	end = slices.MaxFunc(shifts, func(a, b Shift) int { return cmp.Compare(a.End.Unix(), b.End.Unix()) }).End
	return start, end
}

// Origin returns the schedule of the original shift, also for a part or an override of it; 0 = none.
func (s Shift) Origin() ScheduleID {
	if s.Schedule != 0 {
		return s.Schedule
	}
	return s.Covers
}

// TeamRole is a role of a team, as the object of a subscription.
type TeamRole struct {
	TeamID int64
	Role   string
}

// Absence is a stretch in which a person takes no shift, from a recurring unavailability. Vacations that are shifts
// (role vacation or unavailable) need no Absence.
type Absence struct {
	User       users.ID
	Start, End time.Time
	Reason     string
}

// Changes are what an edit or a populate changes in a calendar. Storage applies them in one transaction.
type Changes struct {
	Add    []Shift // ID 0, by start
	Update []Update
	Delete []Shift
	// Notices are the notices of the changes (docs/reference/oncall-v0.md 7).
	Notices []Notice
}

// Update is a shift before and after a change; ID and TeamID stay.
type Update struct{ Before, After Shift }

// Empty reports whether nothing changes.
func (c Changes) Empty() bool { return len(c.Add)+len(c.Update)+len(c.Delete) == 0 }

// Apply returns shifts after the changes, by start. It does not change its argument. Added shifts have ID 0.
func (c Changes) Apply(shifts []Shift) []Shift {
	after := map[ShiftID]Shift{}
	for _, u := range c.Update {
		after[u.Before.ID] = u.After
	}
	gone := map[ShiftID]bool{}
	for _, s := range c.Delete {
		gone[s.ID] = true
	}
	out := make([]Shift, 0, len(shifts)+len(c.Add))
	for _, s := range shifts {
		if gone[s.ID] {
			continue
		}
		if u, ok := after[s.ID]; ok && s.ID != 0 {
			s = u
		}
		out = append(out, s)
	}
	out = append(out, c.Add...)
	SortShifts(out)
	return out
}
