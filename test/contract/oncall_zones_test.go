package contract

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// changeOf returns the next day, at least two weeks from now, on which a zone's clocks go forward or back.
func changeOf(t *testing.T, name string, forward bool) time.Time {
	t.Helper()
	zone, err := time.LoadLocation(name)
	require.NoError(t, err)
	at := time.Now().AddDate(0, 0, 14).In(zone)
	for {
		_, end := at.ZoneBounds()
		_, before := end.Add(-time.Second).In(zone).Zone()
		_, after := end.In(zone).Zone()
		if (after > before) == forward {
			return time.Date(end.Year(), end.Month(), end.Day(), 0, 0, 0, 0, zone)
		}
		at = end
	}
}

// On Lord Howe Island the clocks go from 02:00 to 02:30 in spring, and from 02:00 to 01:30 in autumn. "+1 09:00" is on
// the day after the change.
func TestRotationsAcrossAClockChangeOfHalfAnHour(t *testing.T) {
	t.Parallel()
	const island = "Australia/Lord_Howe"
	s := newCalendar(t, configured(t, "time_zones: [UTC, Europe/Zurich, Australia/Lord_Howe, Pacific/Apia]\n"))
	s.roster()
	s.do(owner, put, "/api/v0/teams/ops", m{"scheduling_timezone": island}).empty(200)
	spring, autumn := changeOf(t, island, true), changeOf(t, island, false)
	for _, c := range []struct {
		name     string
		day      time.Time
		from, to int // in days from the change
		start    string
		layer    m
		want     string
	}{
		{"a day of 23 and a half hours", spring, -1, 1, "09:00", m{"every": 1, "unit": "days"},
			"-1 09:00 ann 23.5h, +0 09:00 bob 24h"},
		{"a day of 24 and a half hours", autumn, -1, 1, "09:00", m{"every": 1, "unit": "days"},
			"-1 09:00 ann 24.5h, +0 09:00 bob 24h"},
		{"a hand-off at a time that is skipped", spring, -1, 2, "02:15", m{"every": 1, "unit": "days"},
			"-1 02:15 ann 23.5h, +0 01:45 bob 24h, +1 02:15 ann 24h"},
		{"a hand-off at a time that comes twice", autumn, -1, 2, "01:45", m{"every": 1, "unit": "days"},
			"-1 01:45 ann 24h, +0 01:45 bob 24.5h, +1 01:45 ann 24h"},
		{"eight hours past the change", autumn, -1, 1, "18:00", m{"every": 8, "unit": "hours"},
			"-1 18:00 ann 8.5h, +0 02:00 bob 8h, +0 10:00 ann 8h, +0 18:00 bob 8h"},
		{"the night that lasts longer", autumn, -1, 1, "00:00",
			m{"every": 1, "unit": "weeks", "restrict": []m{{"days": []string{"sat"}, "from": "22:00", "to": "06:00"}}},
			"-1 22:00 ann 8.5h"},
		{"a week that lasts shorter", spring, -3, 5, "09:00", m{"every": 1, "unit": "weeks"},
			"-3 09:00 ann 167.5h, +4 09:00 bob 168h"},
	} {
		from, to := c.day.AddDate(0, 0, c.from), c.day.AddDate(0, 0, c.to)
		layer := changed(c.layer, m{"start": from.Format("2006-01-02") + "T" + c.start,
			"members": []m{{"user": "ann"}, {"user": "bob"}}})
		preview := decode[map[string][]m](s.do(bob, post, "/v1/teams/ops/rotations/preview",
			m{"name": "x", "role": "primary", "roster": "r", "layers": []m{layer},
				"start": from, "end": to}).is(200))
		var got []string
		for _, e := range preview["shifts"] {
			start, end := instant(t, e["start"]).In(c.day.Location()), instant(t, e["end"])
			days := time.Date(start.Year(), start.Month(), start.Day(), 0, 0, 0, 0,
				time.UTC).Sub(time.Date(c.day.Year(), c.day.Month(), c.day.Day(), 0, 0, 0, 0, time.UTC)).Hours() / 24
			got = append(got, fmt.Sprintf("%+.0f %s %s %gh", days, start.Format("15:04"), e["user"],
				end.Sub(start).Hours()))
		}
		require.Equal(t, c.want, strings.Join(got, ", "), c.name)
	}
}

