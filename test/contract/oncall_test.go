package contract

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const day = int64(24 * 60 * 60)

// scheduler is an application that may use the on-call API.
var scheduler = caller{name: "an application of the on-call API", app: "scheduler"}

func newCalendar(t *testing.T, env ...string) *server {
	t.Helper()
	s := newServer(t, env...)
	s.exec("update team_members set admin = true where user_id = (select id from users where name = 'ann')")
	s.keys["scheduler"] = s.keys["other"]
	s.exec("update applications set name = 'scheduler', allow_oncall = true where name = 'other'")
	return s
}

// roster makes roster r of team ops with ann and bob.
func (s *server) roster() {
	s.Helper()
	s.do(owner, post, "/api/v0/teams/ops/rosters", m{"name": "r"}).empty(201)
	for _, name := range []string{"ann", "bob"} {
		s.do(owner, post, "/api/v0/teams/ops/rosters/r/users", m{"name": name}).is(201)
	}
}

// event makes an event of team ops and returns its id.
func (s *server) event(user, role string, start, end int64) int64 {
	s.Helper()
	return decode[int64](s.do(owner, post, "/api/v0/events",
		m{"start": start, "end": end, "user": user, "team": "ops", "role": role}).is(201))
}

func TestOncallErrorsAndCredentials(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	s.do(scheduler, get, "/api/v0/nowhere", nil).says(404, `{"title": "404 Not Found"}`)
	s.do(scheduler, get, "/api/v0/teams/nowhere", nil).says(404, `{"title": "404 Not Found"}`)
	s.do(scheduler, del, "/api/v0/modes", nil).says(405, `{"title": "405 Method Not Allowed"}`)
	a := s.do(scheduler, post, "/api/v0/teams", "{").is(400)
	require.Equal(t, "invalid JSON", decode[m](a)["title"])
	require.Contains(t, decode[m](a)["description"], "failed to decode json")
	s.do(scheduler, get, "/api/v0/search", nil).refuses(400, "Missing parameter",
		`The "keyword" parameter is required.`)
	s.do(anonymous, get, "/api/v0/teams", nil).refuses(401, "Unauthorized", "User must be logged in")
	s.do(anonymous, get, "/api/v0/teams", nil, "Authorization", "Basic x").refuses(401, "Authentication failure",
		"Invalid digest format")
	s.do(anonymous, get, "/api/v0/teams", nil, "Authorization", "hmac nix:x").refuses(401, "Authentication failure",
		"Wrong digest")
	s.do(anonymous, get, "/api/v0/teams", nil, "Authorization", "hmac scheduler:x").refuses(401,
		"Authentication failure", "Wrong digest")
	s.do(demo, get, "/api/v0/teams", nil).is(403)
	for _, token := range []string{"", "wrong"} {
		s.do(owner, post, "/api/v0/teams", m{"name": "x", "scheduling_timezone": "UTC"}, "X-CSRF-TOKEN",
			token).refuses(401, "Invalid Session", "CSRF validation failed")
	}
	for name, value := range map[string]string{"X-Frame-Options": "SAMEORIGIN", "X-Content-Type-Options": "nosniff"} {
		require.Equal(t, value, a.header.Get(name))
	}
}

func TestOncallLogin(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	s.do(anonymous, post, "/login", "", form...).refuses(400, "Invalid login attempt", "Missing user/password")
	s.do(anonymous, post, "/login", "username=ann&password=wrong", form...).refuses(401, "Authentication failure",
		"bad login credentials")
	a := s.do(anonymous, post, "/login", "username=ann&password="+strings.ReplaceAll(password, " ", "+"),
		form...).is(200)
	u := decode[m](a)
	require.Equal(t, "ann", u["name"])
	require.Regexp(t, "^[0-9a-f]{16,}$", u["csrf_token"])
	require.Contains(t, a.header.Get("Set-Cookie"), "HttpOnly")
	require.Contains(t, a.header.Get("Set-Cookie"), "SameSite=Lax")
	s.do(anonymous, post, "/logout", nil).empty(200)
}

