package scheduling

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// office is a rotation of one week during office hours, populated until the day made.
func office(t testing.TB, zone *time.Location, made string, days ...time.Weekday) Schedule {
	return Schedule{
		ID: 6, TeamID: 7, Zone: zone, Role: oncall.RolePrimary, Algorithm: ByRotation, Threshold: 21, Roster: roster(1,
			2),
		Progress: Progress{Last: on(t, zone, made)},
		Rotation: &Rotation{Layers: []Layer{{
			Start: oncall.LocalOf(on(t, time.UTC,
				"2026-10-05 09:00")), Every: 1, Unit: Weeks, Members: []LayerMember{{User: 1}, {User: 2}},
			Restrict: []Window{{Days: days, From: 9 * time.Hour, To: 17 * time.Hour}},
		}}},
	}
}

func spansOf(gaps []Gap, zone *time.Location) []string {
	out := []string{}
	for _, g := range gaps {
		out = append(out, g.Start.In(zone).Format("01-02 15:04")+" - "+g.End.In(zone).Format("01-02 15:04")+" "+g.Role+
			" "+string(g.Kind))
	}
	return out
}

func TestGapsAreHoursThatTheTeamWantsCoveredAndNobodyHolds(t *testing.T) {
	t.Parallel()
	zurich := mustZone(t, "Europe/Zurich")
	at := func(s string) time.Time { return on(t, zurich, s) }
	limited := office(t, zurich, "2026-11-25 00:00", time.Monday, time.Tuesday, time.Wednesday)
	nights := office(t, zurich, "2026-11-27 00:00")
	nights.Rotation.Layers[0].Restrict = []Window{{From: 17 * time.Hour, To: 9 * time.Hour}}
	whole := office(t, zurich, "2026-11-27 00:00")
	whole.Rotation.Layers[0].Restrict = nil
	idle := whole
	idle.Threshold = 0
	weeks := weekly(zurich, Default)
	weeks.Progress.Last = at("2026-11-22 00:00") // hand-offs are on Mondays at 09:00: populated until the 30th
	monday := shift(1, oncall.RolePrimary, 1, at("2026-11-23 09:00"), at("2026-11-23 17:00"))
	for name, tc := range map[string]struct {
		coverage Coverage
		roles    []string
		to       string
		want     []string
	}{
		"a limited rotation wants its hours, made or not": {
			coverage: Coverage{Schedules: []Schedule{limited}},
			want: []string{"11-24 09:00 - 11-24 17:00 primary nobody",
				"11-25 09:00 - 11-25 17:00 primary not-populated"},
		},
		"limited ones together": {
			coverage: Coverage{Schedules: []Schedule{limited, nights}}, to: "2026-11-24 12:00",
			want: []string{"11-23 00:00 - 11-23 09:00 primary nobody", "11-23 17:00 - 11-24 12:00 primary nobody"},
		},
		"one without limits wants it always": {
			coverage: Coverage{Schedules: []Schedule{limited, whole}}, to: "2026-11-23 20:00",
			want: []string{"11-23 00:00 - 11-23 09:00 primary nobody", "11-23 17:00 - 11-23 20:00 primary nobody"},
		},
		"but not one that makes nothing": {
			coverage: Coverage{Schedules: []Schedule{limited, idle}}, to: "2026-11-24 00:00", want: []string{},
		},
		"holidays that a limited rotation skips": {
			coverage: Coverage{Schedules: []Schedule{func() Schedule {
				s := office(t, zurich, "2026-11-27 00:00", time.Tuesday)
				s.Rotation.Layers[0].Holidays = SkipHolidays
				return s
			}()}, Holidays: map[oncall.Date]bool{oncall.LocalOf(at("2026-11-24 00:00")).Date(): true}},
			want: []string{},
		},
		"a whole weekly schedule": {
			coverage: Coverage{Schedules: []Schedule{weeks}}, to: "2026-12-02 00:00",
			want: []string{"11-23 00:00 - 11-23 09:00 primary nobody", "11-23 17:00 - 11-30 09:00 primary nobody",
				"11-30 09:00 - 12-02 00:00 primary not-populated"},
		},
		"a weekly schedule of some hours": {
			coverage: Coverage{Schedules: []Schedule{func() Schedule {
				s := weeks
				s.Pattern = []Slot{{Start: 33 * time.Hour, Duration: 8 * time.Hour},
					{Start: 57 * time.Hour, Duration: 8 * time.Hour}}
				return s
			}()}}, want: []string{"11-24 09:00 - 11-24 17:00 primary nobody"},
		},
		"who was never populated": {
			coverage: Coverage{Schedules: []Schedule{func() Schedule { s := limited; s.Progress = Progress{}; return s }()}}, to: "2026-11-25 00:00",
			want: []string{"11-24 09:00 - 11-24 17:00 primary not-populated"},
		},
		"the team says always": {
			coverage: Coverage{Schedules: []Schedule{limited},
				Rules: []CoverRule{{Role: oncall.RolePrimary, Cover: CoverAlways}}}, to: "2026-11-24 00:00",
			want: []string{"11-23 00:00 - 11-23 09:00 primary nobody", "11-23 17:00 - 11-24 00:00 primary nobody"},
		},
		"the team says never": {
			coverage: Coverage{Schedules: []Schedule{whole},
				Rules: []CoverRule{{Role: oncall.RolePrimary, Cover: CoverNever}}},
			roles: []string{oncall.RolePrimary}, want: []string{},
		},
		"the team says when": {
			coverage: Coverage{Schedules: []Schedule{whole},
				Rules: []CoverRule{{Role: oncall.RolePrimary, Cover: CoverHours,
					Hours: []Window{{From: 8 * time.Hour, To: 10 * time.Hour}}}}},
			to:   "2026-11-24 09:00",
			want: []string{"11-23 08:00 - 11-23 09:00 primary nobody", "11-24 08:00 - 11-24 09:00 primary nobody"},
		},
		"a wish for a role without schedules": {
			coverage: Coverage{Rules: []CoverRule{{Role: oncall.RoleSecondary,
				Cover: CoverAlways}}}, to: "2026-11-23 01:00",
			want: []string{"11-23 00:00 - 11-23 01:00 secondary nobody"},
		},
		"who is switched off covers nothing": {
			coverage: Coverage{Schedules: []Schedule{limited}, Off: map[users.ID]bool{1: true}}, to: "2026-11-24 00:00",
			want: []string{"11-23 09:00 - 11-23 17:00 primary nobody"},
		},
		"a role that is asked for": {coverage: Coverage{}, roles: []string{oncall.RolePrimary}, to: "2026-11-23 10:00",
			want: []string{"11-23 00:00 - 11-23 09:00 primary nobody"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := tc.coverage
			c.Zone = zurich
			to := at("2026-11-26 00:00")
			if tc.to != "" {
				to = at(tc.to)
			}
			roles := tc.roles
			if roles == nil {
				roles = c.Roles()
			}
			calendar := oncall.NewTeamCalendar(7, at("2026-11-23 00:00"), to, []oncall.Shift{monday})
			require.Equal(t, tc.want, spansOf(c.Gaps(calendar, at("2026-11-23 00:00"), to, roles...), zurich))
		})
	}
}

