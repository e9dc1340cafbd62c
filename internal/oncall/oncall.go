package oncall

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/users"
)

// Team is a group of people who share being on call.
type Team struct {
	ID         int64 // internal number
	TargetID   int64 // public number as a target
	OncallID   int64 // number on Oncall's wire
	Name       string
	TimeZone   string
	Active     bool
	ManagerID  users.ID   // 0 = none
	DirectorID users.ID   // 0 = none
	Members    []users.ID // in fixed order
}

// Query asks for the people behind a role of a target.
type Query struct {
	Role     string
	TargetID int64
	// Name is used only in the texts of answers and errors.
	Name string
	// Turn and Round choose the member of a round-robin target: Turn is the number of the incident, Round counts the
	// earlier pages of the incident to the target. Other roles ignore both.
	Turn  int64
	Round int
	// OnlyShifts: the fixed order does not fill a gap in the calendar of an on-call role. It still answers for a role
	// that has no calendar, and while the calendar cannot be read.
	OnlyShifts bool
}

// Answer is the people found, and the rule that found them, as the timeline shows it. An empty Users means nobody.
type Answer struct {
	Users []users.ID
	Rule  string // e.g. "first of team demo's fixed order"
	// Gap: the calendar has shifts of the role, but none at this instant.
	Gap bool
}

// Calendar answers on-call roles of a team at an instant. LiveCalendar is the implementation for paging.
type Calendar interface {
	// OnCall returns who holds the role (without the "oncall-" prefix, in lower case) of the team at t. ok is false if
	// the calendar has no answer for that team and role. Then the caller uses the team's fixed order, and adds the
	// answer's Rule, if there is one, as the reason.
	OnCall(ctx context.Context, team Team, role string, t time.Time) (answer Answer, ok bool, err error)
	// NextOnCall returns who holds the role next: the first holder after t who does not hold it at t. ok is false if
	// the calendar has no such shift.
	NextOnCall(ctx context.Context, team Team, role string, t time.Time) (answer Answer, ok bool, err error)
}