func TestOncallTeams(t *testing.T) {
	t.Parallel()
	s := newCalendar(t, configured(t, "oncall: {escalate_application: demo}\n"))
	s.do(scheduler, get, "/api/v0/teams", nil).says(200, `["ops"]`)
	s.do(scheduler, get, "/api/v0/teams?fields=name&active=1&get_id=1", nil).is(200)
	pairs := decode[[][]any](s.do(scheduler, get, "/api/v0/teams?get_id=true", nil).is(200))
	require.Equal(t, "ops", pairs[0][0])
	good := m{"name": "night watch", "scheduling_timezone": "Europe/Zurich", "email": "n@example.com",
		"slack_channel": "#night"}
	s.do(bob, post, "/api/v0/teams", good).empty(201)
	team := decode[m](s.do(scheduler, get, "/api/v0/teams/night%20watch", nil).is(200))
	require.ElementsMatch(t, []string{"id", "name", "email", "slack_channel", "slack_channel_notifications",
		"scheduling_timezone", "iris_plan", "iris_enabled",
		"override_phone_number", "api_managed_roster", "description", "users", "admins", "services", "rosters"},
		keysOf(team))
	require.Equal(t, []any{map[string]any{"name": "bob"}}, team["admins"], "who makes a team is its administrator")
	require.Contains(t, team["users"], "bob")
	require.EqualValues(t, 0, team["iris_enabled"])
	some := decode[m](s.do(scheduler, get, "/api/v0/teams/ops?fields=users&fields=nonsense", nil).is(200))
	require.Contains(t, some, "users")
	require.NotContains(t, some, "admins")
	for _, c := range []struct {
		as                 caller
		change             m
		title, description string
	}{
		{bob, m{"name": nil}, "400 Bad Request", "name attribute missing from request"},
		{bob, m{"scheduling_timezone": nil}, "400 Bad Request", "scheduling_timezone attribute missing from request"},
		{bob, m{"name": "a/b"}, "invalid team name", `team name contains invalid character "/"`},
		{bob, m{"slack_channel": "night"}, "invalid slack channel", "slack channel name needs to start with #"},
		{bob, m{"slack_channel_notifications": "night"}, "invalid slack notifications channel",
			"slack channel notifications name needs to start with #"},
		{bob, m{"iris_plan": "none"}, "invalid iris escalation plan", "no iris plan named none exists"},
		{scheduler, m{}, "invalid admin", "API requests must specify a team admin username in the admin field"},
		{scheduler, m{"admin": "zoe"}, "invalid admin", "admin username zoe was not found in db"},
	} {
		s.do(c.as, post, "/api/v0/teams", changed(changed(good, m{"name": "other"}), c.change)).refuses(400, c.title,
			c.description)
	}
	s.do(bob, post, "/api/v0/teams", good).refuses(422, "IntegrityError", `team name "night watch" already exists`)
	s.do(scheduler, post, "/api/v0/teams", m{"name": "apps", "scheduling_timezone": "UTC", "admin": "ann"}).empty(201)

	const path = "/api/v0/teams/ops"
	s.do(bob, put, path, m{"email": "x"}).refuses(403, "Unauthorized",
		`Action not allowed: "bob" is not an admin for "ops"`)
	for _, may := range []caller{owner, admin, scheduler} {
		s.do(may, put, path, m{"email": "ops@example.com", "iris_plan": "pager", "iris_enabled": true}).empty(200)
	}
	s.do(owner, put, path, m{"name": "a&b"}).refuses(400, "invalid team name",
		`team name contains invalid character "&"`)
	s.do(owner, put, path, m{"name": ""}).refuses(400, "invalid team name", "empty team name")
	s.do(owner, put, path, m{"iris_enabled": 1}).refuses(400, "invalid payload", "iris_enabled must be boolean")
	s.do(owner, put, path, m{"api_managed_roster": "x"}).refuses(400, "invalid payload",
		"api_managed_roster must be boolean")
	require.Contains(t, s.do(owner, put, path, m{"scheduling_timezone": "Mars/Base"}).is(400).body,
		"requested scheduling_timezone is not supported")
	s.do(owner, put, path, m{"name": "apps"}).refuses(422, "IntegrityError", "A team named 'apps' already exists")
	require.EqualValues(t, 1, decode[m](s.do(scheduler, get, path, nil).is(200))["iris_enabled"])
	s.do(scheduler, get, "/api/v0/team_users", nil).is(200)

	s.do(bob, del, path, nil).is(403)
	now := time.Now().Unix()
	past, future := s.event("ann", "primary", now-100, now+100), s.event("ann", "primary", now+day, now+2*day)
	s.do(owner, del, path, nil).empty(200)
	s.do(scheduler, get, path, nil).is(404)
	s.do(scheduler, get, fmt.Sprintf("/api/v0/events/%d", past), nil).is(200)
	s.do(scheduler, get, fmt.Sprintf("/api/v0/events/%d", future), nil).is(404)
	s.do(bob, post, "/api/v0/teams", changed(good, m{"name": "ops"})).empty(201)
	s.do(scheduler, del, "/api/v0/teams/nowhere", nil).is(404)
}

func TestOncallMembers(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	const users, admins = "/api/v0/teams/ops/users", "/api/v0/teams/ops/admins"
	s.do(scheduler, get, users, nil).says(200, `["ann", "bob"]`)
	s.do(scheduler, get, "/api/v0/teams/nowhere/users", nil).says(200, `[]`)
	require.Equal(t, "root", decode[m](s.do(owner, post, users, m{"name": "root"}).is(201))["name"])
	s.do(owner, post, users, m{"name": "root"}).refuses(422, "IntegrityError",
		`user name "root" is already in team ops`)
	s.do(owner, post, users, m{}).refuses(422, "IntegrityError", "name missing for user")
	s.do(owner, post, users, m{"name": "zoe"}).refuses(422, "IntegrityError", "user zoe not found")
	s.do(scheduler, post, "/api/v0/teams/nowhere/users", m{"name": "root"}).refuses(422, "IntegrityError",
		"team nowhere not found")
	s.do(bob, post, users, m{"name": "root"}).is(403)
	s.do(owner, del, users+"/root", nil).empty(200)
	s.do(owner, del, users+"/root", nil).is(404)

	s.do(scheduler, get, admins, nil).says(200, `["ann"]`)
	s.do(owner, post, admins, m{"name": "bob"}).is(201)
	s.do(owner, post, admins, m{"name": "bob"}).refuses(422, "IntegrityError",
		`user name "bob" is already an admin of team ops`)
	s.do(owner, post, admins, m{}).refuses(400, "name attribute missing from request",
		"name attribute missing from request")
	s.do(owner, post, admins, m{"name": "zoe"}).refuses(422, "IntegrityError", "invalid team or user")
	s.do(bob, del, admins+"/ann", nil).empty(200)
	s.do(bob, del, admins+"/ann", nil).is(404)
	s.do(scheduler, get, users, nil).says(200, `["bob"]`)
	require.Len(t, decode[[]m](s.do(scheduler, get, "/api/v0/users/bob/notifications", nil).is(200)), 2,
		"who becomes an administrator is reminded of shifts")
}