// A schedule whose people are all available leaves no gap in the time that it was populated for. All later time is not
// populated yet.
func TestAPopulatedScheduleHasNoGaps(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		zone := mustZone(t, rapid.SampledFrom([]string{"Europe/Zurich", "America/New_York", "Asia/Kolkata",
			"Australia/Lord_Howe"}).Draw(rt, "zone"))
		s := office(t, zone, "2026-10-01 00:00")
		s.Progress = Progress{}
		from, to := rapid.IntRange(0, 23).Draw(rt, "from"), rapid.IntRange(1, 24).Draw(rt, "to")
		s.Rotation.Layers[0].Restrict = []Window{{From: time.Duration(from) * time.Hour,
			To: time.Duration(to) * time.Hour}}
		if rapid.Bool().Draw(rt, "weekly") {
			s = weekly(zone, Default)
			s.Roster = roster(1, 2)
			s.Pattern = []Slot{{Start: time.Duration(from) * time.Hour, Duration: time.Duration(to) * time.Hour}}
		}
		now := on(t, zone, "2026-10-10 00:00").Add(time.Duration(rapid.IntRange(0, 60*24).Draw(rt,
			"hours")) * time.Hour)
		plan := Fill(now, []Schedule{s}, Calendars{NewLink: links()})[0]
		s.Progress = plan.Progress
		end := now.Add(60 * 24 * time.Hour)
		gaps := Coverage{Zone: zone, Schedules: []Schedule{s}}.Gaps(oncall.NewTeamCalendar(7, now, end, plan.Add), now,
			end, oncall.RolePrimary)
		for _, g := range gaps {
			require.Equal(rt, GapNotPopulated, g.Kind, "%v", g)
		}
		require.NotEmpty(rt, gaps)
	})
}

func TestCoverRulesAreChecked(t *testing.T) {
	t.Parallel()
	hours := []Window{{From: 9 * time.Hour, To: 17 * time.Hour}}
	require.NoError(t, CoverRule{Role: oncall.RolePrimary, Cover: CoverHours, Hours: hours}.Check())
	requireField(t, "cover", CoverRule{Role: oncall.RolePrimary, Cover: "sometimes"}.Check())
	requireField(t, "role", CoverRule{Role: oncall.RoleVacation, Cover: CoverAlways}.Check())
	requireField(t, "hours", CoverRule{Role: oncall.RolePrimary, Cover: CoverHours}.Check())
	requireField(t, "hours", CoverRule{Role: oncall.RolePrimary, Cover: CoverAlways, Hours: hours}.Check())
	requireField(t, "hours", CoverRule{Role: oncall.RolePrimary, Cover: CoverHours,
		Hours: []Window{{From: 30 * time.Hour}}}.Check())
}
