package scheduling

import (
	"time"

	"github.com/iris-oncall/iris/internal/kit/etag"
	"github.com/iris-oncall/iris/internal/oncall"
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
	Advanced   bool   // the editor shows the pattern in advanced mode; no other effect
	OrderNames []string
}

// ScheduleDraft is the part of a schedule that people edit.
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
	Order     []users.ID // nil = unchanged
}

// StoredAbsence is a person's recurring unavailability as stored.
type StoredAbsence struct {
	ID       int64
	UserName string
	TeamID   int64  // it counts in this team only; 0 = the person's own, which counts in every team
	SetBy    string // who entered it; "" = not known
	// Subscription is the subscribed calendar that it comes from; 0 = somebody entered it.
	Subscription int64
	Recurring
}

// CountsIn reports whether schedules of a team respect the unavailability.
func (s StoredAbsence) CountsIn(team int64) bool { return s.TeamID == 0 || s.TeamID == team }

// HolidayCalendar is a team's holidays with the iCalendar text they came from.
type HolidayCalendar struct {
	Source     string
	UploadedBy string
	UploadedAt time.Time
	Days       []Holiday
	LeftOut    []string // lines and events of the text that were not used, and why
}

// Holiday is a day with a name.
type Holiday struct {
	Day  oncall.Date
	Name string
}

// Tag identifies the state of a schedule's editable part: it changes with every edit, and not with a populate.
func (s StoredSchedule) Tag() string {
	d := s.Draft()
	d.Order = s.Order
	return etag.Of(d)
}

// Draft returns the editable part of the schedule, with its order unchanged.
func (s StoredSchedule) Draft() ScheduleDraft {
	return ScheduleDraft{
		TeamID: s.TeamID, RosterID: s.RosterID, RoleID: s.RoleOrder, Name: s.Name, Algorithm: s.Algorithm, Advanced: s.Advanced,
		Threshold: s.Threshold, Pattern: s.Pattern, Rotation: s.Rotation,
	}
}
