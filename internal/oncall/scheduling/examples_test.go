package scheduling

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// weekly is a schedule of one shift a week, from Monday 09:00, for a (1), b (2) and c (3) of team 7.
func weekly(zone *time.Location, algorithm Algorithm) Schedule {
	return Schedule{
		ID: 5, TeamID: 7, Zone: zone, Role: oncall.RolePrimary, RoleOrder: 1, Roster: roster(1, 2,
			3), Order: []users.ID{1, 2, 3},
		Algorithm: algorithm, Pattern: []Slot{{Start: 33 * time.Hour, Duration: 7 * 24 * time.Hour}}, Threshold: 19,
	}
}

func shift(id int, role string, user int, start, end time.Time) oncall.Shift {
	return oncall.Shift{ID: oncall.ShiftID(id), TeamID: 7, Role: role, User: userID(user), Start: start, End: end}
}

// TestWorkedExamplesOfAlgorithms populates three weeks from Monday 2026-10-19, across the end of daylight-saving time
// in Zurich (10-25). Some examples are across its beginning (2026-03-29).
func TestWorkedExamplesOfAlgorithms(t *testing.T) {
	t.Parallel()
	zurich := mustZone(t, "Europe/Zurich")
	at := func(s string) time.Time { return on(t, zurich, s) }
	usual := []string{"10-19 09:00 - 10-26 09:00 a", "10-26 09:00 - 11-02 09:00 b", "11-02 09:00 - 11-09 09:00 c"}
	elsewhere := oncall.Shift{ID: 90, TeamID: 8, Role: oncall.RolePrimary, User: 1, Start: at("2026-10-20 00:00"),
		End: at("2026-10-21 00:00")}
	vacation := elsewhere
	vacation.Role = oncall.RoleVacation
	for name, tc := range map[string]struct {
		algorithm Algorithm
		edit      func(*Schedule)
		known     []oncall.Shift
		want      []string
		unfilled  []string
	}{
		"new people first, in the roster's order": {want: usual},
		"whose last shift ended longest ago": {
			known: []oncall.Shift{
				shift(1, oncall.RolePrimary, 1, at("2026-10-05 09:00"), at("2026-10-12 09:00")), shift(2,
					oncall.RolePrimary, 2, at("2026-10-12 09:00"), at("2026-10-19 09:00")),
				shift(3, oncall.RolePrimary, 3, at("2026-09-28 09:00"), at("2026-10-05 09:00")),
			},
			want: []string{"10-19 09:00 - 10-26 09:00 c", "10-26 09:00 - 11-02 09:00 a", "11-02 09:00 - 11-09 09:00 b"},
		},
		"a newcomer goes before those who had turns": {
			known: []oncall.Shift{shift(1, oncall.RolePrimary, 1, at("2026-10-05 09:00"), at("2026-10-12 09:00")),
				shift(3, oncall.RolePrimary, 3, at("2026-09-28 09:00"), at("2026-10-05 09:00"))},
			want: []string{"10-19 09:00 - 10-26 09:00 b", "10-26 09:00 - 11-02 09:00 c",
				"11-02 09:00 - 11-09 09:00 a"},
		},
		"on vacation, on any team": {known: []oncall.Shift{vacation},
			want: []string{"10-19 09:00 - 10-26 09:00 b", "10-26 09:00 - 11-02 09:00 a",
				"11-02 09:00 - 11-09 09:00 c"}},
		"unavailable blocks on any team, too": {
			known: []oncall.Shift{{ID: 90, TeamID: 8, Role: oncall.RoleUnavailable, User: 1,
				Start: at("2026-10-26 08:59"), End: at("2026-10-26 10:00")}},
			want: []string{"10-19 09:00 - 10-26 09:00 b", "10-26 09:00 - 11-02 09:00 c",
				"11-02 09:00 - 11-09 09:00 a"},
		},
		"on call for another team does not matter": {known: []oncall.Shift{elsewhere}, want: usual},
		"but it does to multi-team": {algorithm: MultiTeam, known: []oncall.Shift{elsewhere},
			want: []string{"10-19 09:00 - 10-26 09:00 b", "10-26 09:00 - 11-02 09:00 a",
				"11-02 09:00 - 11-09 09:00 c"}},
		"another role of the team does": {
			known: []oncall.Shift{shift(1, oncall.RoleShadow, 1, at("2026-10-20 00:00"), at("2026-10-21 00:00"))},
			want: []string{"10-19 09:00 - 10-26 09:00 b", "10-26 09:00 - 11-02 09:00 a",
				"11-02 09:00 - 11-09 09:00 c"},
		},
		"what ends at the beginning does not overlap": {
			known: []oncall.Shift{shift(1, oncall.RoleShadow, 1, at("2026-10-18 00:00"),
				at("2026-10-19 09:00"))}, want: usual,
		},
		"a shift made by hand for just this time is respected": {
			known: []oncall.Shift{shift(1, oncall.RolePrimary, 3, at("2026-10-19 09:00"), at("2026-10-26 09:00"))},
			want:  []string{"10-26 09:00 - 11-02 09:00 a", "11-02 09:00 - 11-09 09:00 b"},
		},
		"but not by no-skip-matching": {
			algorithm: NoSkipMatching, known: []oncall.Shift{shift(1, oncall.RolePrimary, 3, at("2026-10-19 09:00"),
				at("2026-10-26 09:00"))},
			want: []string{"10-19 09:00 - 10-26 09:00 a", "10-26 09:00 - 11-02 09:00 b", "11-02 09:00 - 11-09 09:00 a"},
		},
		"out of rotation, or inactive": {
			edit: func(s *Schedule) { s.Roster[0].InRotation, s.Roster[1].Active = false, false },
			want: []string{"10-19 09:00 - 10-26 09:00 c", "10-26 09:00 - 11-02 09:00 c", "11-02 09:00 - 11-09 09:00 c"},
		},
		"nobody is free": {
			edit: func(s *Schedule) { s.Roster = s.Roster[:1] }, known: []oncall.Shift{vacation},
			want:     []string{"10-26 09:00 - 11-02 09:00 a", "11-02 09:00 - 11-09 09:00 a"},
			unfilled: []string{whyAllBusy},
		},
		"nobody is in rotation": {
			edit: func(s *Schedule) { s.Roster = nil }, want: []string{}, unfilled: []string{whyNoRotation,
				whyNoRotation, whyNoRotation},
		},
		"round-robin starts with the first": {algorithm: RoundRobin, want: usual},
		"round-robin continues after the last person, also during a vacation": {
			algorithm: RoundRobin, known: []oncall.Shift{vacation,
				shift(1, oncall.RolePrimary, 3, at("2026-10-12 09:00"), at("2026-10-19 09:00"))}, want: usual,
		},
		"round-robin leaves out who is inactive": {
			algorithm: RoundRobin, edit: func(s *Schedule) { s.Roster[1].Active = false },
			want: []string{"10-19 09:00 - 10-26 09:00 a", "10-26 09:00 - 11-02 09:00 c", "11-02 09:00 - 11-09 09:00 a"},
		},
		"a person has all shifts of a period, each half of the day on the clock": {
			edit: func(s *Schedule) {
				s.Pattern = nil
				for i := range 7 {
					s.Pattern = append(s.Pattern, Slot{Start: time.Duration(i)*24*time.Hour + 20*time.Hour,
						Duration: 12 * time.Hour})
				}
				s.Threshold = 7
			},
			want: []string{"10-25 20:00 - 10-26 08:00 a", "10-26 20:00 - 10-27 08:00 a", "10-27 20:00 - 10-28 08:00 a",
				"10-28 20:00 - 10-29 08:00 a",
				"10-29 20:00 - 10-30 08:00 a", "10-30 20:00 - 10-31 08:00 a", "10-31 20:00 - 11-01 08:00 a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := weekly(zurich, Default)
			if tc.algorithm != "" {
				s.Algorithm = tc.algorithm
			}
			if tc.edit != nil {
				tc.edit(&s)
			}
			plan, err := Populate(at("2026-10-19 08:00"), s, at("2026-10-19 09:00"),
				Calendars{Shifts: tc.known, NewLink: links()})
			require.NoError(t, err)
			require.Equal(t, tc.want, lines(plan.Add, zurich))
			var why []string
			for _, u := range plan.Unfilled {
				why = append(why, u.Why)
			}
			require.Equal(t, tc.unfilled, why)
			require.Len(t, plan.Progress.Unfilled, 1+len(tc.unfilled),
				"the time before its first hand-off is left to Fill")
		})
	}
}

