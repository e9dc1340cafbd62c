package scheduling

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

func TestSuggest(t *testing.T) {
	t.Parallel()
	members := roster(1, 2, 3, 4)
	members[3].InRotation = false
	elsewhere := shift(9, oncall.RolePrimary, 3, in(11), in(12))
	elsewhere.TeamID = 8
	shifts := []oncall.Shift{
		shift(1, oncall.RolePrimary, 1, in(-20), in(-10)), shift(2, oncall.RolePrimary, 1, in(100), in(101)), shift(3,
			oncall.RolePrimary, 2, in(60), in(70)),
		shift(4, oncall.RoleShadow, 2, in(12), in(13)), shift(5, oncall.RoleSecondary, 3, in(20), in(30)), elsewhere,
	}
	got := Suggest(7, oncall.RolePrimary, members, shifts, in(10), in(20))
	require.Equal(t, Suggestion{User: 3, Distance: map[users.ID]time.Duration{1: 30 * time.Hour, 3: Forever}}, got)
	got = Suggest(7, oncall.RolePrimary, members, shifts, in(21), in(22))
	require.Equal(t, Suggestion{User: 1, Distance: map[users.ID]time.Duration{1: 41 * time.Hour, 2: 39 * time.Hour}},
		got)
	require.Equal(t, Suggestion{Distance: map[users.ID]time.Duration{}},
		Suggest(7, oncall.RolePrimary, members[3:], shifts, in(10), in(20)))
	members[0].Active = false
	got = Suggest(7, oncall.RolePrimary, members, shifts, in(21), in(22))
	require.Equal(t, users.ID(2), got.User, "an inactive member is never suggested")
	require.NotContains(t, got.Distance, users.ID(1))
}

func TestFairnessCountsOnTheTeamsClock(t *testing.T) {
	t.Parallel()
	zurich := mustZone(t, "Europe/Zurich")
	at := func(s string) time.Time { return on(t, zurich, s) }
	shifts := []oncall.Shift{
		// In this night the clocks go back: it has an hour more, and the whole of 22:00 to 06:00 counts as night.
		shift(1, oncall.RolePrimary, 1, at("2026-10-24 18:00"), at("2026-10-25 18:00")),
		shift(2, oncall.RolePrimary, 2, at("2026-10-26 00:00"), at("2026-10-27 00:00")),
		shift(3, oncall.RoleVacation, 2, at("2026-10-24 00:00"), at("2026-10-27 00:00")),
		shift(4, oncall.RoleSecondary, 1, at("2026-10-27 23:00"), at("2026-10-28 23:00")),
	}
	holidays := map[oncall.Date]bool{*date(t, "2026-10-26"): true}
	hours := func(n int) time.Duration { return time.Duration(n) * time.Hour }
	require.Equal(t, []Load{
		{User: 1, Shifts: 2, Total: hours(26), Night: hours(10), Weekend: hours(25)},
		{User: 2, Shifts: 1, Total: hours(24), Night: hours(8), Holidays: hours(24)},
	}, Fairness(shifts, zurich, holidays, at("2026-10-01 00:00"), at("2026-10-28 00:00")))
	require.Equal(t, []Load{{User: 1, Shifts: 1, Total: hours(24), Night: hours(8)}},
		Fairness(shifts, zurich, holidays, at("2026-10-01 00:00"), at("2026-10-29 00:00"), oncall.RoleSecondary))
}

