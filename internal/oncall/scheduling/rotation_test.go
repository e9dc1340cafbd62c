package scheduling

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// rotating is a schedule of layers for a (1) to f (6) of team 7.
func rotating(zone *time.Location, threshold int, layers ...Layer) Schedule {
	return Schedule{
		ID: 5, TeamID: 7, Zone: zone, Role: oncall.RolePrimary, Roster: roster(1, 2, 3, 4, 5, 6), Algorithm: ByRotation,
		Rotation: &Rotation{Layers: layers}, Threshold: threshold,
	}
}

func members(ids ...int) []LayerMember {
	var out []LayerMember
	for _, id := range ids {
		out = append(out, LayerMember{User: userID(id)})
	}
	return out
}

func date(t testing.TB, s string) *oncall.Date {
	d, err := oncall.ParseDate(s)
	require.NoError(t, err)
	return &d
}

func TestWorkedExamplesOfRotations(t *testing.T) {
	t.Parallel()
	zurich := mustZone(t, "Europe/Zurich")
	at := func(s string) time.Time { return on(t, zurich, s) }
	monday := oncall.LocalDate(2026, 10, 19, 9*hour)
	aDay := 24 * time.Hour
	workdays := []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday, time.Friday}
	over := oncall.LocalDate(2026, 10, 21, 9*hour)
	for name, tc := range map[string]struct {
		days     int
		layers   []Layer
		known    Calendars
		want     []string
		unfilled int
	}{
		"days, over the change of the clocks": {
			days: 9, layers: []Layer{{Start: oncall.LocalDate(2026, 10, 23, 9*hour), Every: 1, Unit: Days,
				Members: members(1, 2, 3)}},
			want: []string{"10-23 09:00 - 10-24 09:00 a", "10-24 09:00 - 10-25 09:00 b", "10-25 09:00 - 10-26 09:00 c",
				"10-26 09:00 - 10-27 09:00 a", "10-27 09:00 - 10-28 09:00 b"},
		},
		"three hand-offs a day": {
			days: 1, layers: []Layer{{Start: monday, Every: 1, Unit: Days,
				HandOffs: []time.Duration{time.Hour, 9 * time.Hour, 17 * time.Hour}, Members: members(1, 2, 3)}},
			want: []string{"10-19 09:00 - 10-19 17:00 a", "10-19 17:00 - 10-20 01:00 b", "10-20 01:00 - 10-20 09:00 c"},
		},
		"business days carry over the weekend": {
			days: 8, layers: []Layer{{Start: oncall.LocalDate(2026, 10, 22, 9*hour), Every: 1, Unit: BusinessDays,
				Members: members(1, 2, 3)}},
			want: []string{"10-22 09:00 - 10-23 09:00 a", "10-23 09:00 - 10-26 09:00 b", "10-26 09:00 - 10-27 09:00 c"},
		},
		"office hours, without a holiday, and only then somebody else": {
			days: 5, known: Calendars{Holidays: map[oncall.Date]bool{*date(t, "2026-10-21"): true}},
			layers: []Layer{
				{Start: monday, Every: 1, Unit: Weeks, Members: members(1, 2), Holidays: SkipHolidays,
					Restrict: []Window{{Days: workdays, From: 9 * time.Hour, To: 17 * time.Hour}}},
				{Start: monday, Every: 1, Unit: Weeks, Members: members(3), Holidays: OnlyHolidays},
			},
			want: []string{"10-19 09:00 - 10-19 17:00 a", "10-20 09:00 - 10-20 17:00 a", "10-21 00:00 - 10-22 00:00 c",
				"10-22 09:00 - 10-22 17:00 a", "10-23 09:00 - 10-23 17:00 a"},
		},
		"a window over midnight, until the layer is over": {
			days: 4, layers: []Layer{{Start: monday, End: &over, Every: 1, Unit: Days, Members: members(1, 2),
				Restrict: []Window{{From: 22 * time.Hour, To: 6 * time.Hour}}}},
			want: []string{"10-19 22:00 - 10-20 06:00 a", "10-20 22:00 - 10-21 06:00 b"},
		},
		"a later layer wins": {
			days: 7, layers: []Layer{
				{Start: monday, Every: 1, Unit: Weeks, Members: members(1, 2)},
				{Start: monday, Every: 1, Unit: Weeks, Members: members(3),
					Restrict: []Window{{Days: []time.Weekday{time.Saturday}, From: 0, To: aDay}}},
			},
			want: []string{"10-19 09:00 - 10-24 00:00 a", "10-24 00:00 - 10-25 00:00 c", "10-25 00:00 - 10-26 09:00 a"},
		},
		"joining and leaving change nobody else's order": {
			days: 42, layers: []Layer{{Start: monday, Every: 1, Unit: Weeks, Members: []LayerMember{
				{User: 1}, {User: 4, Joins: date(t, "2026-11-03")}, {User: 2, Leaves: date(t, "2026-11-16")}, {User: 3},
			}}},
			want: []string{
				"10-19 09:00 - 10-26 09:00 a", "10-26 09:00 - 11-02 09:00 b", "11-02 09:00 - 11-09 09:00 c", "11-09 09:00 - 11-16 09:00 a",
				"11-16 09:00 - 11-23 09:00 d", "11-23 09:00 - 11-30 09:00 c",
			},
		},
		"the next one stands in while somebody is away, and the turns stay": {
			days: 21, layers: []Layer{{Start: monday, Every: 1, Unit: Weeks, Members: members(1, 2, 3)}},
			known: Calendars{
				Absences: []oncall.Absence{{User: 2, Start: at("2026-10-26 09:00"), End: at("2026-10-28 12:00")}},
				Shifts: []oncall.Shift{shift(9, oncall.RoleSecondary, 3, at("2026-10-26 09:00"),
					at("2026-10-27 09:00"))},
			},
			want: []string{"10-19 09:00 - 10-26 09:00 a", "10-26 09:00 - 10-27 09:00 a", "10-27 09:00 - 10-28 12:00 c",
				"10-28 12:00 - 11-02 09:00 b", "11-02 09:00 - 11-09 09:00 c"},
		},
		"nobody is there": {
			days: 7, layers: []Layer{{Start: monday, Every: 1, Unit: Weeks, Members: members(1)}},
			known: Calendars{Absences: []oncall.Absence{{User: 1, Start: at("2026-10-20 00:00"),
				End: at("2026-10-21 00:00")}}},
			want:     []string{"10-19 09:00 - 10-20 00:00 a", "10-21 00:00 - 10-26 09:00 a"},
			unfilled: 1,
		},
		"the last day of each month": {
			days: 100, layers: []Layer{{Start: oncall.LocalDate(2026, 10, 31, 0), Every: 1, Unit: Months,
				Members: members(1, 2)}},
			want: []string{"10-31 00:00 - 11-30 00:00 a", "11-30 00:00 - 12-31 00:00 b", "12-31 00:00 - 01-31 00:00 a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// A minute before, so that the threshold falls into the last turn.
			now := at("2026-10-19 09:00").Add(-time.Minute)
			s := rotating(zurich, tc.days, tc.layers...)
			require.NoError(t, s.Check())
			tc.known.NewLink = links()
			plan, err := Populate(now, s, now, tc.known)
			require.NoError(t, err)
			require.Equal(t, tc.want, lines(plan.Add, zurich))
			require.Len(t, plan.Unfilled, tc.unfilled)
			require.Len(t, plan.Progress.Unfilled, tc.unfilled)
		})
	}
}

