package oncallapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// refused sends a request to /v1 that must fail, and returns the text of the problem.
func (f *fixture) refused(status int, as caller, method, path, body string) string {
	f.Helper()
	rec := f.do(as, method, path, body)
	require.Equal(f, status, rec.Code, "%s %s %s: %s", method, path, body, rec.Body)
	require.Equal(f, "application/problem+json", rec.Header().Get("Content-Type"))
	return rec.Body.String()
}

func TestTheRulesOfTeamsHoldAtBothDoors(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(d *deps) { d.CheckPlans = true })
	for _, c := range []struct{ ours, oncalls, says string }{
		{`{"name":"a/b","time_zone":"UTC"}`, `{"name":"a/b","scheduling_timezone":"UTC"}`,
			`team name contains invalid character \"/\"`},
		{`{"name":"new","time_zone":"Mars/Base"}`, `{"name":"new","scheduling_timezone":"Mars/Base"}`, "Mars/Base"},
		{`{"name":"new","time_zone":"UTC","slack_channel":"ops"}`,
			`{"name":"new","scheduling_timezone":"UTC","slack_channel":"ops"}`, "with #"},
		{`{"name":"new","time_zone":"UTC","slack_channel_notifications":"ops"}`,
			`{"name":"new","scheduling_timezone":"UTC","slack_channel_notifications":"ops"}`, "with #"},
		{`{"name":"new","time_zone":"UTC","plan":"ghost"}`,
			`{"name":"new","scheduling_timezone":"UTC","iris_plan":"ghost"}`, "ghost"},
		{`{"name":"new","time_zone":"UTC","override_phone_number":"` + strings.Repeat("5", 256) + `"}`,
			`{"name":"new","scheduling_timezone":"UTC","override_phone_number":"` + strings.Repeat("5", 256) + `"}`, "255"},
	} {
		require.Contains(t, f.refused(400, eve, "POST", "/v1/teams", c.ours), c.says)
		rec := f.do(eve, "POST", "/api/v0/teams", c.oncalls)
		require.Equal(t, 400, rec.Code)
		require.Contains(t, rec.Body.String(), c.says)
	}
	for _, name := range []string{"a.b", strings.Repeat("ü", 128)} {
		f.refused(400, ann, "POST", "/v1/teams/ops/rosters", fmt.Sprintf(`{"name":%q,"members":[]}`, name))
		require.Equal(t, 400, f.do(ann, "POST", "/api/v0/teams/ops/rosters", fmt.Sprintf(`{"name":%q}`, name)).Code)
	}
	require.Equal(t, 2, f.count(`select count(*) from teams`))
	require.Equal(t, 1, f.count(`select count(*) from rosters`))
}