func TestRecurringAbsencesKeepTheirLocalTime(t *testing.T) {
	t.Parallel()
	zurich := mustZone(t, "Europe/Zurich")
	tuesdays := Recurring{User: 1, Zone: zurich, Start: oncall.LocalDate(2026, 1, 6, 18*hour), Length: 8 * time.Hour,
		Rule: "RRULE:FREQ=WEEKLY;BYDAY=TU;UNTIL=20261104T000000Z", Reason: "band"}
	got, err := tuesdays.Between(on(t, zurich, "2026-10-21 01:00"), on(t, zurich, "2027-01-01 00:00"))
	require.NoError(t, err)
	var lines []string
	for _, a := range got {
		require.Equal(t, "band", a.Reason)
		lines = append(lines, a.Start.Format("01-02 15:04 MST")+" - "+a.End.Format("02 15:04"))
	}
	require.Equal(t, []string{"10-20 18:00 CEST - 21 02:00", "10-27 18:00 CET - 28 02:00",
		"11-03 18:00 CET - 04 02:00"}, lines)

	once := Recurring{User: 1, Zone: zurich, Start: oncall.LocalDate(2026, 10, 24, 0), Length: 48 * time.Hour}
	got, err = once.Between(on(t, zurich, "2026-10-25 23:00"), on(t, zurich, "2026-12-01 00:00"))
	require.NoError(t, err)
	require.Len(t, got, 1)
	require.Equal(t, 49*time.Hour, got[0].End.Sub(got[0].Start))
	got, err = once.Between(on(t, zurich, "2026-10-26 00:00"), on(t, zurich, "2026-12-01 00:00"))
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestInvalidRecurringAbsencesAreRefused(t *testing.T) {
	t.Parallel()
	for rule, field := range map[string]string{
		"": "length", "FREQ=SECONDLY": "rule", "FREQ=HOURLY": "rule", "FREQ=DAILY;BYHOUR=1,2": "rule", "every Tuesday": "rule", "FREQ=DAILY;INTERVAL=-1": "rule",
		"FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30": "rule",
		// The library panics on these rules, for some of them months after the first occurrence.
		"FREQ=MONTHLY;BYDAY=9MO": "rule", "FREQ=MONTHLY;BYDAY=1MO,9MO": "rule", "FREQ=MONTHLY;BYDAY=-1MO,-9MO": "rule", "FREQ=YEARLY;BYEASTER=1000": "rule",
		"FREQ=YEARLY;BYMONTH=1,12;BYDAY=1MO,9MO": "rule", "FREQ=YEARLY;BYDAY=1MO,54MO": "rule",
	} {
		r := Recurring{Zone: time.UTC, Start: oncall.LocalDate(2026, 1, 6, 0), Length: time.Hour, Rule: rule}
		if rule == "" {
			r.Length = 0
		}
		requireField(t, field, r.Check())
		_, err := r.Between(in(0), in(100))
		requireField(t, field, err)
	}
	daily := Recurring{Zone: time.UTC, Start: oncall.LocalDate(2026, 1, 6, 0), Length: time.Minute, Rule: "FREQ=DAILY"}
	_, err := daily.Between(in(0), in(24*10_001))
	requireField(t, "rule", err)
	daily.Start = oncall.LocalDate(1989, 1, 6, 0)
	requireField(t, "start", daily.Check())
}

func FuzzRecurring(f *testing.F) {
	for _, rule := range []string{"FREQ=MONTHLY;BYDAY=1MO,9MO", "FREQ=YEARLY;BYMONTH=12;BYDAY=-5MO,5FR", "FREQ=YEARLY;BYDAY=53MO,-53SU", "FREQ=WEEKLY;BYDAY=TU", "RRULE:FREQ=DAILY;UNTIL=20261104T000000Z", "FREQ=MONTHLY;BYDAY=-1FR;COUNT=3", "FREQ=YEARLY;BYEASTER=1", "FREQ=DAILY;BYSETPOS=1;BYHOUR=9,10"} {
		f.Add(rule, int64(1_800_000_000), int64(3600))
	}
	zurich := mustZone(f, "Europe/Zurich")
	f.Fuzz(func(t *testing.T, rule string, start, length int64) {
		if start < 0 || start > 4_000_000_000 || length > 1e9 {
			return
		}
		r := Recurring{User: 1, Zone: zurich, Start: oncall.Local(start), Length: time.Duration(length) * time.Second,
			Rule: rule}
		absences, err := r.Between(in(0), in(1000))
		if err != nil {
			require.True(t, fault.Is(err, fault.Invalid), "%v", err)
			return
		}
		for _, a := range absences {
			require.True(t, a.Start.Before(a.End) && a.Start.Before(in(1000)) && a.End.After(in(0)))
		}
	})
}
