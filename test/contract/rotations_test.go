package contract

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// aChange returns the Sunday, at least two weeks from now, of the next change of Zurich's clocks in spring or in
// autumn.
func aChange(t *testing.T, spring bool) (sunday time.Time, zone *time.Location) {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Zurich")
	require.NoError(t, err)
	at := time.Now().AddDate(0, 0, 14).In(zone)
	for {
		_, end := at.ZoneBounds()
		before, after := end.Add(-time.Second).In(zone), end.In(zone)
		if after.IsDST() != before.IsDST() && after.IsDST() == spring {
			return time.Date(after.Year(), after.Month(), after.Day(), 0, 0, 0, 0, zone), zone
		}
		at = after
	}
}

// Compares previews with turns around changes of the clocks that were computed by hand. "+1 09:00" is on the day after
// the Sunday of the change.
func TestRotationsAcrossClockChanges(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	s.roster()
	s.do(owner, put, "/api/v0/teams/ops", m{"scheduling_timezone": "Europe/Zurich"}).empty(200)
	for _, name := range []string{"root", "viewer"} {
		s.do(owner, post, "/api/v0/teams/ops/rosters/r/users", m{"name": name}).is(201)
	}
	three := []m{{"user": "ann"}, {"user": "bob"}, {"user": "root"}}
	weekdays := []string{"mon", "tue", "wed", "thu", "fri"}
	spring, zone := aChange(t, true)
	autumn, _ := aChange(t, false)
	day := func(sunday time.Time, days int, clock string) string {
		return sunday.AddDate(0, 0, days).Format("2006-01-02") + "T" + clock
	}
	date := func(days int) string { return spring.AddDate(0, 0, days).Format("2006-01-02") }
	feast := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTAMP:20260101T000000Z\r\nDTSTART;VALUE=DATE:" +
		strings.ReplaceAll(date(2), "-", "") + "\r\nSUMMARY:Feast\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
	s.do(owner, put, "/v1/teams/ops/holidays", feast).empty(204)
	away := spring.AddDate(0, 0, 3)
	s.do(bob, post, "/v1/teams/ops/unavailability", m{"start": away, "end": away.AddDate(0, 0, 1),
		"rule": "FREQ=WEEKLY"}).is(201)
	viewers := m{"start": day(spring, -6, "00:00"), "every": 1, "unit": "weeks", "members": []m{{"user": "viewer"}}}
	for _, c := range []struct {
		name     string
		sunday   time.Time
		from, to int // in days from the Sunday
		layers   []m
		want     string
	}{
		{"eight hours pass 02:00, which is skipped", spring, -1, 1,
			[]m{{"start": day(spring, -1, "22:00"), "every": 8, "unit": "hours", "members": three}},
			"-1 22:00 ann 7h, +0 06:00 bob 8h, +0 14:00 root 8h, +0 22:00 ann 8h"},
		{"eight hours pass 02:00, which comes twice", autumn, -1, 1,
			[]m{{"start": day(autumn, -1, "22:00"), "every": 8, "unit": "hours", "members": three}},
			"-1 22:00 ann 9h, +0 06:00 bob 8h, +0 14:00 root 8h, +0 22:00 ann 8h"},
		{"days of 23 hours", spring, -1, 2,
			[]m{{"start": day(spring, -1, "09:00"), "every": 1, "unit": "days", "members": three}},
			"-1 09:00 ann 23h, +0 09:00 bob 24h, +1 09:00 root 24h"},
		{"days of 25 hours", autumn, -1, 2,
			[]m{{"start": day(autumn, -1, "09:00"), "every": 1, "unit": "days", "members": three}},
			"-1 09:00 ann 25h, +0 09:00 bob 24h, +1 09:00 root 24h"},
		{"a hand-off at a time that is skipped", spring, -1, 2,
			[]m{{"start": day(spring, -1, "02:30"), "every": 1, "unit": "days", "members": three}},
			"-1 02:30 ann 23h, +0 01:30 bob 24h, +1 02:30 root 24h"},
		{"a hand-off at a time that comes twice", autumn, -1, 2,
			[]m{{"start": day(autumn, -1, "02:30"), "every": 1, "unit": "days", "members": three}},
			"-1 02:30 ann 24h, +0 02:30 bob 25h, +1 02:30 root 24h"},
		{"three hand-offs a day", spring, 0, 1,
			[]m{{"start": day(spring, 0, "01:00"), "every": 1, "unit": "days",
				"hand_offs": []string{"01:00", "09:00", "17:00"}, "members": three}},
			"+0 01:00 ann 7h, +0 09:00 bob 8h, +0 17:00 root 8h"},
		{"business days, the last one over the weekend", spring, -3, 3,
			[]m{{"start": day(spring, -3, "09:00"), "every": 1, "unit": "business-days", "members": three}},
			"-3 09:00 ann 24h, -2 09:00 bob 71h, +1 09:00 root 24h, +2 09:00 ann 24h"},
		{"office hours of business days", spring, -2, 3,
			[]m{{"start": day(spring, -3, "09:00"), "every": 1, "unit": "business-days", "members": three,
				"restrict": []m{{"days": weekdays, "from": "09:00", "to": "17:00"}}}},
			"-2 09:00 bob 8h, +1 09:00 root 8h, +2 09:00 ann 8h"},
		{"a layer above another one", spring, 1, 3, []m{viewers,
			{"start": day(spring, 1, "00:00"), "every": 1, "unit": "days", "members": three,
				"restrict": []m{{"days": weekdays, "from": "09:00", "to": "17:00"}}}},
			"+1 00:00 viewer 9h, +1 09:00 ann 8h, +1 17:00 viewer 16h, +2 09:00 bob 8h, +2 17:00 viewer 16h"},
		{"windows over midnight", spring, -1, 2,
			[]m{{"start": day(spring, -6, "09:00"), "every": 1, "unit": "weeks", "members": three,
				"restrict": []m{{"days": []string{"sat", "sun"}, "from": "22:00", "to": "06:00"}}}},
			"-1 22:00 ann 7h, +0 22:00 ann 8h"},
		{"a start and an end", spring, -2, 9,
			[]m{{"start": day(spring, -1, "12:00"), "end": day(spring, 1, "18:00"), "every": 1, "unit": "days",
				"members": three}},
			"-1 12:00 ann 23h, +0 12:00 bob 24h, +1 12:00 root 6h"},
		{"somebody joins, and nobody's turn before changes", spring, 4, 11,
			[]m{{"start": day(spring, 4, "09:00"), "every": 1, "unit": "days",
				"members": []m{{"user": "ann"}, {"user": "bob"}, {"user": "viewer", "joins": date(9)},
					{"user": "root"}}}},
			"+4 09:00 ann 24h, +5 09:00 bob 24h, +6 09:00 root 24h, +7 09:00 ann 24h, +8 09:00 bob 24h, +9 09:00 viewer 24h, +10 09:00 root 24h"},
		{"somebody leaves, and the others go on", spring, 4, 10,
			[]m{{"start": day(spring, 4, "09:00"), "every": 1, "unit": "days",
				"members": []m{{"user": "ann"}, {"user": "bob", "leaves": date(6)}, {"user": "root"}}}},
			"+4 09:00 ann 24h, +5 09:00 bob 24h, +6 09:00 root 24h, +7 09:00 ann 24h, +8 09:00 root 24h, +9 09:00 ann 24h"},
		{"bob is away each Wednesday, the next one stands in", spring, 1, 5,
			[]m{{"start": day(spring, 1, "12:00"), "every": 1, "unit": "days", "members": three}},
			"+1 12:00 ann 24h, +2 12:00 bob 12h, +3 00:00 root 12h, +3 12:00 root 24h, +4 12:00 ann 24h"},
		{"nobody on a holiday", spring, 1, 4,
			[]m{{"start": day(spring, 1, "09:00"), "every": 1, "unit": "days", "members": []m{{"user": "ann"}},
				"holidays": "skip"}},
			"+1 09:00 ann 15h, +3 00:00 ann 9h, +3 09:00 ann 24h"},
		{"a layer for holidays", spring, 1, 4,
			[]m{{"start": day(spring, 1, "09:00"), "every": 1, "unit": "weeks", "members": []m{{"user": "ann"}}},
				{"start": day(spring, 1, "00:00"), "every": 1, "unit": "weeks", "members": []m{{"user": "viewer"}},
					"holidays": "only"}},
			"+1 09:00 ann 15h, +2 00:00 viewer 24h, +3 00:00 ann 129h"},
	} {
		from, to := c.sunday.AddDate(0, 0, c.from), c.sunday.AddDate(0, 0, c.to)
		preview := decode[map[string][]m](s.do(bob, post, "/v1/teams/ops/rotations/preview",
			m{"name": "x", "role": "primary", "roster": "r", "layers": c.layers,
				"start": from, "end": to}).is(200))
		var got []string
		for _, e := range preview["shifts"] {
			start, end := instant(t, e["start"]).In(zone), instant(t, e["end"])
			midnight := time.Date(start.Year(), start.Month(), start.Day(), 12, 0, 0, 0, time.UTC)
			days := midnight.Sub(time.Date(c.sunday.Year(), c.sunday.Month(), c.sunday.Day(), 12, 0, 0, 0,
				time.UTC)).Hours() / 24
			got = append(got, fmt.Sprintf("%+.0f %s %s %.0fh", days, start.Format("15:04"), e["user"],
				end.Sub(start).Hours()))
		}
		require.Equal(t, c.want, strings.Join(got, ", "), c.name)
	}
}