func TestTeamsAreMadeAndChanged(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	rec := f.do(eve, "POST", "/v1/teams", `{"name":" new team ","time_zone":"utc","email":"new@example.com","description":null,
		"slack_channel":"#new","iris_enabled":true}`)
	require.Equal(t, 201, rec.Code, rec.Body)
	require.Equal(t, "/v1/teams/new%20team", rec.Header().Get("Location"))
	require.JSONEq(t, `{"name":"new team","email":"new@example.com","description":null,"time_zone":"UTC","slack_channel":"#new",
		"plan":null,"members":["eve"],"managed_members":[],"admins":["eve"],"slack_channel_notifications":null,
		"override_phone_number":null,"iris_enabled":true,"api_managed_roster":false}`, rec.Body.String())
	require.Equal(t, 1, f.count(`select count(*) from oncall_audit where owner = 'eve' and team = 'new team' and action = 'team_created'`))
	require.Equal(t, 1, f.count(`select count(*) from notice_settings n join users u on u.id = n.user_id where u.name = 'eve'`),
		"who becomes an administrator is reminded of shifts")
	require.Contains(t, f.refused(409, eve, "POST", "/v1/teams", `{"name":"NEW team","time_zone":"UTC"}`), "choose another name")

	require.Contains(t, f.refused(400, program, "POST", "/v1/teams", `{"name":"x","time_zone":"UTC"}`), "admin must name")
	require.Contains(t, f.refused(400, program, "POST", "/v1/teams", `{"name":"x","time_zone":"UTC","admin":"who"}`), `no user`)
	require.Contains(t, f.refused(400, eve, "POST", "/v1/teams", `{"name":"x","time_zone":"UTC","admin":"bob"}`), "leave admin out")
	f.ok(program, "POST", "/v1/teams", `{"name":"x","time_zone":"UTC","admin":"bob"}`)
	require.Equal(t, 1, f.count(`select count(*) from audit_log where actor = 'calendar' and action = 'team created'`),
		"the audit log names the application, not the administrator that it names")
	f.want(200, `["bob"]`, eve, "GET", "/api/v0/teams/x/admins", "")

	const one = "/v1/teams/new%20team"
	changed := decode[map[string]any](f, eve, "PUT", one, `{"name":"newer","email":null,"override_phone_number":"12ab","api_managed_roster":true}`)
	require.Equal(t, []any{"newer", nil, "12ab", true, true, "#new"}, []any{changed["name"], changed["email"],
		changed["override_phone_number"], changed["api_managed_roster"], changed["iris_enabled"], changed["slack_channel"]})
	f.refused(404, eve, "PUT", one, `{}`)
	entries := f.count(`select count(*) from audit_log where action <> 'logged in'`)
	f.ok(eve, "PUT", "/v1/teams/newer", `{}`)
	f.ok(eve, "PUT", "/v1/teams/newer", `{"name":"newer","iris_enabled":true}`)
	require.Equal(t, entries, f.count(`select count(*) from audit_log where action <> 'logged in'`), "nothing changed")
	f.refused(409, eve, "PUT", "/v1/teams/newer", `{"name":"Ops"}`)
	require.Contains(t, f.refused(400, eve, "PUT", "/v1/teams/newer", `{"time_zone":"Asia/Tokio"}`), "Europe/Zurich")
	f.refused(400, eve, "PUT", "/v1/teams/newer", `{"name":""}`)
	f.refused(400, eve, "PUT", "/v1/teams/newer", `{"email":5}`)
	f.refused(400, eve, "PUT", "/v1/teams/newer", `{"description":"`+strings.Repeat("x", 10001)+`"}`)
	f.refused(403, bob, "PUT", "/v1/teams/newer", `{}`)
	f.refused(403, viewer, "PUT", "/v1/teams/newer", `{}`)
	f.refused(404, root, "PUT", "/v1/teams/none", `{}`)

	f.exec(`update teams set name = 'a/b', slack_channel = 'ab', iris_plan = 'ghost' where name = 'newer'`)
	f.ok(eve, "PUT", "/v1/teams/a%2Fb", `{"name":"a/b","slack_channel":"ab","plan":"ghost","email":"x@example.com"}`)
	require.Equal(t, 1, f.count(`select count(*) from teams where name = 'a/b' and email = 'x@example.com'`),
		"settings of imported teams that break the rules may stay")
}

func TestPeopleOfTeamsAreAddedAndRemoved(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const members, admins = "/v1/teams/ops/members/", "/v1/teams/ops/admins/"
	for range 2 {
		f.ok(ann, "PUT", members+"eve", "")
		f.ok(ann, "PUT", admins+"EVE", "")
	}
	f.want(200, `["ann","bob","cat","eve"]`, bob, "GET", "/api/v0/teams/ops/users", "")
	f.want(200, `["ann","eve"]`, bob, "GET", "/api/v0/teams/ops/admins", "")
	for action, n := range map[string]int{"team member added": 1, "team administrator added": 1} {
		require.Equal(t, n, f.count(`select count(*) from audit_log where actor = 'ann' and action = $1`, action), action)
	}
	f.ok(eve, "DELETE", admins+"eve", "")
	f.want(200, `["ann","bob","cat"]`, bob, "GET", "/api/v0/teams/ops/users", "") // eve was in no roster
	require.Contains(t, f.refused(404, ann, "DELETE", admins+"eve", ""), "not an administrator of the team")
	require.Contains(t, f.refused(404, ann, "DELETE", members+"eve", ""), "not a member of the team")
	f.ok(ann, "DELETE", members+"cat", "")
	for _, path := range []string{members, admins} {
		require.Contains(t, f.refused(404, ann, "PUT", path+"who", ""), "no such user")
		require.Contains(t, f.refused(404, ann, "DELETE", path+"who", ""), "no such user")
		for _, method := range []string{"PUT", "DELETE"} {
			f.refused(403, bob, method, path+"bob", "")
			f.refused(404, root, method, strings.Replace(path, "ops", "none", 1)+"bob", "")
		}
	}
	f.exec(`insert into managed_members (team_id, user_id, issuer) select t.id, u.id, 'corp' from teams t, users u where t.name = 'ops' and u.name = 'bob'`)
	require.Contains(t, f.refused(409, ann, "DELETE", members+"bob", ""), "change the groups at the identity provider")
}

