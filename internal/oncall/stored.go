package oncall

import (
	"time"

	"github.com/iris-oncall/iris/internal/users"
)

// StoredSchedule is a schedule with the names and numbers that people know.
type StoredSchedule struct {
	Schedule
	Team       string
	TeamNumber int64 // the team's number on the wire
	TimeZone   string
	RosterID   int64
	RosterName string
	Name       string // a rotation's, "" for Oncall's schedules
	Advanced   bool   // how the editor shows the pattern, nothing else
	OrderNames []string
}

// ScheduleDraft is what people decide of a schedule.
type ScheduleDraft struct {
	TeamID    int64
	RosterID  int64
	RoleID    int64
	Name      string
	Algorithm Algorithm
	Advanced  bool
	Threshold int
	Pattern   []Slot
	Rotation  *Rotation
	Order     []users.ID // nil = leave it as it is
}

// StoredAbsence is a person's recurring unavailability as it is kept.
type StoredAbsence struct {
	ID       int64
	UserName string
	TeamID   int64  // it counts in this team only; 0 = the person's own, which counts in every team
	SetBy    string // who entered it; "" = not known
	Recurring
}

// CountsIn reports whether schedules of a team heed the unavailability.
func (s StoredAbsence) CountsIn(team int64) bool { return s.TeamID == 0 || s.TeamID == team }

// NamedSwap is a swap request with the names that people know.
type NamedSwap struct {
	SwapRequest
	FromName, ToName, DecidedByName string
}

// HolidayCalendar is a team's holidays with the iCalendar text they came from.
type HolidayCalendar struct {
	Source     string
	UploadedBy string
	UploadedAt time.Time
	Days       []Holiday
}

// Holiday is a day with a name.
type Holiday struct {
	Day  Date
	Name string
}