func TestOncallRosters(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	const rosters = "/api/v0/teams/ops/rosters"
	s.do(owner, post, rosters, m{}).refuses(400, "name attribute missing from request",
		"name attribute missing from request")
	s.do(owner, post, rosters, m{"name": "a.b"}).refuses(400, "invalid roster name",
		`roster name contains invalid character "."`)
	s.roster()
	s.do(owner, post, rosters, m{"name": "r"}).refuses(422, "IntegrityError",
		`roster name "r" already exists for team ops`)
	s.do(bob, post, rosters, m{"name": "s"}).is(403)
	s.do(scheduler, get, "/api/v0/teams/nowhere/rosters", nil).refuses(422, "IntegrityError",
		`team "nowhere" not found`)
	all := decode[map[string]m](s.do(scheduler, get, rosters, nil).is(200))
	require.Equal(t, []any{m{"name": "ann", "in_rotation": true}, m{"name": "bob", "in_rotation": true}},
		all["r"]["users"])
	require.Contains(t, all["r"], "id")
	s.do(scheduler, get, rosters+"/r", nil).says(200,
		`{"users": [{"name": "ann", "in_rotation": 1, "roster_priority": 0}, {"name": "bob", "in_rotation": 1, "roster_priority": 1}], "schedules": []}`)
	s.do(scheduler, get, rosters+"/none", nil).is(404)

	s.do(owner, put, rosters+"/r", m{"roster_order": []string{"bob", "ann"}}).empty(200)
	s.do(owner, put, rosters+"/r", m{}).refuses(400, "invalid roster update", "missing roster name or order")
	s.do(owner, put, rosters+"/r", m{"roster_order": []string{"bob", "root"}}).refuses(400, "Invalid roster order",
		"All users in provided order must be part of the roster")
	s.do(owner, put, rosters+"/r", m{"roster_order": []string{"bob"}}).refuses(400, "Invalid roster order",
		"Roster order must include all roster members")
	require.Equal(t, "bob", decode[m](s.do(scheduler, get, rosters+"/r", nil).is(200))["users"].([]any)[0].(m)["name"])

	const users = rosters + "/r/users"
	s.do(owner, post, users, m{}).refuses(400, "incomplete data", `missing field "name"`)
	s.do(owner, post, users, m{"name": "ann"}).refuses(422, "IntegrityError", `user "ann" is already in the roster`)
	s.do(owner, post, users, m{"name": "zoe"}).refuses(422, "IntegrityError", "invalid team or user")
	s.do(owner, post, users, m{"name": "root", "in_rotation": false}).is(201)
	s.do(scheduler, get, "/api/v0/teams/ops/users", nil).says(200, `["ann", "bob", "root"]`)
	s.do(scheduler, get, users+"?in_rotation=true", nil).says(200, `["bob", "ann"]`)
	s.do(scheduler, get, users+"?in_rotation=0", nil).says(200, `["root"]`)
	s.do(owner, put, users+"/root", m{"in_rotation": true}).says(200, `[]`)
	s.do(owner, put, users+"/root", m{}).refuses(400, "incomplete data", `missing field "in_rotation"`)
	s.do(owner, del, users+"/root", nil).says(200, `[]`)
	s.do(owner, del, rosters+"/none/users/root", nil).is(404)
	s.do(scheduler, get, "/api/v0/teams/ops/users", nil).says(200, `["ann", "bob"]`)

	s.do(owner, post, rosters, m{"name": "s"}).is(201)
	s.do(owner, put, rosters+"/s", m{"name": "r"}).refuses(422, "IntegrityError",
		"roster 'r' already existed for team 'ops'")
	s.do(owner, put, rosters+"/s", m{"name": "t"}).empty(200)
	s.do(owner, del, rosters+"/t", nil).empty(200)
	s.do(owner, del, rosters+"/t", nil).is(404)

	now := time.Now().Unix()
	s.event("bob", "primary", now+day, now+2*day)
	s.do(scheduler, get, fmt.Sprintf("%s/r/primary/suggest?start=%d&end=%d", rosters, now+3*day, now+4*day), nil).
		says(200, fmt.Sprintf(`{"user": "ann", "data": {"ann": "infinity", "bob": %d}}`, 2*day))
	s.do(scheduler, get, rosters+"/r/boss/suggest?start=1&end=2", nil).refuses(400, "Invalid role",
		`role "boss" not found`)
	s.do(scheduler, get, rosters+"/none/primary/suggest?start=1&end=2", nil).refuses(400, "Invalid roster",
		`roster "none" not found in team "ops"`)
	s.do(scheduler, get, rosters+"/r/primary/suggest?end=2", nil).refuses(400, "Missing parameter",
		`The "start" parameter is required.`)
}