func TestRostersAreReplaced(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const at = "/v1/teams/ops/rosters"
	rec := f.do(ann, "POST", at, `{"name":" night ","members":[{"user":"eve"},{"user":"BOB","in_rotation":false}]}`)
	require.Equal(t, 201, rec.Code, rec.Body)
	require.Equal(t, at+"/night", rec.Header().Get("Location"))
	require.Contains(t, rec.Body.String(), `"team":"ops","name":"night","members":[{"user":"eve","in_rotation":true},{"user":"bob","in_rotation":false}]`)
	f.want(200, `["ann","bob","cat","eve"]`, bob, "GET", "/api/v0/teams/ops/users", "")
	require.Contains(t, f.refused(409, ann, "POST", at, `{"name":"NIGHT","members":[]}`), "choose another name")
	require.Len(t, itemsOf[map[string]any](f, bob, "GET", at, ""), 2)
	first := decode[map[string]any](f, bob, "GET", at+"?limit=1", "")
	require.Equal(t, "night", first["items"].([]any)[0].(map[string]any)["name"], "rosters are in the order of names")
	next := itemsOf[map[string]any](f, bob, "GET", at+"?limit=1&cursor="+first["next"].(string), "")
	require.Equal(t, "ops-roster", next[0]["name"])
	f.refused(404, bob, "GET", "/v1/teams/none/rosters", "")
	f.refused(404, bob, "GET", at+"/none", "")
	f.refused(403, bob, "POST", at, `{"name":"x","members":[]}`)
	f.refused(404, root, "POST", "/v1/teams/none/rosters", `{"name":"x","members":[]}`)

	one := at + "/Night"
	read := f.do(bob, "GET", one, "")
	f.exec(`delete from audit_log`)
	same := f.do(ann, "PUT", one, `{"name":"night","members":[{"user":"eve"},{"user":"bob","in_rotation":false}]}`)
	require.Equal(t, read.Body.String(), same.Body.String())
	require.Equal(t, read.Header().Get("ETag"), same.Header().Get("ETag"))
	require.Zero(t, f.count(`select count(*) from audit_log where action <> 'logged in'`), "nothing changed")
	rec = f.do(ann, "PUT", one, `{"name":"late","members":[{"user":"ann"},{"user":"bob"}]}`, "If-Match", read.Header().Get("ETag"))
	require.Equal(t, 200, rec.Code, rec.Body)
	require.Contains(t, rec.Body.String(), `"name":"late","members":[{"user":"ann","in_rotation":true},{"user":"bob","in_rotation":true}]`)
	for _, action := range []string{"roster renamed", "roster order changed", "roster member added", "roster member changed", "roster member removed"} {
		require.Equal(t, 1, f.count(`select count(*) from audit_log where actor = 'ann' and action = $1`, action), action)
	}
	f.want(200, `["ann","bob","cat"]`, bob, "GET", "/api/v0/teams/ops/users", "") // eve was in no other roster
	f.want(200, `["ann","bob"]`, bob, "GET", "/api/v0/teams/ops/rosters/late/users", "")

	one = at + "/late"
	stale := f.do(ann, "PUT", one, `{"name":"late","members":[]}`, "If-Match", read.Header().Get("ETag"))
	require.Equal(t, 412, stale.Code)
	require.Equal(t, 412, f.do(ann, "PUT", one, `{"name":"late","members":[]}`, "If-None-Match", "*").Code)
	require.Contains(t, f.refused(400, ann, "PUT", one, `{"name":"late","members":[{"user":"ann"},{"user":"who"},{"user":"Ann"}]}`),
		`"field":"members[1].user"`)
	require.Contains(t, f.refused(400, ann, "PUT", one, `{"name":"late","members":[{"user":"ann"},{"user":"Ann"}]}`), "ann is a member twice")
	f.refused(400, ann, "PUT", one, `{"name":"late"}`)
	f.refused(400, ann, "PUT", one, `{"name":"a,b","members":[]}`)
	f.refused(400, ann, "PUT", one, `{"name":"late","members":[`+strings.TrimSuffix(strings.Repeat(`{"user":"ann"},`, 501), ",")+`]}`)
	f.refused(409, ann, "PUT", one, `{"name":"ops-roster","members":[]}`)
	f.refused(403, bob, "PUT", one, `{"name":"late","members":[]}`)
	f.refused(404, ann, "PUT", at+"/none", `{"name":"late","members":[]}`)
	f.want(200, `["ann","bob"]`, bob, "GET", "/api/v0/teams/ops/rosters/late/users", "") // a refused request changes nothing

	f.refused(403, bob, "DELETE", one, "")
	f.ok(ann, "DELETE", one, "")
	f.refused(404, ann, "DELETE", one, "")
	f.refused(404, root, "DELETE", "/v1/teams/none/rosters/late", "")
}