func TestAWeekIsAnHourShorterOrLongerWhenClocksChange(t *testing.T) {
	t.Parallel()
	zurich := mustZone(t, "Europe/Zurich")
	for start, hours := range map[string]float64{"2026-03-23 09:00": 167, "2026-10-19 09:00": 169, "2026-06-01 09:00": 168} {
		from := on(t, zurich, start)
		plan, err := Populate(from.Add(-time.Hour), weekly(zurich, Default), from, Calendars{NewLink: links()})
		require.NoError(t, err)
		require.Len(t, plan.Add, 3)
		require.InDelta(t, hours, plan.Add[0].End.Sub(plan.Add[0].Start).Hours(), 0)
		require.Equal(t, "Mon 09:00", plan.Add[1].Start.In(zurich).Format("Mon 15:04"))
	}
}

func TestPeriodsOfPatterns(t *testing.T) {
	t.Parallel()
	aDay := 24 * time.Hour
	for _, tc := range []struct {
		pattern []Slot
		weeks   int64
	}{
		{[]Slot{{0, 7 * aDay}}, 1},
		{[]Slot{{0, 14 * aDay}}, 2},
		{[]Slot{{aDay, aDay / 2}, {3 * aDay, aDay / 2}}, 1},
		{[]Slot{{0, 7*aDay + 50*time.Second}}, 2},
		{nil, 1},
	} {
		require.Equal(t, tc.weeks, periodWeeks(tc.pattern))
	}
	four := []Slot{{12 * time.Hour, 12 * time.Hour}, {0, 12 * time.Hour}, {24 * time.Hour, 12 * time.Hour},
		{36 * time.Hour, 12 * time.Hour}}
	require.Equal(t, []Slot{{0, 48 * time.Hour}}, MergeSlots(four))
	require.False(t, SimplePattern(four))
	require.True(t, SimplePattern([]Slot{{0, 14 * aDay}}))
	require.False(t, SimplePattern([]Slot{{0, aDay}}))
	require.True(t, SimplePattern(make12(7)))
	require.False(t, SimplePattern(make12(8)))
}

