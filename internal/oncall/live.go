package oncall

import (
	"context"
	"time"
)

// CalendarStore reads calendars from storage. Teams are named by Team.ID; those that do not exist are missing from the
// answer. It is called from many goroutines at once.
type CalendarStore interface {
	// CalendarVersions returns a number for each team that differs from the last one whenever anything its TeamCalendar is
	// made of has changed: shifts, subscriptions, and the shifts of the teams it subscribes to.
	CalendarVersions(ctx context.Context, teams []int64) (map[int64]int64, error)
	// TeamCalendars returns the calendars of teams in the window [from, to), each with its version as of that read.
	TeamCalendars(ctx context.Context, teams []int64, from, to time.Time) (map[int64]VersionedCalendar, error)
}

// VersionedCalendar is a calendar and its version. A calendar read later than its version is harmless, the reverse is not:
// read both in one snapshot, or the version first.
type VersionedCalendar struct {
	*TeamCalendar
	Version int64
}
