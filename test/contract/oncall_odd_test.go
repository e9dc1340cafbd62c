package contract

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOncallConventions(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	s.do(scheduler, post, "/api/v0/teams", m{"name": "n\u00fcll ☃: $?", "scheduling_timezone": "utc",
		"admin": "ann"}).empty(201)
	for _, path := range []string{"n%C3%BCll+%E2%98%83%3A+%24%3F", "n%C3%BCll%20%E2%98%83:%20$%3F", "n%C3%BCll%20%E2%98%83:%20$%3F/"} {
		require.Equal(t, "nüll ☃: $?", decode[m](s.do(scheduler, get, "/api/v0/teams/"+path, nil).is(200))["name"],
			path)
	}
	s.do(scheduler, get, "/api/v0/teams/a%2Fb", nil).refuses(404, "404 Not Found")
	s.do(scheduler, post, "/api/v0/teams", m{"name": "this & that", "scheduling_timezone": "UTC",
		"admin": "ann"}).refuses(400, "invalid team name", `team name contains invalid character "&"`)
	s.do(owner, put, "/api/v0/teams/ops", m{"description": "d"}, "Content-Type",
		"application/x-www-form-urlencoded").empty(200)
	for _, path := range []string{"/api/v0/teams/", "/api/v0/roles/", "/api/v0/timezones/", "/api/v0/teams/ops/rosters/"} {
		s.do(scheduler, get, path, nil).is(200)
	}
	for allowed, methods := range map[string][]string{"GET, HEAD, POST": {del, put, "PATCH"}} {
		for _, method := range methods {
			a := s.do(scheduler, method, "/api/v0/teams", nil)
			a.refuses(405, "405 Method Not Allowed")
			require.Equal(t, allowed, a.header.Get("Allow"))
		}
	}
	a := s.do(anonymous, http.MethodOptions, "/api/v0/teams/ops", nil).empty(200)
	for _, method := range []string{"GET", "PUT", "DELETE", "OPTIONS"} {
		require.Contains(t, a.header.Get("Allow"), method)
	}
	require.Empty(t, s.do(scheduler, http.MethodHead, "/api/v0/teams", nil).is(200).body)
	for _, v := range []string{"true", "True", "yes", "t", "y", "on", "1"} {
		require.Contains(t, s.do(scheduler, get, "/api/v0/teams?get_id="+v, nil).is(200).body, "[[", v)
	}
	for _, v := range []string{"false", "False", "no", "f", "n", "off", "0"} {
		require.NotContains(t, s.do(scheduler, get, "/api/v0/teams?get_id="+v, nil).is(200).body, "[[", v)
	}
	s.do(scheduler, get, "/api/v0/teams?get_id=maybe", nil).refuses(400, "Invalid parameter",
		`The "get_id" parameter is invalid. The value of the parameter must be "true" or "false".`)
}