// A person who joins a roster comes last in the order of its weekly schedules, and a person who leaves it is not in it.
func TestReplacedRostersKeepTheOrderOfTheirSchedules(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ok(ann, "POST", "/api/v0/teams/ops/rosters/ops-roster/schedules",
		`{"role":"primary","advanced_mode":0,"events":[{"start":0,"duration":604800}],"scheduler":{"name":"round-robin","data":["cat","ann","bob"]}}`)
	f.ok(ann, "PUT", "/v1/teams/ops/rosters/ops-roster", `{"name":"ops-roster","members":[{"user":"eve"},{"user":"ann"},{"user":"cat"}]}`)
	require.Contains(t, f.ok(bob, "GET", "/api/v0/teams/ops/rosters/ops-roster/schedules", ""), `"data":["cat","ann","eve"]`)
}

func TestServicesAndTheirTeams(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const at, ours = "/v1/services", "/v1/teams/ops/services"
	for _, c := range []struct{ method, path, body string }{
		{"POST", at, `{"name":"x"}`}, {"PUT", at + "/web", `{"name":"x"}`}, {"DELETE", at + "/web", ""}} {
		f.refused(403, ann, c.method, c.path, c.body)
	}
	rec := f.do(root, "POST", at, `{"name":" mail room "}`)
	require.Equal(t, 201, rec.Code, rec.Body)
	require.Equal(t, at+"/mail%20room", rec.Header().Get("Location"))
	require.Contains(t, f.refused(409, program, "POST", at, `{"name":"mail room"}`), "choose another name")
	f.refused(400, root, "POST", at, `{"name":" "}`)
	f.refused(400, root, "POST", at, `{"name":"`+strings.Repeat("ü", 200)+`"}`)
	f.ok(root, "PUT", at+"/MAIL%20room", `{"name":"mail"}`)
	f.refused(409, root, "PUT", at+"/mail", `{"name":"web"}`)
	f.refused(404, root, "PUT", at+"/none", `{"name":"x"}`)
	require.Equal(t, []string{"database", "mail", "web"}, namesIn(f, at))

	for range 2 {
		f.ok(ann, "PUT", ours+"/WEB", "")
	}
	require.Equal(t, 1, f.count(`select count(*) from audit_log where actor = 'ann' and action = 'service added to a team'`))
	f.ok(ann, "PUT", ours+"/database", "")
	require.Equal(t, []string{"database", "web"}, itemsOf[string](f, bob, "GET", ours, ""))
	require.Contains(t, f.ok(bob, "GET", at+"/web", ""), `"team":"ops"`)
	require.Contains(t, f.ok(bob, "GET", at+"/mail", ""), `"team":null`)
	require.Contains(t, f.refused(409, root, "PUT", "/v1/teams/empty/services/web", ""), "team ops answers for web")
	f.ok(ann, "DELETE", ours+"/web", "")
	require.Contains(t, f.refused(404, ann, "DELETE", ours+"/web", ""), "does not answer for this service")
	for _, method := range []string{"PUT", "DELETE"} {
		f.refused(403, bob, method, ours+"/web", "")
		f.refused(404, ann, method, ours+"/none", "")
		f.refused(404, root, method, "/v1/teams/none/services/web", "")
	}
	f.refused(404, bob, "GET", "/v1/teams/none/services", "")
	f.ok(program, "DELETE", at+"/mail", "")
	f.refused(404, root, "DELETE", at+"/mail", "")
	f.refused(404, bob, "GET", at+"/mail", "")
}