// The editor shows each error next to a field, so errors name the field and the rule.
func TestRotationRefusals(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	s.roster()
	layer := m{"start": "2027-03-01T09:00", "every": 1, "unit": "days", "members": []m{{"user": "ann"}}}
	for _, c := range []struct {
		layers any
		field  string
		says   string
	}{
		{"x", "layers", "layers must be a list"},
		{[]any{}, "layers", "a rotation needs at least one layer"},
		{[]any{1}, "layers[0]", "layers[0] must be an object"},
		{[]any{layer, m{"every": 1, "unit": "days", "members": []m{}}}, "layers[1].start", "layers[1].start is missing"},
		{[]any{changed(layer, m{"every": 1.5})}, "layers[0].every", "layers[0].every must be a whole number"},
		{[]any{changed(layer, m{"every": "1"})}, "layers[0].every", "layers[0].every must be a whole number"},
		{[]any{changed(layer, m{"every": 0})}, "layers[0].every", "a turn lasts from 1 to 1000 days"},
		{[]any{changed(layer, m{"unit": 5})}, "layers[0].unit", "layers[0].unit must be a string"},
		{[]any{changed(layer, m{"members": "ann"})}, "layers[0].members", "layers[0].members must be a list"},
		{[]any{changed(layer, m{"members": []string{"ann"}})}, "layers[0].members[0]",
			"layers[0].members[0] must be an object"},
		{[]any{changed(layer, m{"members": []any{m{"user": "ann"}, m{"user": 5}}})}, "layers[0].members[1].user",
			"layers[0].members[1].user must be a string"},
		{[]any{changed(layer, m{"hand_offs": []any{"09:00", 17}})}, "layers[0].hand_offs[1]",
			"layers[0].hand_offs[1] must be a string"},
		{[]any{changed(layer, m{"restrict": []any{1}})}, "layers[0].restrict[0]",
			"layers[0].restrict[0] must be an object"},
		{[]any{changed(layer, m{"restrict": []any{m{"days": []any{"mon", 2}}}})}, "layers[0].restrict[0].days[1]",
			"layers[0].restrict[0].days[1] must be a string"},
		{[]any{changed(layer, m{"members": []m{{"user": "zoe"}}})}, "layers[0].members", `there is no user "zoe"`},
		{[]any{changed(layer, m{"start": "2027-02-30T09:00"})}, "layers[0].start",
			"start must be a time on the team's clock like 2026-11-23T09:00"},
		{[]any{changed(layer, m{"end": "2027-01-01T09:00"})}, "layers[0].end", "the end must be after the start"},
		{[]any{changed(layer, m{"holidays": "maybe"})}, "layers[0].holidays", "holidays must be keep, skip or only"},
		{[]any{changed(layer, m{"unit": "weeks", "hand_offs": []string{"09:00"}})}, "layers[0].hand_offs",
			"several hand-offs a day need the unit days or business-days"},
	} {
		a := s.do(owner, post, "/v1/teams/ops/rotations", m{"name": "x", "role": "primary", "roster": "r",
			"layers": c.layers})
		a.problem(400, c.field)
		require.Equal(t, c.says, decode[m](a)["detail"])
	}
	now := time.Now().Unix()
	s.do(owner, post, "/v1/teams/ops/rotations/preview", m{"name": "x", "role": "primary", "roster": "r",
		"layers": []m{layer}, "start": rfc3339(now), "end": rfc3339(now)}).problem(400, "end")
	for _, path := range []string{"gaps", "fairness"} {
		s.do(bob, get, "/v1/teams/ops/"+path+"?role=boss", nil).problem(400, "role")
		s.do(bob, get, "/v1/teams/ops/"+path+"?role=Primary&role=", nil).is(200)
	}
	require.Zero(t, s.number("select count(*) from schedules"))
}