func TestOncallFilters(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	s.do(admin, post, "/api/v0/services", m{"name": "Shop_1"}).empty(201)
	for query, want := range map[string]string{
		"teams?name=OPS":                                     `[]`,
		"teams?name__contains=p":                             `["ops"]`,
		"teams?name__contains=o_s":                           `["ops"]`,
		"teams?name__startswith=%25s":                        `["ops"]`,
		"teams?name__contains=P":                             `[]`,
		"teams?name__endswith=ps&name__startswith=o":         `["ops"]`,
		"teams?name=ops&name=other":                          `[]`,
		"teams?nonsense=1&name=ops":                          `["ops"]`,
		"teams?name__ne=ops":                                 `["ops"]`,
		"teams?active=no":                                    `[]`,
		"teams/ops/users?active=0":                           `[]`,
		"services?name__startswith=Shop":                     `["Shop_1"]`,
		"services?name=shop_1":                               `[]`,
		"roles?id__ge=6&fields=name":                         `[{"name": "unavailable"}]`,
		"roles?id__gt=1&id__lt=3&id__ne=7&fields=id":         `[{"id": 2}]`,
		"roles?name__endswith=ary&id__le=1&fields=name":      `[{"name": "primary"}]`,
		"users?name=viewer&fields=name&fields=active":        `[{"name": "viewer", "active": 1}]`,
		"users?active=0&fields=name":                         `[{"name": "gone"}]`,
		"users?name__contains=o&name__endswith=b&fields=god": `[{"god": 0}]`,
	} {
		s.do(scheduler, get, "/api/v0/"+query, nil).says(200, want)
	}
	for _, query := range []string{"teams?id=x", "users?id__lt=NaN", "roles?id=1e400", "services?id=", "events?start=soon"} {
		s.do(scheduler, get, "/api/v0/"+query, nil).says(200, `[]`) // counts as 0
	}
	s.do(scheduler, get, "/api/v0/teams/ops/rosters?id=x", nil).says(200, `{}`)
	for _, query := range []string{"users?fields=id,name", "roles?fields=x",
		"events?link_id=1", "events?user__ne=ann", "events?start__contains=1", "events?include_subscribed=2", "audit?start=x", "users/bob/upcoming?limit=x"} {
		s.do(scheduler, get, "/api/v0/"+query, nil).is(400)
	}
	for _, query := range []string{"teams?name=%00", "users?name=%FF", "search?keyword=%00", "search?keyword=a%5C", "teams/%00", "users/%FF", "services/%00", "events/%00", "schedules/-1",
		"audit?team=%00", "teams/ops/oncall/%00", "search?keyword=" + strings.Repeat("x", 5000)} {
		require.Less(t, s.do(scheduler, get, "/api/v0/"+query, nil).status, 500, query)
	}
}