// namesIn returns the names of the rows of a list of /v1.
func namesIn(f *fixture, path string) (out []string) {
	for _, row := range itemsOf[struct{ Name string }](f, bob, "GET", path, "") {
		out = append(out, row.Name)
	}
	return out
}

func TestMembersOfRostersAreSetAndRemoved(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const at, shown = "/v1/teams/ops/rosters/OPS-roster/members/", "/api/v0/teams/ops/rosters/ops-roster/users"
	f.ok(ann, "POST", "/api/v0/teams/ops/rosters/ops-roster/schedules",
		`{"role":"primary","advanced_mode":0,"events":[{"start":0,"duration":604800}],"scheduler":{"name":"round-robin","data":["cat","ann","bob"]}}`)
	for range 2 {
		f.want(204, "", ann, "PUT", at+"EVE", `{"in_rotation":false}`)
	}
	f.want(200, `["ann","bob","cat","eve"]`, bob, "GET", shown, "")
	f.want(200, `["ann","bob"]`, bob, "GET", shown+"?in_rotation=1", "")
	f.want(200, `["ann","bob","cat","eve"]`, bob, "GET", "/api/v0/teams/ops/users", "")
	require.Contains(t, f.ok(bob, "GET", "/api/v0/teams/ops/rosters/ops-roster/schedules", ""), `"data":["cat","ann","bob","eve"]`)
	f.want(204, "", ann, "PUT", at+"eve", `{}`)
	f.want(200, `["ann","bob","eve"]`, bob, "GET", shown+"?in_rotation=1", "")
	f.want(204, "", ann, "DELETE", at+"eve", "")
	require.Contains(t, f.refused(404, ann, "DELETE", at+"eve", ""), "not in the roster")
	f.want(200, `["ann","bob","cat"]`, bob, "GET", "/api/v0/teams/ops/users", "")
	for _, action := range []string{"roster member added", "roster member changed", "roster member removed"} {
		require.Equal(t, 1, f.count(`select count(*) from audit_log where actor = 'ann' and action = $1`, action), action)
	}
	for _, method := range []string{"PUT", "DELETE"} {
		require.Contains(t, f.refused(404, ann, method, at+"who", `{}`), "no such user")
		f.refused(403, bob, method, at+"bob", `{}`)
		f.refused(404, ann, method, strings.Replace(at, "OPS-roster", "none", 1)+"bob", `{}`)
		f.refused(404, root, method, strings.Replace(at, "ops", "none", 1)+"bob", `{}`)
	}
}