// aLayer draws a layer that Check accepts.
func aLayer(rt *rapid.T, base oncall.Local) Layer {
	l := Layer{
		Start: base - oncall.Local(rapid.Int64Range(0, 60).Draw(rt, "days before"))*day +
			oncall.Local(rapid.Int64Range(0, 47).Draw(rt, "half hours"))*30*minute,
		Every: rapid.IntRange(1, 4).Draw(rt, "every"),
		Unit:  rapid.SampledFrom([]Unit{Hours, Days, Weeks, Months, BusinessDays}).Draw(rt, "unit"),
	}
	if l.Unit == Hours {
		l.Every += 3
	}
	for l.Unit == BusinessDays && isWeekend(l.Start.Weekday()) {
		l.Start += day
	}
	if rapid.Bool().Draw(rt, "several") && (l.Unit == Days || l.Unit == BusinessDays) {
		tod := time.Duration(l.Start-l.Start.Midnight()) * time.Second
		l.Every, l.HandOffs = 1, []time.Duration{tod, (tod + 8*time.Hour) % (24 * time.Hour)}
		slices.Sort(l.HandOffs)
	}
	if rapid.Bool().Draw(rt, "restricted") {
		l.Restrict = []Window{{
			Days: rapid.SampledFrom([][]time.Weekday{nil, {time.Saturday, time.Sunday},
				{time.Monday, time.Wednesday}}).Draw(rt, "window days"),
			From: time.Duration(rapid.Int64Range(0, 23).Draw(rt,
				"from")) * time.Hour, To: time.Duration(rapid.Int64Range(0, 24).Draw(rt, "to")) * time.Hour,
		}}
		l.Holidays = rapid.SampledFrom([]HolidayRule{"", KeepHolidays, SkipHolidays, OnlyHolidays}).Draw(rt, "holidays")
	}
	if rapid.Bool().Draw(rt, "ends") {
		end := l.Start + oncall.Local(rapid.Int64Range(1, 120).Draw(rt, "end"))*day
		l.End = &end
	}
	for range rapid.IntRange(1, 4).Draw(rt, "members") {
		m := LayerMember{User: userID(rapid.IntRange(1, 6).Draw(rt, "member"))}
		if d := base.Date() + oncall.Date(rapid.IntRange(-70, 60).Draw(rt, "joins")); rapid.Bool().Draw(rt, "joins later") {
			m.Joins = &d
		}
		if d := base.Date() + oncall.Date(rapid.IntRange(-70, 60).Draw(rt, "leaves")); rapid.Bool().Draw(rt, "leaves") && (m.Joins == nil || *m.Joins < d) {
			m.Leaves = &d
		}
		l.Members = append(l.Members, m)
	}
	return l
}