// Puts a value of every wrong type into every place of every body. Each is a 400, and nothing is stored.
func TestOncallInvalidValues(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	s.roster()
	now := time.Now().Unix()
	event := s.event("ann", "primary", now+day, now+2*day)
	weekly := m{"role": "primary", "advanced_mode": 0, "events": []m{{"start": 0, "duration": 7 * day}},
		"scheduler": m{"name": "round-robin", "data": []string{"ann"}}, "auto_populate_threshold": 7}
	schedule := decode[map[string]int64](s.do(owner, post, "/api/v0/teams/ops/rosters/r/schedules",
		weekly).is(201))["id"]
	notice := m{"team": "ops", "roles": []string{"primary"}, "mode": "email", "type": "oncall_reminder",
		"time_before": 60}
	shift := m{"start": now + 3*day, "end": now + 4*day, "user": "ann", "team": "ops", "role": "primary"}
	count := func() []int64 {
		var out []int64
		for _, table := range []string{"teams", "team_members", "rosters", "roster_members", "schedules", "shifts", "users", "oncall_roles", "services", "oncall_audit", "notice_settings"} {
			out = append(out, s.number("select count(*) from "+table))
		}
		return out
	}
	before := count()
	var text, list, object, number any = "x", []any{}, m{}, 7
	for _, c := range []struct {
		as           caller
		method, path string
		good         m
		wrong        map[string][]any
	}{
		{owner, post, "/teams", m{"name": "odd", "scheduling_timezone": "UTC"},
			map[string][]any{"name": {number, list, object, true},
				"scheduling_timezone": {number, list, "Mars/Base", "\x00"},
				"email":               {number, list}, "iris_enabled": {text, number, list,
					object}, "override_phone_number": {number,
					strings.Repeat("5", 300)}, "slack_channel": {number, text}}},
		{owner, put, "/teams/ops", m{}, map[string][]any{"name": {number, list, "", "a/b"},
			"iris_enabled": {number, text, nil, list}, "api_managed_roster": {number, text,
				nil}, "scheduling_timezone": {text, number}}},
		{owner, post, "/teams/ops/users", m{}, map[string][]any{"name": {number, list, object}}},
		{owner, post, "/teams/ops/admins", m{}, map[string][]any{"name": {number, list, object, nil, ""}}},
		{owner, post, "/teams/ops/rosters", m{},
			map[string][]any{"name": {number, list, object, nil, "", "\x00", strings.Repeat("x", 300)}}},
		{owner, put, "/teams/ops/rosters/r", m{}, map[string][]any{"name": {number, list, "", "a,b"},
			"roster_order": {text, number, object, []any{1}, []any{nil}, []string{"ann", "ann", "bob"}}}},
		{owner, post, "/teams/ops/rosters/r/users", m{"name": "root"},
			map[string][]any{"name": {number, list, nil}, "in_rotation": {text, list, object, 2}}},
		{owner, put, "/teams/ops/rosters/r/users/ann", m{},
			map[string][]any{"in_rotation": {text, list, object, 2, nil, "true"}}},
		{owner, post, "/teams/ops/rosters/r/schedules", weekly,
			map[string][]any{"role": {number, list, nil}, "advanced_mode": {text, list, 2, nil},
				"auto_populate_threshold": {text, list, true, 1e300},
				"events": {text, number, object, nil, []any{1}, []any{nil}, []any{list},
					[]m{{"start": text, "duration": 1}}, []m{{"start": nil, "duration": 1}}, []m{{"start": 0,
						"duration": -1}}, []m{{"start": 1e18, "duration": 7 * day}}},
				"scheduler": {text, number, list, m{"name": 1}, m{"name": "round-robin", "data": text},
					m{"name": "round-robin", "data": []any{1}}}}},
		{owner, put, fmt.Sprintf("/schedules/%d", schedule), m{},
			map[string][]any{"role": {number, list}, "team": {number, list}, "events": {text, []any{1}},
				"scheduler": {text, list}, "advanced_mode": {text, 2}}},
		{owner, post, fmt.Sprintf("/schedules/%d/populate", schedule), m{},
			map[string][]any{"start": {nil, text, list, true, -1, 1e30}}},
		{owner, post, "/events", shift, map[string][]any{"start": {nil, text, list, true, -1, 1e20, 1e300},
			"end": {nil, text, object, 1e20}, "user": {nil, number, list}, "team": {nil, number, list}, "role": {nil,
				number, object}, "note": {number, list, true}, "schedule_id": {text, list, true}}},
		{owner, put, fmt.Sprintf("/events/%d", event), m{}, map[string][]any{"start": {text, list, true, 1e20},
			"end": {text, object}, "user": {number, list, text}, "role": {number, list}, "note": {number, list}}},
		{owner, post, "/events/swap", m{},
			map[string][]any{"events": {nil, text, object, list, []any{1, 2}, []any{list, list},
				[]m{{"id": event}, {}}, []m{{"id": event}, {"id": text}}, []m{{"id": event},
					{"id": true}}, []m{{"id": event}, {"id": event, "linked": text}}}}},
		{owner, post, "/events/override", m{"start": now + day, "end": now + 2*day, "event_ids": []int64{event},
			"user": "bob"}, map[string][]any{"start": {nil, text, list, 1e300}, "end": {nil, true}, "user": {nil,
			number, "nobody"}, "event_ids": {nil, text, object, list, []any{nil}, []any{"x"}, []any{list}}}},
		{admin, put, "/users/bob", m{}, map[string][]any{"name": {number, list, "", "\x00", "ſyſadm"}}},
		{bob, put, "/users/bob", m{}, map[string][]any{"full_name": {number, list}, "active": {text, list, 2},
			"contacts": {text, number, list, m{"email": 1}, m{"smoke": "x"}, m{"email": "nobody"}, m{"call": "555"}}}},
		{bob, post, "/users/bob/pinned_teams", m{}, map[string][]any{"team": {nil, number, list, ""}}},
		{bob, post, "/users/bob/notifications", notice, map[string][]any{"team": {number, list, nil},
			"roles": {text, number, list, object, []any{1}, []any{nil}, []string{"primary", "boss"}}, "mode": {number,
				text, nil}, "type": {number, text, nil}, "time_before": {text, list, true, -1, 1e20}}},
		{owner, post, "/teams/ops/subscriptions", m{"subscription": "x", "role": "primary"},
			map[string][]any{"subscription": {nil, number, list}, "role": {nil, number, object, ""}}},
		{admin, post, "/users", m{}, map[string][]any{"name": {nil, "", number, list, "\x00", "a\x00b",
			strings.Repeat("x", 300)}}},
		{admin, post, "/roles", m{}, map[string][]any{"name": {nil, "", number, list, "\x00", "a\nb"}}},
		{admin, post, "/services", m{}, map[string][]any{"name": {nil, "", number, list, "\x00"}}},
	} {
		for field, values := range c.wrong {
			for _, v := range values {
				body := changed(c.good, m{})
				body[field] = v
				a := s.do(c.as, c.method, "/api/v0"+c.path, body)
				require.Equal(t, 400, a.status, "%s with %s = %v: %s", a.what, field, v, a.body)
				require.NotEmpty(t, decode[m](a)["title"], a.what)
			}
		}
		if c.method == post {
			for _, whole := range []string{"", "null", `"x"`, "{", "\x00"} {
				s.do(c.as, c.method, "/api/v0"+c.path, whole).is(400)
			}
		}
	}
	require.Equal(t, before, count(), "nothing is half-written")
	a := s.do(owner, post, "/api/v0/events/link", []any{shift, 1})
	a.refuses(400, "Invalid event", "events[1] must be an object")
}