func make12(n int) []Slot {
	out := make([]Slot, n)
	for i := range out {
		out[i] = Slot{Start: time.Duration(i) * 24 * time.Hour, Duration: 12 * time.Hour}
	}
	return out
}

func TestFillContinuesAndRetriesUnfilledPeriods(t *testing.T) {
	t.Parallel()
	zurich := mustZone(t, "Europe/Zurich")
	now := on(t, zurich, "2026-10-21 12:00")
	s := weekly(zurich, Default)
	s.Roster = roster(1, 2)
	s.Threshold = 14
	plan := Fill(now, []Schedule{s}, Calendars{NewLink: links()})[0]
	require.Equal(t, []string{"10-19 09:00 - 10-26 09:00 a", "10-26 09:00 - 11-02 09:00 b",
		"11-02 09:00 - 11-09 09:00 a"}, lines(plan.Add, zurich),
		"the first run begins with the current week")
	require.Equal(t, on(t, zurich, "2026-11-01 00:00"), plan.Progress.Last)
	require.Empty(t, Fill(now.Add(time.Hour), []Schedule{with(s, plan)},
		Calendars{Shifts: store(nil, plan.Changes), NewLink: links()})[0].Add)

	// A week later b has left the roster and a is away. The new week stays unfilled and is tried again; then c takes
	// it.
	shifts := store(nil, plan.Changes)
	shifts = append(shifts, oncall.Shift{ID: 70, TeamID: 9, Role: oncall.RoleVacation, User: 1, Start: now,
		End: now.Add(40 * 24 * time.Hour)})
	s = with(s, plan)
	s.Roster = roster(1)
	now = now.Add(7 * 24 * time.Hour)
	plan = Fill(now, []Schedule{s}, Calendars{Shifts: shifts, NewLink: links()})[0]
	require.Empty(t, plan.Add)
	require.Equal(t, []Unfilled{{
		Schedule: 5, Role: oncall.RolePrimary, Period: on(t, zurich, "2026-11-08 00:00"), Why: whyAllBusy,
		Start: on(t, zurich, "2026-11-09 09:00"), End: on(t, zurich, "2026-11-16 09:00"),
	}}, plan.Unfilled)
	s = with(s, plan)
	plan = Fill(now, []Schedule{s}, Calendars{Shifts: shifts, NewLink: links()})[0]
	require.Len(t, plan.Unfilled, 1, "still an alert")
	s = with(s, plan)
	s.Roster = roster(1, 3)
	plan = Fill(on(t, zurich, "2026-11-10 00:00"), []Schedule{s}, Calendars{Shifts: shifts, NewLink: links()})[0]
	require.Equal(t, "11-10 00:00 - 11-16 09:00 c", lines(plan.Add, zurich)[0], "from now on, not in the past")
	require.Empty(t, plan.Progress.Unfilled)
}