func TestOncallSchedules(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	s.roster()
	const schedules = "/api/v0/teams/ops/rosters/r/schedules"
	weekly := m{"role": "primary", "advanced_mode": 0, "events": []m{{"start": 9 * 3600, "duration": 7 * day}},
		"auto_populate_threshold": 28}
	id := decode[map[string]int64](s.do(owner, post, schedules, weekly).is(201))["id"]
	path := fmt.Sprintf("/api/v0/schedules/%d", id)
	got := decode[m](s.do(scheduler, get, path, nil).is(200))
	require.Equal(t, []any{"r", "primary", "ops", float64(28), float64(0), m{"name": "default"},
		[]any{m{"start": float64(9 * 3600), "duration": float64(7 * day)}}},
		[]any{got["roster"], got["role"], got["team"], got["auto_populate_threshold"], got["advanced_mode"],
			got["scheduler"], got["events"]})
	require.Len(t, decode[[]m](s.do(scheduler, get, schedules+"?fields=id&fields=role", nil).is(200)), 1)
	s.do(scheduler, get, schedules+"?fields=nonsense", nil).refuses(400, "Bad fields", "One or more invalid fields")
	s.do(scheduler, get, "/api/v0/schedules/999", nil).is(404)
	const invalid = "invalid schedule"
	for _, c := range []struct {
		change             m
		status             int
		title, description string
	}{
		{m{"events": []m{{"start": 0}}}, 400, invalid, "schedule event requires both start and duration fields"},
		{m{"events": []m{{"start": 0, "duration": 0}}}, 400, invalid, "schedule event duration must be positive"},
		{m{"events": []m{{"start": 0, "duration": day}}}, 400, invalid, "invalid advanced mode setting"},
		{m{"role": "boss"}, 422, "IntegrityError", "role not found"},
		{m{"scheduler": m{"name": "magic"}}, 422, "IntegrityError", "scheduler not found"},
	} {
		s.do(owner, post, schedules, changed(weekly, c.change)).refuses(c.status, c.title, c.description)
	}
	require.Contains(t, s.do(owner, post, schedules, changed(weekly, m{"role": nil})).is(400).body,
		"missing required parameters")
	s.do(owner, post, "/api/v0/teams/ops/rosters/none/schedules", weekly).refuses(422, "IntegrityError",
		`roster "none" not found`)
	s.do(bob, post, schedules, weekly).is(403)
	halves := []m{}
	for i := range int64(4) {
		halves = append(halves, m{"start": i * 12 * 3600, "duration": 12 * 3600})
	}
	merged := decode[map[string]int64](s.do(owner, post, schedules,
		m{"role": "secondary", "advanced_mode": 1, "events": halves,
			"scheduler": m{"name": "round-robin", "data": []string{"bob", "ann"}}}).is(201))["id"]
	two := decode[m](s.do(scheduler, get, fmt.Sprintf("/api/v0/schedules/%d", merged), nil).is(200))
	require.Equal(t, []any{m{"start": float64(0), "duration": float64(2 * day)}}, two["events"],
		"what follows each other is one")
	require.Equal(t, m{"name": "round-robin", "data": []any{"bob", "ann"}}, two["scheduler"])
	require.EqualValues(t, 21, two["auto_populate_threshold"])

	s.do(owner, put, path, m{"auto_populate_threshold": 35}).empty(200)
	s.do(owner, put, path, m{"roster": "r"}).refuses(400, "Invalid edit", "team must be specified with roster")
	s.do(owner, put, path, m{"events": []m{{"start": 0, "duration": day}}}).refuses(400, "Invalid edit",
		"schedule cannot be represented in simple mode")
	s.do(bob, put, path, m{"auto_populate_threshold": 1}).is(403)

	now := time.Now().Unix()
	window := fmt.Sprintf("start=%d&start__lt=%d&end__ge=%d&team__eq=ops", now, now+28*day, now)
	before := s.number("select count(*) from shifts")
	preview := decode[[]m](s.do(scheduler, get, path+"/preview?"+window, nil).is(200))
	require.Equal(t, before, s.number("select count(*) from shifts"), "a preview writes nothing")
	require.NotEmpty(t, preview)
	require.EqualValues(t, 0, preview[0]["id"])
	s.do(owner, post, path+"/populate", m{"start": now}).empty(200)
	events := decode[[]m](s.do(scheduler, get, fmt.Sprintf("/api/v0/events?team=ops&start__lt=%d&end__ge=%d", now+
		28*day, now), nil).is(200))
	bare := func(rows []m) []m {
		var out []m
		for _, r := range rows {
			out = append(out, changed(r, m{"id": nil, "link_id": nil}))
		}
		return out
	}
	require.Equal(t, bare(preview), bare(events), "the preview is what populating makes")
	for i := 1; i < len(events); i++ {
		require.Equal(t, events[i-1]["end"], events[i]["start"])
		require.NotEqual(t, events[i-1]["user"], events[i]["user"])
	}
	s.do(owner, post, path+"/populate", m{"start": now - 60*day}).refuses(400, "Invalid populate/preview request",
		"cannot populate/preview starting in the past")
	s.do(bob, post, path+"/populate", m{"start": now}).is(403)
	s.do(owner, post, "/api/v0/schedules/999/populate", m{"start": now}).is(404)
	s.do(scheduler, get, path+"/preview?start=1", nil).is(400)
	s.do(owner, del, path, nil).empty(200)
	s.do(owner, del, path, nil).is(404)
	require.NotEmpty(t, decode[[]m](s.do(scheduler, get, "/api/v0/events?team=ops", nil).is(200)),
		"what is on the calendar stays")
}

