package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// problem requires an error of RFC 9457.
func (a answer) problem(status int, field string) {
	a.Helper()
	a.is(status)
	require.Contains(a, a.header.Get("Content-Type"), "application/problem+json", a.what)
	if field != "" {
		require.Equal(a, field, decode[m](a)["field"], "%s: %s", a.what, a.body)
	}
}

// rfc3339 is an instant as /v1 has it.
func rfc3339(unix int64) string { return time.Unix(unix, 0).UTC().Format(time.RFC3339) }

// instant reads an instant of /v1.
func instant(t testing.TB, of any) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, fmt.Sprint(of))
	require.NoError(t, err)
	return at
}

func TestRotations(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	s.roster()
	const path = "/v1/teams/ops/rotations"
	start := time.Now().UTC().AddDate(0, 0, 1).Format("2006-01-02") + "T09:00"
	layer := m{"start": start, "every": 1, "unit": "days", "members": []m{{"user": "ann"}, {"user": "bob"}}}
	good := m{"name": "daily", "role": "primary", "roster": "r", "layers": []m{layer}, "auto_populate_threshold": 14}
	before := s.number("select count(*) from shifts")
	now := time.Now().Unix()
	preview := decode[map[string][]m](s.do(owner, post, path+"/preview",
		changed(good, m{"start": rfc3339(now), "end": rfc3339(now + 14*day)})).is(200))
	require.NotEmpty(t, preview["shifts"])
	require.Equal(t, before, s.number("select count(*) from shifts"), "a preview writes nothing")
	weekly := m{"role": "primary", "roster": "r", "advanced_mode": 0,
		"events": []m{{"start": 9 * 3600, "duration": 7 * day}}, "start": rfc3339(now), "end": rfc3339(now + 14*day)}
	preview = decode[map[string][]m](s.do(bob, post, "/v1/teams/ops/schedules/preview", weekly).is(200))
	require.False(t, instant(t, preview["shifts"][0]["start"]).After(time.Now()), "a new schedule covers now")
	s.do(bob, post, "/v1/teams/ops/schedules/preview", changed(weekly, m{"end": rfc3339(now + 401*day)})).problem(400, "end")
	s.do(bob, post, "/v1/teams/ops/schedules/preview", changed(weekly, m{"start": now})).problem(400, "start")
	require.Equal(t, before, s.number("select count(*) from shifts"), "a preview writes nothing")
	made := decode[m](s.do(owner, post, path, good).is(201))
	one := fmt.Sprintf("/v1/rotations/%.0f", made["id"])
	got := decode[m](s.do(bob, get, one, nil).is(200))
	require.Equal(t, []any{"daily", "primary", "r", "ops"}, []any{got["name"], got["role"], got["roster"], got["team"]})
	require.Len(t, itemsOf[m](s.do(bob, get, path, nil).is(200)), 1)
	s.do(owner, put, one, changed(good, m{"name": "renamed"})).is(200)
	s.do(owner, post, fmt.Sprintf("/api/v0/schedules/%.0f/populate", made["id"]), m{"start": time.Now().Unix()}).is(200)
	events := decode[[]m](s.do(bob, get, "/api/v0/events?team=ops", nil).is(200))
	require.Greater(t, len(events), 5)
	for i := 1; i < len(events); i++ {
		require.Equal(t, events[i-1]["end"], events[i]["start"])
		require.NotEqual(t, events[i-1]["user"], events[i]["user"])
	}
	s.do(owner, post, path, changed(good, m{"role": "boss"})).problem(400, "role")
	s.do(owner, post, path, changed(good, m{"roster": "none"})).problem(400, "roster")
	s.do(owner, post, path, changed(good, m{"layers": []m{changed(layer, m{"unit": "moons"})}})).problem(400,
		"layers[0].unit")
	s.do(owner, post, path, changed(good, m{"layers": []m{changed(layer, m{"start": "soon"})}})).problem(400,
		"layers[0].start")
	s.do(owner, post, path, changed(good, m{"layers": nil})).problem(400, "layers")
	s.do(bob, post, path, good).problem(403, "")
	s.do(owner, post, "/v1/teams/none/rotations", good).problem(404, "")
	a := s.do(owner, del, one, nil)
	require.Less(t, a.status, 300, a.body)
	s.do(owner, get, one, nil).problem(404, "")
}

