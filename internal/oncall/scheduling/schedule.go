package scheduling

import (
	"time"

	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// Algorithm chooses the person of a period.
type Algorithm string

// The algorithms. The first four are Oncall's (docs/reference/oncall-v0.md 5.3, 5.4). The last is ours: the turns of a
// Rotation.
const (
	Default        Algorithm = "default"
	RoundRobin     Algorithm = "round-robin"
	NoSkipMatching Algorithm = "no-skip-matching"
	MultiTeam      Algorithm = "multi-team"
	ByRotation     Algorithm = "rotation"
)

// DefaultThreshold is how many days ahead a schedule is populated unless it sets its own threshold.
const DefaultThreshold = 21

// Slot is one shift of Oncall's weekly pattern: Start after Sunday 00:00 on the team's clock, possibly in a later week.
type Slot struct{ Start, Duration time.Duration }

// Member is a person of a roster, in the roster's order.
type Member struct {
	User       users.ID
	InRotation bool
	Active     bool // the user is active
}

// Schedule makes shifts of a role, for the people of a roster. It has either a weekly Pattern, for Oncall's algorithms,
// or a Rotation (algorithm ByRotation).
type Schedule struct {
	ID        oncall.ScheduleID
	TeamID    int64
	Zone      *time.Location // the team's scheduling zone
	Role      string
	RoleOrder int64      // the role's number: of two periods that begin at the same time, the one with the lower number is filled first
	Roster    []Member   // by roster priority, then user
	Order     []users.ID // round-robin's order, by priority, then user
	Algorithm Algorithm
	Pattern   []Slot
	Rotation  *Rotation
	Threshold int // days ahead
	Progress  Progress
}

// Progress is how far a schedule was populated.
type Progress struct {
	// Last is the beginning of the last period that was made (wire: last_epoch_scheduled); with a Rotation, the end of
	// the calendar that was made. Zero = never.
	Last time.Time
	// LastUser had the last turn (round-robin). 0 = nobody yet.
	LastUser users.ID
	// Unfilled are the beginnings of periods that nobody could take. They are tried again until they are over.
	// Meanwhile the team is warned.
	Unfilled []time.Time
}

// Unfilled is a stretch for which nobody could be found.
type Unfilled struct {
	Schedule   oncall.ScheduleID
	Role       string
	Period     time.Time // the beginning of its period
	Start, End time.Time
	Why        string // e.g. "everybody in rotation is busy or away"
}

// Warning is a future span in which nobody is on call. The team gets one notice of it.
type Warning struct {
	Kind  string // gap: the calendar is empty; unfilled: a schedule found nobody
	Role  string
	Since time.Time // identifies the warning among those of its kind and role
	oncall.Span
	Why string // as shown to the team
}

// Result is what populating a schedule changes. Storage applies it, with the schedule's new Progress, in one
// transaction.
type Result struct {
	Schedule oncall.ScheduleID
	oncall.Changes
	// Kept are the hand-made shifts that populate did not replace.
	Kept     []oncall.Shift
	Unfilled []Unfilled
	Progress Progress
}

// Calendars is the input of populating besides the schedule.
type Calendars struct {
	// Shifts of the team, of teams it subscribes to, and of the roster's people on any team, at least from a rotation's
	// length before the first period until the threshold. Also the last shift of each person in the team and role, for
	// longestRested. In any order, without duplicates.
	Shifts     []oncall.Shift
	Subscribed []oncall.TeamRole
	Absences   []oncall.Absence
	// Holidays are days in the team's zone, for rotations that skip or only cover them.
	Holidays map[oncall.Date]bool
	// NewLink returns 32 new hex digits for shifts that belong together.
	NewLink func() string
}