func TestOncallEvents(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	now := time.Now().Unix()
	good := m{"start": now + day, "end": now + 2*day, "user": "ann", "team": "ops", "role": "primary", "note": "n"}
	id := decode[int64](s.do(bob, post, "/api/v0/events", good).is(201))
	path := fmt.Sprintf("/api/v0/events/%d", id)
	s.do(scheduler, get, path, nil).says(200,
		fmt.Sprintf(`{"id": %d, "start": %d, "end": %d, "role": "primary", "team": "ops", "user": "ann", "full_name": null,
		"schedule_id": null, "link_id": null, "note": "n"}`, id, now+day, now+2*day))
	const invalid = "Invalid event"
	for _, c := range []struct {
		change             m
		status             int
		title, description string
	}{
		{m{"start": now - 2*day}, 400, invalid, "Creating events in the past not allowed"},
		{m{"end": now + day}, 400, invalid, "Event must start before it ends"},
		{m{"user": "viewer"}, 400, invalid, "User must be part of the team"},
		{m{"role": "boss"}, 422, "IntegrityError", `role "boss" not found`},
	} {
		s.do(bob, post, "/api/v0/events", changed(good, c.change)).refuses(c.status, c.title, c.description)
	}
	s.do(scheduler, post, "/api/v0/events", changed(good, m{"team": "none"})).is(400)
	s.exec("insert into teams (name) values ('strangers')")
	s.do(bob, post, "/api/v0/events", changed(good, m{"team": "strangers"})).refuses(403, "Unauthorized",
		`Action not allowed: "bob" is not part of "strangers"`)
	for _, missing := range []string{"start", "end", "user", "team", "role"} {
		s.do(bob, post, "/api/v0/events", changed(good, m{missing: nil})).is(400)
	}
	s.do(bob, put, path, m{"end": now + 3*day, "user": "bob"}).empty(200)
	s.do(bob, put, path, m{"team": "x"}).refuses(400, "Invalid event update", "Invalid column")
	s.do(bob, put, path, m{"start": now + 5*day, "end": now + 4*day}).refuses(400, "Invalid event update",
		"Event must start before it ends")
	s.do(bob, put, path, m{"user": "viewer"}).refuses(400, "Invalid event update",
		"Event user must be part of the team")
	s.do(bob, put, "/api/v0/events/999", m{"note": "x"}).is(404)
	s.do(scheduler, get, "/api/v0/events/x", nil).is(404)

	find := func(query string) int {
		t.Helper()
		return len(decode[[]m](s.do(scheduler, get, "/api/v0/events?"+query, nil).is(200)))
	}
	require.Equal(t, 1, find("team=ops"))
	require.Equal(t, 1, find("user__contains=o&role=primary&fields=id"))
	require.Equal(t, 0, find(fmt.Sprintf("start__gt=%d", now+day)))
	require.Equal(t, 1, find(fmt.Sprintf("end__ge=%d&start__lt=%d", now, now+2*day)))
	s.do(scheduler, get, "/api/v0/events?nonsense=1", nil).refuses(400, "Bad constraint param")

	s.exec("update shifts set starts_at = clock_timestamp() - interval '3 days' where id = (select max(id) from shifts)")
	s.do(bob, del, path, nil).refuses(400, "Invalid event update", "Deleting events in the past not allowed")
	s.do(bob, put, path, m{"user": "ann"}).is(403)
	s.do(bob, put, path, m{"end": now + 4*day}).empty(200)
	s.do(owner, put, path, m{"user": "ann"}).empty(200)
	future := s.event("ann", "secondary", now+day, now+2*day)
	s.do(bob, del, fmt.Sprintf("/api/v0/events/%d", future), nil).empty(200)
	s.do(bob, del, fmt.Sprintf("/api/v0/events/%d", future), nil).is(404)
}

func TestOncallLinkedEvents(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	now := time.Now().Unix()
	one := func(i int64) m {
		return m{"start": now + i*day, "end": now + i*day + 3600, "user": "ann", "team": "ops", "role": "primary"}
	}
	linked := decode[m](s.do(bob, post, "/api/v0/events/link", []m{one(1), one(2), one(3)}).is(201))
	require.Regexp(t, "^[0-9a-f]{32}$", linked["link_id"])
	require.Len(t, linked["event_ids"], 3)
	path := "/api/v0/events/link/" + linked["link_id"].(string)
	s.do(bob, post, "/api/v0/events/link", m{}).refuses(400, "Invalid argument", "events argument needs to be a list")
	s.do(bob, post, "/api/v0/events/link", []m{}).refuses(400, "Invalid argument", "events list cannot be empty")
	s.do(bob, post, "/api/v0/events/link", []m{one(1), changed(one(2), m{"team": nil})}).is(400)
	s.do(bob, post, "/api/v0/events/link", []m{one(1), changed(one(2), m{"user": "viewer"})}).is(400)
	require.EqualValues(t, 3, s.number("select count(*) from shifts"), "nothing is half-written")
	s.do(bob, put, path, m{"user": "bob"}).empty(204)
	require.Len(t, decode[[]m](s.do(scheduler, get, "/api/v0/events?user=bob", nil).is(200)), 3)
	s.do(bob, put, path, m{"start": 1}).is(400)
	s.do(bob, put, path, m{}).is(400)
	upcoming := decode[[]m](s.do(scheduler, get, "/api/v0/users/bob/upcoming?limit=5", nil).is(200))
	require.Len(t, upcoming, 1)
	require.EqualValues(t, 3, upcoming[0]["num_events"])
	s.do(scheduler, get, "/api/v0/users/zoe/upcoming", nil).says(200, `[]`)
	s.do(bob, del, path, nil).empty(200)
	s.do(bob, del, path, nil).is(404)
}