func TestTakeThePagerAndSwap(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	now := time.Now().Unix()
	s.event("ann", "primary", now-60, now+day)
	next := s.event("ann", "primary", now+day, now+2*day)
	edit := m{"action": "take", "team": "ops", "role": "primary", "until": rfc3339(now + 2*3600)}
	preview := decode[m](s.do(bob, post, "/v1/events/preview", edit).is(200))
	require.NotEmpty(t, preview["added"])
	taken := decode[map[string][]m](s.do(bob, post, "/v1/teams/ops/take",
		m{"role": "primary", "until": rfc3339(now + 2*3600)}).is(201))
	require.NotEmpty(t, taken["shifts"])
	at := decode[[]m](s.do(scheduler, get, "/api/v0/teams/ops/oncall/primary", nil).is(200))
	require.Len(t, at, 1, "one person is on call")
	require.Equal(t, "bob", at[0]["user"])
	s.do(viewer, post, "/v1/teams/ops/take", m{"role": "primary"}).problem(403, "")
	s.do(bob, post, "/v1/teams/ops/take", m{"role": "boss"}).problem(400, "role")
	s.do(bob, post, "/v1/teams/ops/take", m{}).problem(400, "role")
	s.do(bob, post, "/v1/teams/ops/take", m{"role": "primary", "until": now + 3600}).problem(400, "until")
	s.do(bob, post, "/v1/events/preview", changed(edit, m{"until": now + 3600})).problem(400, "until")
	s.do(bob, post, "/v1/events/preview", m{"action": "burn"}).problem(400, "action")

	// The end is after the next hand-off, so the next person's shift is replaced, too.
	long := decode[map[string][]m](s.do(bob, post, "/v1/teams/ops/take",
		m{"role": "primary", "until": rfc3339(now + day + 3600)}).is(201))
	require.NotEmpty(t, long["shifts"])
	all := decode[[]m](s.do(scheduler, get, "/api/v0/events?team=ops&role=primary", nil).is(200))
	for i := 1; i < len(all); i++ {
		require.LessOrEqual(t, all[i-1]["end"], all[i]["start"], "nobody is on call twice: %v", all)
	}

	mine := s.event("bob", "secondary", now+3*day, now+4*day)
	other := s.event("ann", "secondary", now+4*day, now+5*day)
	ask := func(as caller, give, take int64) int64 {
		t.Helper()
		return decode[map[string]int64](s.do(as, post, "/v1/teams/ops/swap-requests",
			m{"event_id": give, "other_event_id": take, "note": "please"}).is(201))["id"]
	}
	user := func(id int64) any {
		return decode[m](s.do(scheduler, get, fmt.Sprintf("/api/v0/events/%d", id), nil).is(200))["user"]
	}
	request := ask(bob, mine, other)
	require.Equal(t, "bob", user(mine), "nothing changes without consent")
	s.do(bob, post, fmt.Sprintf("/v1/swap-requests/%d/accept", request), nil).problem(403, "")
	require.Less(t, s.do(owner, post, fmt.Sprintf("/v1/swap-requests/%d/accept", request), nil).status, 300)
	require.Equal(t, []any{"ann", "bob"}, []any{user(mine), user(other)})
	request = ask(bob, other, mine)
	require.Less(t, s.do(owner, post, fmt.Sprintf("/v1/swap-requests/%d/decline", request), nil).status, 300)
	request = ask(bob, other, mine)
	again := s.do(bob, post, "/v1/teams/ops/swap-requests", m{"event_id": other, "other_event_id": mine,
		"note": "again"})
	again.problem(409, "")
	require.Contains(t, again.body, fmt.Sprintf("swap request %d asks the same", request))
	require.Less(t, s.do(bob, post, fmt.Sprintf("/v1/swap-requests/%d/withdraw", request), nil).status, 300)
	require.GreaterOrEqual(t, s.do(owner, post, fmt.Sprintf("/v1/swap-requests/%d/accept", request), nil).status, 400)
	require.Equal(t, []any{"ann", "bob"}, []any{user(mine), user(other)})
	require.Len(t, itemsOf[m](s.do(bob, get, "/v1/teams/ops/swap-requests", nil).is(200)), 3)
	_ = next
}

