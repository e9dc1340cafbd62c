package oncall

import (
	"time"

	"github.com/iris-oncall/iris/internal/users"
)

// FeedHistory is for how long past shifts stay in calendar feeds: calendars that subscribe to one forget what it does not show.
const FeedHistory = 90 * 24 * time.Hour

// FeedQuery selects what a calendar feed shows: the shifts of one person or one team that end after Since.
type FeedQuery struct {
	IcalSubject
	Subscribed    bool // a team's feed shows the shifts that it subscribes to, too
	Since         time.Time
	Roles         []string // nil = all
	ExcludedTeams []string
}

// FeedShift is a shift as calendar feeds show it.
type FeedShift struct {
	ShiftRow
	// Feed stays the same while a shift is edited, cut or handed over. Its ID is 0: feeds do not need it.
	Feed int64
	// Sequence grows with every change of what is shown; Changed is when that was.
	Sequence int
	Changed  time.Time
	// Cancelled: the shift no longer belongs to the person or team of the feed.
	Cancelled bool
}

// ShiftQuery selects shifts. Bounds are inclusive Unix seconds; nil does not narrow.
type ShiftQuery struct {
	IDs              Range
	Numbers          []ShiftID // nil = all
	Start, End       Range
	Teams            []int64    // internal ids; nil = all
	Users            []users.ID // nil = all
	Roles            []string   // nil = all
	Link             *string
	Schedule         *ScheduleID
	Subscribed       bool // the shifts that Teams subscribe to belong to them, too
	Limit            int  // 0 = as many as are read at most
	NotIDs           []int64
	NotStart, NotEnd []int64
}

// Range is a stretch of whole numbers, both ends included; nil = open.
type Range struct{ Min, Max *int64 }

// ShiftRow is a shift with the names that people know.
type ShiftRow struct {
	Shift
	Team     string
	UserName string
	FullName string
}

// Event returns the shift in the form of Oncall's events, which its API and the audit log share.
func (s ShiftRow) Event() map[string]any {
	text := func(v string) *string {
		if v == "" {
			return nil
		}
		return &v
	}
	e := map[string]any{
		"id": s.ID, "start": s.Start.Unix(), "end": s.End.Unix(), "role": s.Role, "team": s.Team, "user": s.UserName,
		"full_name": text(s.FullName), "schedule_id": nil, "link_id": text(s.Link), "note": text(s.Note),
	}
	if s.Schedule != 0 {
		e["schedule_id"] = s.Schedule
	}
	return e
}