func TestOncallSwapAndOverride(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	now := time.Now().Unix()
	a, b := s.event("ann", "primary", now+day, now+2*day), s.event("bob", "primary", now+2*day, now+3*day)
	swap := func(x, y any) m { return m{"events": []m{{"id": x, "linked": false}, {"id": y}}} }
	s.do(bob, post, "/api/v0/events/swap", swap(a, b)).empty(200)
	user := func(id int64) any {
		return decode[m](s.do(scheduler, get, fmt.Sprintf("/api/v0/events/%d", id), nil).is(200))["user"]
	}
	require.Equal(t, []any{"bob", "ann"}, []any{user(a), user(b)})
	const invalid = "Invalid event swap request"
	s.do(bob, post, "/api/v0/events/swap", m{"events": []m{{"id": a}}}).refuses(400, invalid, "Must provide 2 events")
	s.do(bob, post, "/api/v0/events/swap", swap(a, 0)).refuses(400, invalid, "Invalid event id: 0")
	s.do(bob, post, "/api/v0/events/swap", swap(998, 999)).is(404)
	s.do(viewer, post, "/api/v0/events/swap", swap(a, b)).is(403)

	// Ann has the shift of the second day. Bob is the substitute from noon of the first day to noon of the second.
	half := day / 2
	got := decode[[]m](s.do(bob, post, "/api/v0/events/override",
		m{"start": now + 2*day + half/2, "end": now + 2*day + half, "event_ids": []int64{b}, "user": "bob"}).is(200))
	require.Len(t, got, 3)
	require.ElementsMatch(t, []string{"start", "end", "id", "role", "team", "user", "full_name"}, keysOf(got[0]))
	now2 := map[string]int{}
	for _, e := range decode[[]m](s.do(scheduler, get, fmt.Sprintf("/api/v0/events?team=ops&start__ge=%d", now+2*day), nil).is(200)) {
		now2[e["user"].(string)]++
	}
	require.Equal(t, map[string]int{"ann": 2, "bob": 1}, now2, "an override inside of a shift leaves its two ends")
	const bad = "Invalid override request"
	s.do(bob, post, "/api/v0/events/override", m{"start": now, "end": now + 5*day, "event_ids": []int64{},
		"user": "bob"}).refuses(400, "Invalid name or list of events")
	s.do(bob, post, "/api/v0/events/override", m{"start": now, "end": now + 5*day, "event_ids": []int64{a},
		"user": "zoe"}).refuses(400, "Invalid name or list of events")
	s.do(bob, post, "/api/v0/events/override", m{"start": now, "end": now + 5*day, "event_ids": []int64{a},
		"user": "viewer"}).refuses(400, bad, "Substituting user must be part of the team")
	s.do(bob, post, "/api/v0/events/override", m{"start": now - 3*day, "end": now + 5*day, "event_ids": []int64{a},
		"user": "ann"}).refuses(400, bad, "Cannot edit events in the past")
	s.do(bob, post, "/api/v0/events/override", m{"start": now + 4*day, "end": now + 5*day, "event_ids": []int64{a},
		"user": "ann"}).refuses(400, bad, "events must overlap with override time range")
	require.NotZero(t, s.number("select count(*) from oncall_audit where action in ('event_swapped', 'event_substituted')"))
}

func TestOncallPeople(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	u := decode[m](s.do(scheduler, get, "/api/v0/users/ann", nil).is(200))
	require.ElementsMatch(t, []string{"id", "name", "full_name", "time_zone", "photo_url", "active", "god",
		"contacts"}, keysOf(u))
	require.Equal(t, m{"email": "ann@example.com", "sms": "+15551110001"}, u["contacts"])
	require.Len(t, decode[[]m](s.do(scheduler, get, "/api/v0/users?fields=name&fields=contacts&fields=active",
		nil).is(200)), 5)
	require.Len(t, decode[[]m](s.do(scheduler, get, "/api/v0/users?name__startswith=a", nil).is(200)), 1)
	s.do(scheduler, get, "/api/v0/users?fields=nonsense", nil).refuses(400, "Bad fields", "One or more invalid fields")
	s.do(scheduler, get, "/api/v0/users/zoe", nil).is(404)
	s.do(bob, put, "/api/v0/users/bob", m{"full_name": "Bob", "contacts": m{"sms": "+15551110002"},
		"nonsense": 1}).empty(204)
	got := decode[m](s.do(scheduler, get, "/api/v0/users/bob", nil).is(200))
	require.Equal(t, []any{"Bob", m{"email": "bob@example.com", "sms": "+15551110002"}},
		[]any{got["full_name"], got["contacts"]}, "what is not named stays")
	s.do(bob, put, "/api/v0/users/ann", m{"full_name": "X"}).refuses(403, "Unauthorized",
		`Action not allowed for "bob"`)
	s.do(owner, put, "/api/v0/users/bob", m{"full_name": "Bobby"}).refuses(403, "Unauthorized",
		`Action not allowed for "ann"`)
	s.do(owner, del, "/api/v0/users/bob", nil).is(403)
	s.do(admin, put, "/api/v0/users/bob", m{"full_name": "Bobby"}).empty(204)
	s.do(scheduler, get, "/api/v0/users/bob/teams", nil).says(200, `["ops"]`)
	s.do(scheduler, get, "/api/v0/users/zoe/teams", nil).is(404)

	s.do(bob, post, "/api/v0/users", m{"name": "fresh"}).is(403)
	s.do(admin, post, "/api/v0/users", m{"name": "fresh"}).empty(201)
	s.do(admin, post, "/api/v0/users", m{"name": "fresh"}).refuses(422, "IntegrityError",
		`user name "fresh" already exists`)
	s.do(admin, del, "/api/v0/users/fresh", nil).empty(200)
	require.EqualValues(t, 0, s.number("select count(*) from users where name = 'fresh' and active"))

	pins := "/api/v0/users/bob/pinned_teams"
	s.do(bob, post, pins, m{"team": "ops"}).empty(201)
	s.do(bob, post, pins, m{"team": "ops"}).refuses(400, "Invalid team pin", "Team already pinned for this user")
	s.do(bob, post, pins, m{}).refuses(400, "Invalid team pin", "Missing team parameter")
	s.do(bob, post, pins, m{"team": "none"}).refuses(422, "IntegrityError", `team "none" not found`)
	s.do(scheduler, get, pins, nil).says(200, `["ops"]`)
	s.do(bob, del, pins+"/ops", nil).empty(200)
	s.do(bob, del, pins+"/ops", nil).is(404)
}