func TestUnavailabilityHolidaysGapsAndFairness(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	now := time.Now().Unix()
	const away = "/v1/teams/ops/unavailability"
	id := decode[struct{ ID int64 }](s.do(bob, post, away, m{"start": rfc3339(now + day), "end": rfc3339(now + 2*day),
		"rule": "FREQ=WEEKLY;COUNT=3", "note": "yoga"}).is(201)).ID
	rows := itemsOf[m](s.do(owner, get, away, nil).is(200))
	require.Len(t, rows, 1)
	require.Equal(t, []any{"bob", "yoga"}, []any{rows[0]["user"], rows[0]["note"]})
	s.do(bob, post, away, m{"start": rfc3339(now + day), "end": rfc3339(now)}).problem(400, "")
	s.do(bob, post, away, m{"start": rfc3339(now), "end": rfc3339(now + day), "rule": "FREQ=SECONDLY"}).problem(400, "")
	s.do(bob, post, away, m{"start": rfc3339(now), "end": rfc3339(now + day), "user": "ann"}).problem(403, "")
	s.do(viewer, del, fmt.Sprintf("/v1/unavailability/%d", id), nil).problem(403, "")
	s.do(bob, del, fmt.Sprintf("/v1/unavailability/%d", id), nil).empty(204)
	s.do(bob, del, fmt.Sprintf("/v1/unavailability/%d", id), nil).problem(404, "")

	const days = "/v1/teams/ops/holidays"
	calendar := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTAMP:20260101T000000Z\r\nDTSTART;VALUE=DATE:20270101\r\nSUMMARY:New Year\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
	s.do(owner, put, days, calendar).empty(204)
	got := decode[m](s.do(bob, get, days, nil).is(200))
	require.Contains(t, got["holidays"], any(m{"date": "2027-01-01", "name": "New Year"}))
	s.do(owner, put, days, "nonsense").problem(400, "body")
	s.do(bob, put, days, calendar).problem(403, "")
	s.do(owner, del, days, nil).empty(204)
	require.Empty(t, decode[m](s.do(bob, get, days, nil).is(200))["holidays"])

	s.event("ann", "primary", now-3600, now+3600)
	gaps := itemsOf[m](s.do(bob, get, fmt.Sprintf("/v1/teams/ops/gaps?role=primary&start=%s&end=%s",
		rfc3339(now), rfc3339(now+day)), nil).is(200))
	require.Equal(t, []m{{"role": "primary", "kind": "nobody", "start": rfc3339(now + 3600), "end": rfc3339(now + day)}},
		gaps)
	s.do(owner, put, "/v1/teams/ops/coverage/primary", m{"cover": "never"}).is(200)
	require.Equal(t, []m{{"role": "primary", "cover": "never", "hours": []any{}}},
		itemsOf[m](s.do(bob, get, "/v1/teams/ops/coverage", nil).is(200)))
	require.Empty(t, itemsOf[m](s.do(bob, get, fmt.Sprintf("/v1/teams/ops/gaps?start=%s&end=%s", rfc3339(now),
		rfc3339(now+day)), nil).is(200)))
	s.do(owner, put, "/v1/teams/ops/coverage/primary", m{"cover": "sometimes"}).problem(400, "cover")
	unknown := s.do(owner, put, "/v1/teams/ops/coverage/nope", m{"cover": "always"})
	unknown.problem(404, "")
	require.Equal(t, `there is no role "nope"`, decode[m](unknown)["detail"])
	shares := itemsOf[m](s.do(bob, get, fmt.Sprintf("/v1/teams/ops/fairness?start=%s&end=%s",
		rfc3339(now-day), rfc3339(now+day)), nil).is(200))
	require.Len(t, shares, 1)
	require.Equal(t, []any{"ann", float64(2), float64(1)}, []any{shares[0]["user"], shares[0]["hours"],
		shares[0]["shifts"]})
	s.do(bob, get, fmt.Sprintf("/v1/teams/ops/gaps?start=%s&end=%s", rfc3339(now), rfc3339(now-1)), nil).problem(400, "end")
	s.do(bob, get, fmt.Sprintf("/v1/teams/ops/gaps?start=%d", now), nil).problem(400, "start")
}