// aSchedule draws a zone, an instant near one of its changes, a rotation and absences.
func aSchedule(rt *rapid.T, all []zoneChanges) (Schedule, time.Time, Calendars) {
	z := rapid.SampledFrom(all).Draw(rt, "zone")
	now := time.Date(2026, 5, 13, 14, 35, 0, 0, time.UTC)
	if len(z.changes) > 0 {
		now = rapid.SampledFrom(z.changes).Draw(rt,
			"change").Add(-time.Duration(rapid.IntRange(0, 30*24).Draw(rt, "hours before")) * time.Hour)
	}
	base := oncall.LocalIn(now, z.Location).Midnight()
	var layers []Layer
	for range rapid.IntRange(1, 3).Draw(rt, "layers") {
		layers = append(layers, aLayer(rt, base))
	}
	known := Calendars{NewLink: links(), Holidays: map[oncall.Date]bool{base.Date() + 2: true, base.Date() + 3: true,
		base.Date() + 11: true}}
	for range rapid.IntRange(0, 5).Draw(rt, "absences") {
		start := now.Add(time.Duration(rapid.IntRange(-100, 900).Draw(rt, "absent")) * time.Hour)
		known.Absences = append(known.Absences, oncall.Absence{User: userID(rapid.IntRange(1, 6).Draw(rt, "who")),
			Start: start, End: start.Add(time.Duration(rapid.IntRange(1, 300).Draw(rt, "for")) * time.Hour)})
	}
	s := rotating(z.Location, rapid.IntRange(1, 30).Draw(rt, "threshold"), layers...)
	return s, now, known
}

func TestRotationsDoNotOverlapAndDoNotDependOnHowTheyAreExtended(t *testing.T) {
	t.Parallel()
	all := zones(t)
	rapid.Check(t, func(rt *rapid.T) {
		s, now, known := aSchedule(rt, all)
		require.NoError(rt, s.Check())
		once, err := Populate(now, s, now, known)
		require.NoError(rt, err)
		shifts := oncall.SortedShifts(once.Add)
		for i, x := range shifts {
			require.True(rt, x.Start.Before(x.End))
			require.False(rt, known.away(x), "%v is away", x)
			if i > 0 {
				require.False(rt, x.Start.Before(shifts[i-1].End), "%v overlaps %v", shifts[i-1], x)
			}
			for _, u := range once.Unfilled {
				require.False(rt, x.Overlaps(u.Start, u.End))
			}
		}

		// Day by day.
		steps := s
		var made []oncall.Shift
		steps.Threshold = 0
		for steps.Threshold < s.Threshold {
			steps.Threshold++
			known.Shifts = made
			plan := Fill(now, []Schedule{steps}, known)[0]
			require.Empty(rt, plan.Delete)
			made = store(made, plan.Changes)
			steps = with(steps, plan)
		}
		require.Equal(rt, hours(once.Add), hours(made), "%v\n%v", lines(once.Add, s.Zone), lines(made, s.Zone))

		known.Shifts = made
		again, err := Populate(now, steps, now, known)
		require.NoError(rt, err)
		require.Equal(rt, hours(made), hours(again.Apply(made)))
	})
}