// An unavailability of whole days ends at midnight, even if a day has 23 or 25 hours; with and without a recurrence.
func TestUnavailabilityOfWholeDays(t *testing.T) {
	t.Parallel()
	for _, zone := range []string{"Europe/Zurich", "Australia/Lord_Howe"} {
		for _, forward := range []bool{true, false} {
			s := newCalendar(t, configured(t, "time_zones: [UTC, Europe/Zurich, Australia/Lord_Howe, Pacific/Apia]\n"))
			s.roster()
			s.do(owner, put, "/api/v0/teams/ops", m{"scheduling_timezone": zone}).empty(200)
			day := changeOf(t, zone, forward)
			next := day.AddDate(0, 0, 7)
			s.do(bob, post, "/v1/teams/ops/unavailability", m{"start": day, "end": day.AddDate(0, 0, 1),
				"rule": "FREQ=WEEKLY"}).is(201)
			told := itemsOf[m](s.do(bob, get, "/v1/teams/ops/unavailability", nil).is(200))
			require.Equal(t, []any{rfc3339(day.Unix()), rfc3339(day.AddDate(0, 0, 1).Unix())},
				[]any{told[0]["start"], told[0]["end"]})
			layer := m{"start": day.AddDate(0, 0, -1).Format("2006-01-02") + "T12:00", "every": 4, "unit": "weeks",
				"members": []m{{"user": "bob"}}}
			preview := decode[map[string][]m](s.do(bob, post, "/v1/teams/ops/rotations/preview",
				m{"name": "x", "role": "primary", "roster": "r", "layers": []m{layer},
					"start": day.AddDate(0, 0, -1), "end": next.AddDate(0, 0, 3)}).is(200))
			var got []int64
			for _, e := range preview["shifts"] {
				got = append(got, instant(t, e["start"]).Unix(), instant(t, e["end"]).Unix())
			}
			require.GreaterOrEqual(t, len(got), 5, "%v", preview)
			require.Equal(t, []int64{day.Unix(), day.AddDate(0, 0, 1).Unix(), next.Unix(),
				next.AddDate(0, 0, 1).Unix()}, got[1:5], "%s %t", zone, forward)
		}
	}
}

// In Apia there was no Friday 30 December 2011: Saturday followed Thursday.
func TestFairnessAcrossASkippedDay(t *testing.T) {
	t.Parallel()
	s := newCalendar(t, configured(t, "time_zones: [UTC, Europe/Zurich, Australia/Lord_Howe, Pacific/Apia]\n"))
	s.do(owner, put, "/api/v0/teams/ops", m{"scheduling_timezone": "Pacific/Apia"}).empty(200)
	apia, err := time.LoadLocation("Pacific/Apia")
	require.NoError(t, err)
	s.exec("insert into holiday_calendars (team_id, source) select id, '' from teams where name = 'ops'")
	feast := func(day string) {
		s.exec("delete from holidays")
		s.exec("insert into holidays (team_id, day) select id, $1::date from teams where name = 'ops'", day)
	}
	start, end := time.Date(2011, 12, 29, 12, 0, 0, 0, apia), time.Date(2011, 12, 31, 12, 0, 0, 0, apia)
	require.Equal(t, 24*time.Hour, end.Sub(start), "noon of Thursday to noon of Saturday")
	s.exec(`insert into shifts (team_id, role_id, user_id, starts_at, ends_at) select t.id, r.id, u.id, $1, $2 from teams t, oncall_roles r, users u
		where t.name = 'ops' and r.name = 'primary' and u.name = 'ann'`, start, end)
	path := fmt.Sprintf("/v1/teams/ops/fairness?start=%s&end=%s", rfc3339(start.Unix()-day), rfc3339(end.Unix()+day))
	// Nights: Thursday 22-24 and Saturday 0-6. Weekend, and holiday if it is one: Saturday 0-12.
	load := listed(`{"user": "ann", "full_name": null, "shifts": 1, "hours": 24, "nights": 8, "weekends": 12, "holidays": %d}`)
	feast("20111230")
	s.do(bob, get, path, nil).says(200, fmt.Sprintf(load, 0))
	feast("20111231")
	s.do(bob, get, path, nil).says(200, fmt.Sprintf(load, 12))
}