// Tests every way in which an override and shifts can overlap (docs/reference/oncall-v0.md 6.6).
func TestOncallOverrideCases(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	s.roster()
	const h = 3600
	at := time.Now().Unix() + 2*day
	for _, c := range []struct {
		name       string
		given      [][2]int64
		start, end int64
		want       []string // start-end person note
	}{
		{"a whole shift", [][2]int64{{0, 24}}, 0, 24, []string{"0-24 bob "}},
		{"wider on both sides", [][2]int64{{0, 24}}, -5, 48, []string{"0-24 bob "}},
		{"the head stays", [][2]int64{{0, 24}}, 1, 24, []string{"0-1 ann n0", "1-24 bob "}},
		{"the head stays, the window is longer", [][2]int64{{0, 24}}, 1, 48, []string{"0-1 ann n0", "1-24 bob "}},
		{"the tail stays", [][2]int64{{0, 24}}, -1, 2, []string{"0-2 bob ", "2-24 ann n0"}},
		{"inside", [][2]int64{{0, 24}}, 1, 2, []string{"0-1 ann ", "1-2 bob ", "2-24 ann "}},
		{"across a joint", [][2]int64{{0, 24}, {24, 48}}, 23, 25,
			[]string{"0-23 ann n0", "23-25 bob ", "25-48 ann n1"}},
		{"three, the middle one goes", [][2]int64{{0, 24}, {24, 48}, {48, 72}}, 1, 71,
			[]string{"0-1 ann n0", "1-71 bob ", "71-72 ann n2"}},
		{"three as one", [][2]int64{{0, 24}, {24, 48}, {48, 72}}, -1, 90, []string{"0-72 bob "}},
	} {
		at += 30 * day
		var ids []int64
		for i, span := range c.given {
			ids = append(ids, decode[int64](s.do(owner, post, "/api/v0/events",
				m{"start": at + span[0]*h, "end": at + span[1]*h, "user": "ann", "team": "ops", "role": "primary",
					"note": fmt.Sprint("n", i)}).is(201)))
		}
		slices.Reverse(ids) // the answer does not depend on the order of the ids
		got := decode[[]m](s.do(bob, post, "/api/v0/events/override",
			m{"start": at + c.start*h, "end": at + c.end*h, "event_ids": ids, "user": "bob"}).is(200))
		var stored []string
		for _, e := range decode[[]m](s.do(bob, get, fmt.Sprintf("/api/v0/events?team=ops&start__ge=%d&start__lt=%d", at-day, at+10*day), nil).is(200)) {
			note, _ := e["note"].(string)
			stored = append(stored, fmt.Sprintf("%d-%d %s %s", (int64(e["start"].(float64))-at)/h,
				(int64(e["end"].(float64))-at)/h, e["user"], note))
			require.Nil(t, e["schedule_id"], c.name)
			require.Nil(t, e["link_id"], c.name)
		}
		require.Equal(t, c.want, stored, c.name)
		require.Len(t, got, len(c.want), "%s: the answer has the survivors and what is new", c.name)
	}
	at += 30 * day
	one, far := s.event("ann", "primary", at, at+day), s.event("ann", "primary", at+2*day, at+3*day)
	next, role := s.event("ann", "primary", at+day, at+2*day-h), s.event("ann", "shadow", at+day, at+2*day)
	with := func(start, end int64, ids ...int64) answer {
		return s.do(bob, post, "/api/v0/events/override", m{"start": start, "end": end, "event_ids": ids,
			"user": "bob"})
	}
	const bad = "Invalid override request"
	with(at, at+3*day, one, far).refuses(400, bad, "events must be consecutive")
	with(at, at+day, one, next, far).refuses(400, bad, "events must overlap with override time range")
	with(at, at+3*day, one, role).refuses(400, bad, "events must have the same role")
	with(at+5*day, at+6*day, one).refuses(400, bad, "events must overlap with override time range")
	s.do(viewer, post, "/api/v0/events/override", m{"start": 5, "end": at + day, "event_ids": []int64{one},
		"user": "bob"}).is(403)
}