func (k Calendars) away(s oncall.Shift) bool {
	return slices.ContainsFunc(k.Absences, func(a oncall.Absence) bool {
		return a.User == s.User &&
			s.Overlaps(a.Start, a.End)
	})
}

// hours merges the shifts of each person that touch: who is on call when.
func hours(shifts []oncall.Shift) []oncall.Shift {
	var out []oncall.Shift
	for _, s := range oncall.SortedShifts(shifts) {
		if n := len(out); n > 0 && out[n-1].User == s.User && out[n-1].End.Equal(s.Start) {
			out[n-1].End = s.End.UTC()
			continue
		}
		out = append(out, oncall.Shift{User: s.User, Start: s.Start.UTC(), End: s.End.UTC()})
	}
	return out
}

func TestTurnsEqualCountingFromTheStart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		base := oncall.LocalDate(2026, 5, 13, 0)
		l := aLayer(rt, base)
		q := newSequence(&l)
		last := -1
		for n := range 200 {
			at := l.handOff(n)
			require.Less(rt, at, l.handOff(n+1))
			require.Equal(rt, n, l.turnAt(at))
			require.Equal(rt, n, l.turnAt(l.handOff(n+1)-1))
			// The next person in the list who takes turns.
			var want users.ID
			for i := 1; i <= len(l.Members) && want == 0; i++ {
				place := (last + i) % len(l.Members)
				if slices.Contains(l.taking(at.Date()), place) {
					last, want = place, l.Members[place].User
				}
			}
			var got users.ID
			if line := q.line(n); len(line) > 0 {
				got = line[0].User
			}
			require.Equal(rt, want, got, "turn %d", n)
		}
	})
}

func TestInvalidRotationsAreRefused(t *testing.T) {
	t.Parallel()
	monday := oncall.LocalDate(2026, 10, 19, 9*hour)
	good := Layer{Start: monday, Every: 1, Unit: Days, Members: members(1)}
	before := monday - 1
	for field, edit := range map[string]func(*Layer){
		"unit":    func(l *Layer) { l.Unit = "fortnights" },
		"every":   func(l *Layer) { l.Every = 0 },
		"end":     func(l *Layer) { l.End = &before },
		"start":   func(l *Layer) { l.Start = oncall.LocalDate(20260, 1, 1, 0) },
		"members": func(l *Layer) { l.Members = nil },
		"members[0]": func(l *Layer) {
			l.Members = []LayerMember{{User: 1, Joins: date(t, "2026-10-20"), Leaves: date(t, "2026-10-19")}}
		},
		"restrict":    func(l *Layer) { l.Restrict = make([]Window, 101) },
		"restrict[0]": func(l *Layer) { l.Restrict = []Window{{From: -time.Second}} },
		"holidays":    func(l *Layer) { l.Holidays = "perhaps" },
		"hand_offs":   func(l *Layer) { l.HandOffs = []time.Duration{9 * time.Hour, 9 * time.Hour} },
	} {
		l := good
		edit(&l)
		err := rotating(time.UTC, 7, good, l).Check()
		requireField(t, "layers[1]."+field, err)
	}
	for field, s := range map[string]Schedule{
		"layers":                  {Algorithm: ByRotation},
		"scheduler":               {Algorithm: "dice"},
		"auto_populate_threshold": {Algorithm: Default, Threshold: 10_000},
	} {
		requireField(t, field, s.Check())
	}
	require.EqualError(t, Schedule{Algorithm: Default, Pattern: []Slot{{}}}.Check(),
		"invalid schedule: schedule event duration must be positive")
}