func TestOncallReminders(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	const path = "/api/v0/users/bob/notifications"
	good := m{"team": "ops", "roles": []string{"primary"}, "mode": "email", "type": "oncall_reminder",
		"time_before": 3600}
	id := decode[map[string]int64](s.do(bob, post, path, good).is(201))["id"]
	s.do(scheduler, get, path, nil).says(200,
		fmt.Sprintf(`[{"id": %d, "team": "ops", "mode": "email", "type": "oncall_reminder", "time_before": 3600, "only_if_involved": null, "roles": ["primary"]}]`, id))
	const invalid = "invalid notification setting"
	require.Contains(t, s.do(bob, post, path, changed(good, m{"team": nil})).is(400).body,
		"missing required parameters")
	s.do(bob, post, path, changed(good, m{"type": "none"})).refuses(400, invalid,
		"notification type none does not exist")
	s.do(bob, post, path, changed(good, m{"time_before": nil, "only_if_involved": true})).refuses(400, invalid,
		"reminder setting must define time_before")
	s.do(bob, post, path, changed(good, m{"type": "event_created"})).refuses(400, invalid,
		"notification setting must define only_if_involved")
	require.Contains(t, s.do(bob, post, path, changed(good, m{"only_if_involved": true})).is(400).body,
		"settings must define exactly one of")
	s.do(bob, post, path, changed(good, m{"roles": []string{"boss"}})).is(400)
	s.do(bob, post, path, changed(good, m{"team": "none"})).is(422)
	s.do(owner, post, "/api/v0/users/root/notifications", good).is(403)
	one := fmt.Sprintf("/api/v0/notifications/%d", id)
	s.do(bob, put, one, m{"time_before": 7200}).empty(200)
	s.do(bob, put, one, m{"roles": []string{"secondary", "primary"}}).empty(200)
	s.do(bob, put, one, m{"only_if_involved": true}).refuses(400, "invalid setting update",
		"reminder setting must define only time_before")
	s.do(viewer, put, one, m{"time_before": 1}).is(403)
	s.do(viewer, del, one, nil).is(403)
	s.do(bob, del, one, nil).empty(200)
	s.do(bob, del, one, nil).is(404)
	types := decode[[]m](s.do(scheduler, get, "/api/v0/notification_types", nil).is(200))
	require.Len(t, types, 7)
}

func TestOncallNow(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	now := time.Now().Unix()
	s.event("ann", "primary", now-60, now+day)
	s.event("bob", "primary", now+day, now+2*day)
	s.event("bob", "manager", now-60, now+day)
	at := decode[[]m](s.do(scheduler, get, "/api/v0/teams/ops/oncall/primary", nil).is(200))
	require.Len(t, at, 1)
	require.Equal(t, []any{"ann", "primary", "ops", m{"email": "ann@example.com", "sms": "+15551110001"}},
		[]any{at[0]["user"], at[0]["role"], at[0]["team"], at[0]["contacts"]})
	require.Len(t, decode[[]m](s.do(scheduler, get, "/api/v0/teams/ops/oncall", nil).is(200)), 2)
	s.do(scheduler, get, "/api/v0/teams/none/oncall", nil).says(200, `[]`)
	s.do(scheduler, get, "/api/v0/teams/ops/oncall/boss", nil).says(200, `[]`)
	sum := decode[map[string]map[string][]m](s.do(scheduler, get, "/api/v0/teams/ops/summary", nil).is(200))
	require.Equal(t, "ann", sum["current"]["primary"][0]["user"])
	require.Equal(t, "bob", sum["next"]["primary"][0]["user"])
	require.NotContains(t, sum["current"], "secondary")
	s.do(scheduler, get, "/api/v0/teams/none/summary", nil).is(404)

	s.do(owner, put, "/api/v0/teams/ops", m{"override_phone_number": "+15550009999"}).is(200)
	at = decode[[]m](s.do(scheduler, get, "/api/v0/teams/ops/oncall/primary", nil).is(200))
	require.Equal(t, m{"email": "ann@example.com", "sms": "+15550009999", "call": "+15550009999"}, at[0]["contacts"])

	s.do(bob, post, "/api/v0/services", m{"name": "shop"}).is(403)
	s.do(admin, post, "/api/v0/services", m{"name": "shop"}).empty(201)
	s.do(admin, post, "/api/v0/services", m{"name": "shop"}).refuses(422, "IntegrityError",
		`service name "shop" already exists`)
	s.do(owner, post, "/api/v0/teams/ops/services", m{"name": "shop"}).empty(201)
	s.do(owner, post, "/api/v0/teams/ops/services", m{"name": "none"}).refuses(422, "IntegrityError",
		`service "none" not found`)
	s.do(scheduler, get, "/api/v0/teams/ops/services", nil).says(200, `["shop"]`)
	s.do(scheduler, get, "/api/v0/services", nil).says(200, `["shop"]`)
	s.do(scheduler, get, "/api/v0/services/shop", nil).is(200)
	s.do(scheduler, get, "/api/v0/services/none", nil).is(404)
	s.do(scheduler, get, "/api/v0/services/shop/teams", nil).says(200, `["ops"]`)
	s.do(scheduler, get, "/api/v0/team_services", nil).says(200, `[{"team": "ops", "service": "shop"}]`)
	require.Equal(t, "ann", decode[[]m](s.do(scheduler, get, "/api/v0/services/shop/oncall/primary",
		nil).is(200))[0]["user"])
	s.do(scheduler, get, "/api/v0/services/shop/oncall", nil).is(200)
	s.do(admin, put, "/api/v0/services/shop", m{"name": "store"}).empty(200)
	s.do(owner, del, "/api/v0/teams/ops/services/store", nil).empty(200)
	s.do(owner, del, "/api/v0/teams/ops/services/store", nil).is(404)
	s.do(admin, del, "/api/v0/services/store", nil).empty(200)
	s.do(admin, del, "/api/v0/services/store", nil).is(404)

	// The API and paging use the same resolver.
	s.do(bob, post, "/v0/plans", aPlan(m{"steps": [][]m{{aNotification(m{"role": "oncall-primary",
		"target": "ops"})}}})).is(201)
	s.do(demo, post, "/v0/notifications", m{"role": "oncall-primary", "target": "ops", "subject": "s", "mode": "email",
		"body": "b"}).is(200)
	require.EqualValues(t, 1, s.number("select count(*) from messages where target = 'ann'"))
}