// Tests which team's number replaces that of a primary, also with subscriptions (docs/reference/oncall-v0.md 4).
func TestOncallOverridePhone(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	now := time.Now().Unix()
	s.do(owner, post, "/api/v0/teams", m{"name": "core", "scheduling_timezone": "UTC",
		"override_phone_number": "+15550000002"}).empty(201)
	s.do(owner, put, "/api/v0/teams/ops", m{"override_phone_number": "+15550000001"}).empty(200)
	s.do(owner, post, "/api/v0/teams/ops/subscriptions", m{"subscription": "core", "role": "primary"}).empty(201)
	s.event("bob", "primary", now-60, now+day)
	s.event("bob", "manager", now-50, now+day)
	for _, role := range []string{"primary", "secondary"} {
		s.do(owner, post, "/api/v0/events", m{"start": now - 30, "end": now + day, "user": "ann", "team": "core",
			"role": role}).is(201)
		s.do(owner, post, "/api/v0/events", m{"start": now + day, "end": now + 2*day, "user": "ann", "team": "core",
			"role": role}).is(201)
	}
	s.do(admin, post, "/api/v0/services", m{"name": "shop"}).empty(201)
	s.do(owner, post, "/api/v0/teams/ops/services", m{"name": "shop"}).empty(201)
	calls := func(path string) (out []string) {
		t.Helper()
		for _, e := range decode[[]m](s.do(scheduler, get, path, nil).is(200)) {
			call, _ := e["contacts"].(m)["call"].(string)
			out = append(out, fmt.Sprint(e["user"], " ", e["team"], " ", e["role"], " ", call))
		}
		return out
	}
	require.Equal(t, []string{"bob ops primary +15550000001", "ann core primary +15550000001"},
		calls("/api/v0/teams/ops/oncall"), "one entry for each person; the asked team's number")
	require.Equal(t, []string{"bob ops primary +15550000001", "ann core primary +15550000001"},
		calls("/api/v0/teams/ops/oncall/primary"))
	require.Equal(t, []string{"bob ops manager "}, calls("/api/v0/teams/ops/oncall/manager"))
	require.Nil(t, calls("/api/v0/teams/ops/oncall/secondary"),
		"of the other team only the role that was subscribed to")
	require.Equal(t, []string{"bob ops primary +15550000001", "ann core primary "},
		calls("/api/v0/services/shop/oncall/primary"), "each team's own number, if it owns the service")
	sum := decode[map[string]map[string][]m](s.do(scheduler, get, "/api/v0/teams/ops/summary", nil).is(200))
	require.Len(t, sum["current"]["primary"], 2)
	for _, e := range sum["current"]["primary"] {
		require.Equal(t, "+15550000001", e["user_contacts"].(m)["call"])
	}
	require.NotContains(t, sum["current"]["manager"][0]["user_contacts"], "call")
	require.NotContains(t, sum["next"]["primary"][0]["user_contacts"], "call", "who comes next keeps their number")
	require.NotContains(t, sum["current"], "secondary")
	for query, teams := range map[string]int{"team=ops": 2, "team__contains=ps": 2, "team__endswith=ps": 1, "team=ops&include_subscribed=off": 1, "team=ops&user=ann": 1} {
		seen := map[any]bool{}
		for _, e := range decode[[]m](s.do(scheduler, get, "/api/v0/events?"+query, nil).is(200)) {
			seen[e["team"]] = true
		}
		require.Len(t, seen, teams, query)
	}
}

