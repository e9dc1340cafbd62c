package oncall

import (
	"time"

	"github.com/iris-oncall/iris/internal/users"
)

// FeedHistory is how long past shifts stay in calendar feeds. Programs that subscribe to a feed drop the events that it
// no longer shows.
const FeedHistory = 90 * 24 * time.Hour

// FeedQuery selects the shifts of a calendar feed: the shifts of one person or one team that end after Since.
type FeedQuery struct {
	IcalSubject
	Subscribed    bool // a team's feed also shows the shifts that it subscribes to
	Since         time.Time
	Roles         []string // nil = all
	ExcludedTeams []string
}

// FeedShift is a shift as calendar feeds show it.
type FeedShift struct {
	ShiftRow
	// Feed identifies the shift in feeds. It stays the same while the shift is edited, cut or handed over. The ID of
	// Shift is 0: feeds do not need it.
	Feed int64
	// Sequence grows with every change of the visible content; Changed is when it last did.
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
	Subscribed       bool    // shifts that Teams subscribe to are included
	Limit            int     // 0 = the maximum
	NotIDs           []int64 // values to exclude, like the next two
	NotStart, NotEnd []int64
}

// Range is a range of whole numbers, both ends included; nil = open.
type Range struct{ Min, Max *int64 }

// ShiftRow is a shift with the names that people know.
type ShiftRow struct {
	Shift
	Team     string
	UserName string
	FullName string
}

// Event returns the shift in the form of Oncall's events, for its API and the audit log.
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