func TestOncallSubscriptionsRolesSearchAudit(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	now := time.Now().Unix()
	s.do(admin, post, "/api/v0/teams", m{"name": "core", "scheduling_timezone": "UTC"}).empty(201)
	s.do(admin, post, "/api/v0/events", m{"start": now - 10, "end": now + day, "user": "root", "team": "core",
		"role": "primary"}).is(201)
	const path = "/api/v0/teams/ops/subscriptions"
	s.do(owner, post, path, m{"subscription": "core", "role": "primary"}).empty(201)
	s.do(owner, post, path, m{"subscription": "core", "role": "primary"}).refuses(422, "IntegrityError",
		"Subscription already exists")
	s.do(owner, post, path, m{"subscription": "ops", "role": "primary"}).refuses(400, "Invalid subscription",
		"Subscription team must be different from subscribing team")
	s.do(owner, post, path, m{"role": "primary"}).refuses(400, "Invalid subscription",
		"Missing subscription name or role name")
	s.do(owner, post, path, m{"subscription": "none", "role": "primary"}).refuses(422, "IntegrityError",
		`Team "none" not found`)
	s.do(owner, post, path, m{"subscription": "core", "role": "boss"}).refuses(422, "IntegrityError",
		`Role "boss" not found`)
	s.do(scheduler, get, path, nil).says(200, `[{"subscription": "core", "role": "primary"}]`)
	require.Equal(t, "root", decode[[]m](s.do(scheduler, get, "/api/v0/teams/ops/oncall/primary",
		nil).is(200))[0]["user"])
	require.Len(t, decode[[]m](s.do(scheduler, get, "/api/v0/events?team=ops", nil).is(200)), 1)
	require.Empty(t, decode[[]m](s.do(scheduler, get, "/api/v0/events?team=ops&include_subscribed=false", nil).is(200)))
	s.do(owner, del, path+"/core/primary", nil).empty(200)
	s.do(owner, del, path+"/core/primary", nil).is(404)

	roles := decode[[]m](s.do(scheduler, get, "/api/v0/roles", nil).is(200))
	require.Len(t, roles, 6)
	s.do(admin, post, "/api/v0/roles", m{"name": "tertiary"}).empty(201)
	s.do(admin, post, "/api/v0/roles", m{"name": "tertiary"}).refuses(422, "IntegrityError",
		`role "tertiary" already existed`)
	s.do(bob, del, "/api/v0/roles/tertiary", nil).is(403)
	s.do(admin, del, "/api/v0/roles/tertiary", nil).empty(200)
	s.do(admin, del, "/api/v0/roles/tertiary", nil).is(404)

	found := decode[m](s.do(scheduler, get, "/api/v0/search?keyword=o", nil).is(200))
	require.Equal(t, []any{"core", "ops"}, found["teams"])
	require.ElementsMatch(t, []string{"teams", "services", "users"}, keysOf(found))
	require.Len(t, decode[m](s.do(scheduler, get, "/api/v0/search?keyword=A&fields=users", nil).is(200))["users"], 1)
	require.Len(t, decode[m](s.do(scheduler, get, "/api/v0/search?keyword=a&fields=team_users&team=ops",
		nil).is(200))["users"], 1)

	rows := decode[[]m](s.do(scheduler, get, "/api/v0/audit?team=core", nil).is(200))
	var actions []any
	for _, r := range rows {
		require.IsType(t, "", r["context"], "text, not an object")
		actions = append(actions, r["action"])
	}
	require.Subset(t, actions, []any{"team_created", "event_created"})
	require.Len(t, decode[[]m](s.do(scheduler, get, "/api/v0/audit?team=core&action=team_created&owner=root",
		nil).is(200)), 1)
	s.do(scheduler, get, fmt.Sprintf("/api/v0/audit?start=%d", now+day), nil).says(200, `[]`)
	s.do(scheduler, get, "/api/v0/teams/core/changes", nil).is(200)
	s.do(scheduler, get, "/api/v0/modes", nil).is(200)
	require.Contains(t, decode[[]string](s.do(scheduler, get, "/api/v0/timezones", nil).is(200)), "UTC")
}

func TestAdministratorsOfATeamDeleteItOnV1(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	s.do(admin, post, "/api/v0/services", m{"name": "mailer"}).is(201)
	s.do(owner, post, "/api/v0/teams/ops/services", m{"name": "mailer"}).is(201)
	s.do(bob, del, "/v1/teams/ops", nil).is(403)
	s.do(bob, del, "/v1/teams/ops?force=true", nil).is(403)
	require.Contains(t, s.do(owner, del, "/v1/teams/ops", nil).is(409).body, "service mailer")
	s.do(owner, del, "/v1/teams/none", nil).is(403)
	s.do(owner, del, "/v1/users/bob?force=true", nil).is(403)
	s.do(owner, del, "/v1/teams/ops?force=true", nil).is(204)
	s.do(owner, get, "/api/v0/teams/ops", nil).is(404)
}

// A service token of a team does on calendars what an administrator of the team does, through both APIs.
func TestServiceTokensOfATeamDeleteIt(t *testing.T) {
	t.Parallel()
	s := newCalendar(t)
	for _, path := range []string{"/v1/teams/", "/api/v0/teams/"} {
		s.do(admin, post, "/v1/teams", m{"name": "core", "time_zone": "UTC"}).is(201)
		token, _ := s.serviceToken(admin, "core", "oncall", "config")
		s.do(token, del, path+"ops", nil).is(403)
		require.Less(t, s.do(token, del, path+"core", nil).status, 300, path)
	}
}
