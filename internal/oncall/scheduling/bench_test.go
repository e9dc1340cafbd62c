package scheduling

import (
	"testing"
	"time"

	"github.com/iris-oncall/iris/internal/oncall"
)

var benchNow = time.Date(2026, 10, 19, 8, 0, 0, 0, time.UTC)

func twelve() []Member { return roster(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12) }

// aYear is the calendar of a team of 12 people for a year. The primary rotates weekly by Oncall's default algorithm.
// The secondary rotates daily, with a layer for office hours.
func aYear(b testing.TB) []oncall.Shift {
	zurich := mustZone(b, "Europe/Zurich")
	primary := weekly(zurich, Default)
	primary.Roster, primary.Threshold = twelve(), 365
	secondary := rotating(zurich, 365,
		Layer{Start: oncall.LocalDate(2026, 10, 19, 9*hour), Every: 1, Unit: Days,
			Members: members(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)},
		Layer{Start: oncall.LocalDate(2026, 10, 19, 9*hour), Every: 1, Unit: Weeks, Members: members(1, 2, 3),
			Restrict: []Window{{From: 9 * time.Hour, To: 17 * time.Hour}}})
	secondary.ID, secondary.Role, secondary.RoleOrder, secondary.Roster = 6, oncall.RoleSecondary, 2, twelve()
	var out []oncall.Shift
	for _, plan := range Fill(benchNow, []Schedule{primary, secondary}, Calendars{NewLink: links()}) {
		out = store(out, plan.Changes)
	}
	return out
}

// BenchmarkYearOfATeam makes a year's calendar of a team with 12 people and two roles.
func BenchmarkYearOfATeam(b *testing.B) {
	var made int
	for b.Loop() {
		made = len(aYear(b))
	}
	b.ReportMetric(float64(made), "shifts")
}

// BenchmarkOnCall resolves a role in a year's calendar.
func BenchmarkOnCall(b *testing.B) {
	c := oncall.NewTeamCalendar(7, benchNow, benchNow.AddDate(1, 0, 0), aYear(b))
	at := benchNow.AddDate(0, 7, 3)
	for b.Loop() {
		if len(c.OnCall(oncall.RoleSecondary, at)) != 1 {
			b.Fatal("nobody is on call")
		}
	}
}

// BenchmarkPopulateThousandSchedules populates 1,000 schedules of 12 people three weeks ahead. Half are Oncall's weekly
// pattern, half are daily rotations. Each team has shifts of a quarter of a year.
func BenchmarkPopulateThousandSchedules(b *testing.B) {
	zurich := mustZone(b, "Europe/Zurich")
	var known []oncall.Shift
	for i := range 90 {
		start := benchNow.AddDate(0, 0, i-90)
		known = append(known, shift(i+1, oncall.RolePrimary, 1+i%12, start, start.AddDate(0, 0, 1)))
	}
	daily := rotating(zurich, 21, Layer{Start: oncall.LocalDate(2026, 10, 19, 9*hour), Every: 1, Unit: Days,
		Members: members(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)})
	classic := weekly(zurich, Default)
	daily.Roster, classic.Roster, classic.Threshold = twelve(), twelve(), 21
	for b.Loop() {
		for i := range 1000 {
			s := daily
			if i%2 == 0 {
				s = classic
			}
			plan, err := Populate(benchNow, s, benchNow, Calendars{Shifts: known, NewLink: links()})
			if err != nil || len(plan.Add) == 0 {
				b.Fatal(plan, err)
			}
		}
	}
}