// The shifts are on weekends with a change of the clocks, from Saturday noon to Monday noon.
func TestFairnessAcrossClockChanges(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	s.do(owner, put, "/api/v0/teams/ops", m{"scheduling_timezone": "Europe/Zurich"}).empty(200)
	spring, _ := aChange(t, true)
	autumn, _ := aChange(t, false)
	feast := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTAMP:20260101T000000Z\r\nDTSTART;VALUE=DATE:" + spring.Format("20060102") +
		"\r\nSUMMARY:Feast\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
	s.do(owner, put, "/v1/teams/ops/holidays", feast).empty(204)
	noon := func(sunday time.Time, days int) int64 {
		return time.Date(sunday.Year(), sunday.Month(), sunday.Day()+days, 12, 0, 0, 0, sunday.Location()).Unix()
	}
	s.event("ann", "primary", noon(spring, -1), noon(spring, 1))
	s.event("bob", "primary", noon(autumn, -1), noon(autumn, 1))
	s.event("bob", "vacation", noon(spring, -1), noon(spring, 1))
	look := func(start, end int64, more string) string {
		t.Helper()
		return s.do(bob, get, fmt.Sprintf("/v1/teams/ops/fairness?start=%s&end=%s%s", rfc3339(start),
			rfc3339(end), more), nil).is(200).body
	}
	row := func(user string, hours, nights, weekends, holidays int) string {
		return fmt.Sprintf(`{"user": %q, "full_name": null, "shifts": 1, "hours": %d, "nights": %d, "weekends": %d, "holidays": %d}`, user, hours, nights, weekends, holidays)
	}
	first, last := min(noon(spring, -2), noon(autumn, -2)), max(noon(spring, 2), noon(autumn, 2))
	// Nights: Saturday 22-24, Sunday 0-6 (5 or 7 hours), Sunday 22-24, Monday 0-6. Weekend: 12 hours and a day of 23 or
	// 25 hours.
	require.JSONEq(t, listed(row("ann", 47, 2+5+2+6, 12+23, 23)+","+row("bob", 49, 2+7+2+6, 12+25, 0)),
		look(first, last, ""))
	require.JSONEq(t, listed(row("ann", 23, 2+5, 23, 23)), look(spring.Unix(), spring.AddDate(0, 0, 1).Unix(),
		""), "a holiday of 23 hours")
	require.JSONEq(t, listed(row("bob", 47, 15, 35, 23)), look(first, last, "&role=vacation"))
	require.JSONEq(t, listed(""), look(first, last, "&role=secondary"))
}

// listed returns a page of /v1 with rows, which has no next one.
func listed(rows string) string { return `{"items": [` + rows + `], "next": null}` }
