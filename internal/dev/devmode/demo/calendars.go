package demo

import (
	"time"

	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/program/operator"
)

const (
	day  = 24 * time.Hour
	week = 7 * day
	// ahead is how many days in advance shifts are created.
	ahead = 42
)

// calendars returns the calendars of two teams: the demo team with a hand-off every Monday at nine, and a team with two
// rotations: one changes every twelve hours, one covers working hours only.
func calendars(now time.Time) []operator.NewCalendar {
	monday := []scheduling.Slot{{Start: day + 9*time.Hour, Duration: week}}
	// Monday at nine, two weeks before this week.
	start := oncall.LocalOf(now.UTC()).Sunday() - oncall.Local((2*week-day-9*time.Hour)/time.Second)
	return []operator.NewCalendar{
		{
			Team:   oncall.TeamSettings{Name: teamName, TimeZone: "UTC"},
			Admins: []string{User, "ana"}, Services: []string{"checkout", "search"}, Roster: "on call",
			Members: []string{User, "ana", "ben", "chloe"},
			Schedules: map[string]scheduling.ScheduleDraft{
				"primary":   {Algorithm: scheduling.Default, Threshold: ahead, Pattern: monday},
				"secondary": {Algorithm: scheduling.Default, Threshold: ahead, Pattern: monday},
			},
		},
		{
			Team: oncall.TeamSettings{Name: "storage", TimeZone: "Europe/Zurich", Email: "storage@example.com",
				Description: "Databases and disks"},
			Admins: []string{User}, Services: []string{"database"}, Roster: "storage", Members: []string{"ben",
				"chloe", "ana"},
			Schedules: map[string]scheduling.ScheduleDraft{
				"primary": {Name: "Half days", Algorithm: scheduling.ByRotation, Advanced: true, Threshold: ahead, Rotation: &scheduling.Rotation{Layers: []scheduling.Layer{{
					Name: "Half days", Start: start, Every: 1, Unit: scheduling.Days, HandOffs: []time.Duration{9 * time.Hour, 21 * time.Hour},
				}}}},
				"shadow": {Name: "Working hours", Algorithm: scheduling.ByRotation, Advanced: true, Threshold: ahead, Rotation: &scheduling.Rotation{Layers: []scheduling.Layer{{
					Name: "Working hours", Start: start, Every: 1, Unit: scheduling.Weeks, Restrict: []scheduling.Window{{
						Days: []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday,
							time.Friday}, From: 9 * time.Hour, To: 17 * time.Hour,
					}},
				}}}},
			},
		},
	}
}