func TestOncallSuggestions(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	s.roster()
	now := time.Now().Unix()
	suggest := func(start, end int64, want string) {
		t.Helper()
		s.do(scheduler, get, fmt.Sprintf("/api/v0/teams/ops/rosters/r/primary/suggest?start=%d&end=%d", start,
			end), nil).says(200, want)
	}
	suggest(now+10*day, now+11*day, `{"user": "ann", "data": {"ann": "infinity", "bob": "infinity"}}`)
	s.event("ann", "primary", now+8*day, now+9*day)
	s.event("bob", "primary", now+13*day, now+14*day)
	s.event("bob", "secondary", now+5*day, now+6*day)
	suggest(now+10*day, now+11*day, fmt.Sprintf(`{"user": "bob", "data": {"ann": %d, "bob": %d}}`, 2*day, 3*day))
	s.event("bob", "shadow", now+10*day, now+12*day)
	suggest(now+10*day, now+11*day, fmt.Sprintf(`{"user": "ann", "data": {"ann": %d}}`, 2*day))
	suggest(now+9*day, now+10*day, fmt.Sprintf(`{"user": "bob", "data": {"ann": %d, "bob": %d}}`, day, 4*day))
	s.event("ann", "vacation", now+10*day, now+11*day)
	suggest(now+10*day, now+11*day, `{"user": null, "data": {}}`)
	s.do(owner, put, "/api/v0/teams/ops/rosters/r/users/ann", m{"in_rotation": false}).is(200)
	suggest(now+40*day, now+41*day, `{"user": "bob", "data": {"bob": "infinity"}}`)
}

// A library panics on these recurrence rules, on some only months after their start. None may end a process.
func TestRulesOnWhichALibraryPanics(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	s.roster()
	start := time.Now().UTC().AddDate(-1, 0, 0).Truncate(time.Hour)
	for _, rule := range []string{"FREQ=MONTHLY;BYDAY=9MO", "FREQ=MONTHLY;BYDAY=1MO,9MO", "FREQ=YEARLY;BYMONTH=1,12;BYDAY=1MO,-9MO", "FREQ=YEARLY;BYEASTER=1000", "FREQ=YEARLY;BYDAY=400MO"} {
		a := s.do(bob, post, "/v1/teams/ops/unavailability",
			m{"start": start, "end": start.Add(time.Hour), "rule": rule})
		a.problem(400, "rule")
		calendar := "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:x\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:" + start.Format("20060102T150405Z") +
			"\r\nDTEND:" + start.Add(time.Hour).Format("20060102T150405Z") + "\r\nRRULE:" + rule +
			"\r\nSUMMARY:ann\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
		s.do(owner, put, "/v1/teams/ops/holidays", calendar).problem(400, "body")
		s.do(owner, post, "/v1/teams/ops/imports?role=primary&roster=r", calendar)
	}
	s.do(bob, post, "/v1/teams/ops/unavailability", m{"start": start, "end": start.Add(time.Hour),
		"rule": "FREQ=MONTHLY;BYDAY=5MO,-5FR"}).is(201)
	weekly := m{"role": "primary", "advanced_mode": 0, "events": []m{{"start": 0, "duration": 7 * day}},
		"auto_populate_threshold": 400}
	id := decode[map[string]int64](s.do(owner, post, "/api/v0/teams/ops/rosters/r/schedules", weekly).is(201))["id"]
	s.do(owner, post, fmt.Sprintf("/api/v0/schedules/%d/populate", id), m{"start": time.Now().Unix()}).empty(200)
}