func TestBonusAndReadiness(t *testing.T) {
	t.Parallel()
	list := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode([]m{{"name": "ops", "primary_paid": 1, "secondary_paid": 0}})
	}))
	t.Cleanup(list.Close)
	s := newCalendar(t, configured(t, "oncall: {bonus_url: \""+list.URL+"\"}\n"))
	now := time.Now().Unix()
	s.event("ann", "primary", now+3600, now+7200)
	s.event("bob", "secondary", now+3600, now+7200)
	paid := decode[map[string][]m](s.do(scheduler, get, "/api/v0/events/bonus", nil).is(200))
	require.Contains(t, paid, "ann")
	require.NotContains(t, paid, "bob")

	for path, status := range map[string]int{"/readyz": http.StatusOK, "/readyz/paging": http.StatusServiceUnavailable} {
		resp, err := http.Get(s.url + path)
		require.NoError(t, err)
		_ = resp.Body.Close()
		require.Equal(t, status, resp.StatusCode,
			"without a processor the server accepts incidents and nobody is paged: %s", path)
	}
}

func TestImportedCalendars(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	s.roster()
	const path = "/v1/teams/ops/imports?role=primary&roster=r"
	at := time.Now().UTC().Truncate(time.Hour).Add(24 * time.Hour)
	event := func(uid, who string, start time.Time) string {
		return "BEGIN:VEVENT\r\nUID:" + uid + "\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:" +
			start.Format("20060102T150405Z") + "\r\nDTEND:" +
			start.Add(2*time.Hour).Format("20060102T150405Z") + "\r\nSUMMARY:" + who + "\r\nEND:VEVENT\r\n"
	}
	calendar := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\n" + event("1", "ann", at) +
		event("2", "bob", at.Add(2*time.Hour)) + event("3", "zoe", at.Add(4*time.Hour)) + "END:VCALENDAR\r\n"
	before := s.number("select count(*) from shifts")
	require.Contains(t, s.do(owner, post, path+"&preview=true", calendar).is(200).body, "zoe",
		"who is not known is told")
	require.Equal(t, before, s.number("select count(*) from shifts"), "a preview writes nothing")
	for range 2 {
		a := s.do(owner, post, path, calendar)
		require.Less(t, a.status, 300, a.body)
		require.Equal(t, before+2, s.number("select count(*) from shifts"), "the same calendar again changes nothing")
	}
	s.do(owner, post, "/v1/teams/ops/unavailability", m{"start": at, "end": at.Add(time.Hour)}).is(201)
	shorter := strings.Replace(calendar, "DTEND:"+at.Add(2*time.Hour).Format("20060102T150405Z"), "DTEND:"+
		at.Add(time.Hour).Format("20060102T150405Z"), 1)
	moved := decode[m](s.do(owner, post, path+"&preview=true", shorter).is(200))
	require.Len(t, moved["changed"], 1, moved)
	changed := moved["changed"].([]any)[0].(m)
	require.Equal(t, time.Hour, instant(t, changed["before"].(m)["end"]).Sub(instant(t, changed["after"].(m)["end"])))
	require.Len(t, moved["conflicts"], 1, "ann is unavailable in the changed shift")
	s.do(owner, post, path, "nonsense").is(400)
	s.do(bob, post, path, calendar).problem(403, "")
}