func with(s Schedule, p Result) Schedule {
	s.Progress = p.Progress
	return s
}

func TestSchedulesOfATeamSeeEachOthersShifts(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 1, 9, 0, 0, 0, time.UTC)
	second := weekly(time.UTC, Default)
	second.ID, second.Role, second.RoleOrder = 6, oncall.RoleSecondary, 2
	off := weekly(time.UTC, Default)
	off.ID, off.Threshold = 8, 0
	plans := Fill(now, []Schedule{second, weekly(time.UTC, Default), off}, Calendars{NewLink: links()})
	require.Equal(t, []string{"06-01 09:00 - 06-08 09:00 b", "06-08 09:00 - 06-15 09:00 a",
		"06-15 09:00 - 06-22 09:00 b"}, lines(plans[0].Add, time.UTC))
	require.Equal(t, "06-01 09:00 - 06-08 09:00 a", lines(plans[1].Add, time.UTC)[0])
	require.Equal(t, Progress{Last: now}, plans[2].Progress)
	require.Empty(t, plans[2].Add)
}

func TestSomebodyIsOnCallBeforeTheFirstHandOff(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 31, 23, 0, 0, 0, time.UTC) // a Sunday; hand-offs are on Mondays
	s := weekly(time.UTC, Default)
	plan := Fill(now, []Schedule{s}, Calendars{NewLink: links()})[0]
	require.Equal(t, []string{"05-31 23:00 - 06-01 09:00 a", "06-01 09:00 - 06-08 09:00 b",
		"06-08 09:00 - 06-15 09:00 c", "06-15 09:00 - 06-22 09:00 a"},
		lines(plan.Add, time.UTC))
	require.Empty(t, plan.Unfilled)

	held := shift(1, oncall.RolePrimary, 3, now.Add(-time.Hour), now.Add(4*time.Hour))
	plan = Fill(now, []Schedule{s}, Calendars{Shifts: []oncall.Shift{held}, NewLink: links()})[0]
	require.Equal(t, "06-01 03:00 - 06-01 09:00 a", lines(plan.Add, time.UTC)[0], "what somebody holds by hand stays")

	s = with(s, plan)
	s.Progress.Last = time.Date(2026, 5, 31, 0, 0, 0, 0, time.UTC)
	again := Fill(now, []Schedule{s}, Calendars{Shifts: []oncall.Shift{held}, NewLink: links()})[0]
	require.Equal(t, "06-08 09:00 - 06-15 09:00 a", lines(again.Add, time.UTC)[0], "only a new schedule is filled back")
}

func TestPopulateStartsWithTheNextHandOff(t *testing.T) {
	t.Parallel()
	s := weekly(time.UTC, Default)
	now := time.Date(2026, 6, 3, 12, 0, 0, 0, time.UTC)
	plan, err := Populate(now, s, time.Date(2026, 6, 3, 0, 0, 0, 0, time.UTC), Calendars{NewLink: links()})
	require.NoError(t, err)
	require.Equal(t, "06-08 09:00 - 06-15 09:00 a", lines(plan.Add, time.UTC)[0])

	_, err = Populate(now, s, time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC), Calendars{NewLink: links()})
	require.Equal(t, fault.Titled("Invalid populate/preview request", "cannot populate/preview starting in the past"),
		err)

	// An instant far beyond the threshold changes nothing. After a jump ahead, Fill makes the skipped periods.
	plan, err = Populate(now, s, now.AddDate(0, 6, 0), Calendars{NewLink: links()})
	require.NoError(t, err)
	require.True(t, plan.Empty())
	s.Progress.Last = time.Date(2026, 5, 31, 0, 0, 0, 0, time.UTC)
	plan, err = Populate(now, s, time.Date(2026, 6, 15, 9, 0, 0, 0, time.UTC), Calendars{NewLink: links()})
	require.NoError(t, err)
	require.Equal(t, []time.Time{time.Date(2026, 6, 7, 0, 0, 0, 0, time.UTC)}, plan.Progress.Unfilled)
	filled := Fill(now, []Schedule{with(s, plan)}, Calendars{Shifts: store(nil, plan.Changes), NewLink: links()})[0]
	require.Equal(t, []string{"06-08 09:00 - 06-15 09:00 a"}, lines(filled.Add, time.UTC))
}