// The API of Oncall calls the operations. What differs for its clients is what they rely on.
func TestClientsOfOncallKeepWhatTheyRelyOn(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const ops = "/api/v0/teams/ops"
	f.want(200, "", ann, "PUT", ops, `{"slack_channel":"ops"}`)
	require.Equal(t, 1, f.count(`select count(*) from teams where slack_channel = 'ops'`), "a change takes any channel")
	f.refused(400, ann, "PUT", "/v1/teams/ops", `{"slack_channel":"other"}`)

	f.ok(ann, "POST", ops+"/rosters", `{"name":"night","why":"new"}`)
	f.ok(ann, "POST", ops+"/rosters/night/users", `{"name":"eve"}`)
	f.ok(ann, "PUT", ops+"/rosters/night/users/eve", `{"in_rotation":0}`)
	for action, body := range map[string]string{"team_edited": `{"slack_channel":"ops"}`,
		"roster_created": `{"name":"night","why":"new"}`, "roster_user_added": `{"name":"eve"}`, "roster_user_edited": `{"in_rotation":0}`} {
		require.Equal(t, 1, f.count(`select count(*) from oncall_audit where owner = 'ann' and action = $1 and (context->'request_body')::jsonb = $2::jsonb`,
			action, body), "the log has the body as it was sent: %s", action)
	}
	f.want(201, "", program, "POST", "/api/v0/teams", `{"name":"new","scheduling_timezone":"UTC","admin":"bob"}`)
	require.Equal(t, 1, f.count(`select count(*) from oncall_audit where owner = 'bob' and action = 'team_created'`),
		"the log names the administrator whom an application names")

	f.want(200, "", ann, "PUT", ops+"/rosters/ops-roster", `{"name":"main","roster_order":["cat","ann","bob"]}`)
	f.want(200, `["ann","bob"]`, bob, "GET", ops+"/rosters/main/users?in_rotation=1", "")
	f.want(200, `["cat","ann","bob"]`, bob, "GET", ops+"/rosters/main/users", "")

	f.exec(`insert into team_services (team_id, service_id) select t.id, s.id from teams t, services s where t.name = 'ops' and s.name = 'web'`)
	f.want(422, says("IntegrityError", `service "web" already claimed by team "ops"`), ann, "POST", ops+"/services", `{"name":"WEB"}`)
	f.want(200, "", program, "DELETE", ops, "") // although a service uses it
	require.Equal(t, 1, f.count(`select count(*) from oncall_audit where owner = 'calendar' and team = 'ops' and action = 'team_deleted'`))
}

func TestOrdersOfARosterAreChangedAtTheSameTime(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const one = "/api/v0/teams/ops/rosters/ops-roster"
	done := make(chan int, 4)
	for _, order := range []string{`["cat","ann","bob"]`, `["bob","ann","cat"]`, `["ann","cat","bob"]`, `["cat","bob","ann"]`} {
		go func() { done <- f.do(ann, "PUT", one, `{"roster_order":`+order+`}`).Code }()
	}
	for range 4 {
		require.Equal(t, 200, <-done)
	}
	require.Len(t, decode[[]string](f, bob, "GET", one+"/users", ""), 3)
}

func TestTeamsSubscribeToRolesOfOthers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const at = "/v1/teams/ops/subscriptions"
	for range 2 {
		f.want(204, "", ann, "PUT", at+"/EMPTY/Primary", "")
	}
	f.ok(ann, "PUT", at+"/empty/manager", "")
	require.Equal(t, 2, f.count(`select count(*) from audit_log where actor = 'ann' and action = 'team subscribed'`))
	require.JSONEq(t, `{"items":[{"team":"empty","role":"manager"},{"team":"empty","role":"primary"}],"next":null}`, f.ok(bob, "GET", at, ""))
	first := decode[map[string]any](f, bob, "GET", at+"?limit=1", "")
	require.Contains(t, f.ok(bob, "GET", at+"?limit=1&cursor="+first["next"].(string), ""), "primary")
	require.Contains(t, f.ok(bob, "GET", "/api/v0/teams/ops/subscriptions", ""), `{"role":"primary","subscription":"empty"}`)
	f.want(422, says("IntegrityError", "Subscription already exists"), ann, "POST", "/api/v0/teams/ops/subscriptions",
		`{"role":"PRIMARY","subscription":"Empty"}`)
	require.Contains(t, f.refused(400, ann, "PUT", at+"/ops/primary", ""), "name another team")
	f.want(204, "", ann, "DELETE", at+"/empty/primary", "")
	require.Contains(t, f.refused(404, ann, "DELETE", at+"/empty/primary", ""), "does not subscribe")
	require.Equal(t, 1, f.count(`select count(*) from audit_log where actor = 'ann' and action = 'team unsubscribed'`))
	for _, method := range []string{"PUT", "DELETE"} {
		f.refused(403, bob, method, at+"/empty/primary", "")
		f.refused(404, root, method, "/v1/teams/none/subscriptions/empty/primary", "")
		require.Contains(t, f.refused(404, ann, method, at+"/none/primary", ""), "no such team")
		require.Contains(t, f.refused(404, ann, method, at+"/empty/none", ""), "no such on-call role")
	}
	f.refused(404, bob, "GET", "/v1/teams/none/subscriptions", "")
}
