package oncallapi_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCredentialsAndAccess(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	loggedOut := says("Unauthorized", "User must be logged in")
	f.want(401, loggedOut, nobody, "GET", "/api/v0/teams", "")
	f.want(401, loggedOut, nobody, "POST", "/api/v0/teams", "{}")
	f.want(200, `["ops","empty"]`, viewer, "GET", "/api/v0/teams", "")
	f.want(200, `["ops","empty"]`, viewer, "GET", "/api/v0/teams/", "")
	f.want(403, says("Unauthorized", "This user may only read"), viewer, "POST", "/api/v0/teams", "{}")
	f.want(200, `["ops","empty"]`, program, "GET", "/api/v0/teams?active=1", "")
	f.want(403, says("Unauthorized", "This application may not use the on-call API (flag allow_oncall)"), stranger,
		"GET", "/api/v0/teams", "")
	f.want(401, says("Authentication failure", "Wrong digest"), caller{app: "ghost", key: "x"}, "GET", "/api/v0/teams",
		"")
	f.want(401, says("Authentication failure", "Wrong digest"), caller{app: "calendar", key: "x"}, "GET",
		"/api/v0/teams", "")
	for header, why := range map[string]string{"Basic abc": "Invalid digest format", "hmac nothing": "Wrong digest"} {
		rec := f.do(nobody, "GET", "/api/v0/teams", "", "Authorization", header)
		require.Equal(t, says("Authentication failure", why), rec.Body.String())
		require.Equal(t, 401, rec.Code)
	}
	f.want(401, says("Invalid Session", "CSRF validation failed"), caller{session: "ann", csrf: "-"}, "POST",
		"/api/v0/teams", "{}")
	f.want(401, says("Invalid Session", "CSRF validation failed"), caller{session: "ann", csrf: "wrong"}, "POST",
		"/api/v0/teams", "{}")
	f.want(200, `["ops","empty"]`, caller{session: "ann", csrf: "-"}, "GET", "/api/v0/teams", "")
	f.want(404, says("404 Not Found", ""), ann, "GET", "/api/v0/nothing", "")
	f.want(405, says("405 Method Not Allowed", ""), ann, "DELETE", "/api/v0/teams", "")
	rec := f.do(nobody, "OPTIONS", "/api/v0/teams", "")
	require.Equal(t, http.StatusOK, rec.Code)
	require.Equal(t, "GET, HEAD, POST, OPTIONS", rec.Header().Get("Allow"))
}

func TestUnknownSessionsAreRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec(`delete from sessions`)
	rec := f.do(nobody, "POST", "/api/v0/teams", "{}", "Cookie", "iris-auth=no-such-session")
	require.Equal(t, says("Invalid Session", "CSRF token missing"), rec.Body.String())
	require.Equal(t, 401, rec.Code)
}

func TestTeams(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const teams = "/api/v0/teams"
	for body, answer := range map[string]string{
		`{`:                             says("invalid JSON", "failed to decode json: unexpected end of JSON input"),
		`{"scheduling_timezone":"UTC"}`: says("400 Bad Request", "name attribute missing from request"),
		`{"name":"new"}`:                says("400 Bad Request", "scheduling_timezone attribute missing from request"),
		`{"name":"a/b","scheduling_timezone":"UTC"}`: says("invalid team name",
			`team name contains invalid character "/"`),
		`{"name":"a<>b","scheduling_timezone":"UTC"}`: says("invalid team name",
			`team name contains invalid character "<>"`),
		`{"name":"new","scheduling_timezone":"UTC","slack_channel":"x"}`: says("invalid slack channel",
			"slack channel name needs to start with #"),
		`{"name":"new","scheduling_timezone":"Mars/Olympus"}`: says("invalid payload",
			"requested scheduling_timezone is not a time zone: Mars/Olympus"),
		`{"name":"new","scheduling_timezone":"UTC","iris_enabled":"yes!"}`: says("invalid payload",
			"iris_enabled must be boolean"),
	} {
		f.want(400, answer, eve, "POST", teams, body)
	}
	f.want(400, says("invalid admin", "API requests must specify a team admin username in the admin field"), program,
		"POST", teams, `{"name":"new","scheduling_timezone":"UTC"}`)
	f.want(400, says("invalid admin", "admin username who was not found in db"), program, "POST", teams,
		`{"name":"new","scheduling_timezone":"UTC","admin":"who"}`)
	f.want(201, "", eve, "POST", teams, `{"name":" new%20team ","scheduling_timezone":"utc","email":"new@example.com","slack_channel":"#new"}`)
	f.want(422, says("IntegrityError", `team name "NEW team" already exists`), eve, "POST", teams,
		`{"name":"NEW team","scheduling_timezone":"UTC"}`)
	require.Equal(t, 1, f.count(`select count(*) from oncall_audit where owner = 'eve' and team = 'new team' and action = 'team_created'`))
	require.Equal(t, 1, f.count(`select count(*) from notice_settings n join users u on u.id = n.user_id where u.name = 'eve'`))

	got := decode[map[string]any](f, eve, "GET", teams+"/new%20team", "")
	require.Equal(t, "UTC", got["scheduling_timezone"])
	require.Equal(t, []any{map[string]any{"name": "eve"}}, got["admins"])
	require.Contains(t, got["users"], "eve")
	require.Equal(t, map[string]any{}, got["rosters"])
	require.EqualValues(t, 0, got["iris_enabled"])
	require.Nil(t, got["override_phone_number"])
	require.NotContains(t, got, "active")
	require.NotContains(t, decode[map[string]any](f, eve, "GET", teams+"/new+team?fields=admins&fields=nonsense",
		""), "users")

	f.want(200, `["new team"]`, eve, "GET", teams+"?name__startswith=new", "")
	f.want(200, `[]`, eve, "GET", teams+"?name__startswith=NEW", "")
	f.want(200, `["ops"]`, eve, "GET", teams+"?name__contains=o_s", "")
	f.want(200, `["ops"]`, eve, "GET", teams+"?email__endswith=example.com&name=ops", "")
	require.Len(t, decode[[][2]any](f, program, "GET", teams+"?fields=name&active=1&get_id=1", ""), 3)
	f.want(400, says("Invalid parameter",
		`The "active" parameter is invalid. The value of the parameter must be "true" or "false".`), eve, "GET", teams+
		"?active=perhaps", "")

	f.want(403, says("Unauthorized", `Action not allowed: "bob" is not an admin for "ops"`), bob, "PUT", teams+"/ops",
		`{"name":"x"}`)
	f.want(400, says("invalid team name", "empty team name"), ann, "PUT", teams+"/ops", `{"name":""}`)
	f.want(400, says("invalid payload", "iris_enabled must be boolean"), ann, "PUT", teams+"/ops",
		`{"iris_enabled":"x"}`)
	f.want(400, says("invalid payload", "requested scheduling_timezone is not supported. Supported timezones: ['UTC', 'America/New_York', 'Europe/Zurich']"),
		ann, "PUT", teams+"/ops", `{"scheduling_timezone":"Asia/Tokyo"}`)
	f.want(422, says("IntegrityError", "A team named 'Empty' already exists"), ann, "PUT", teams+"/ops",
		`{"name":"Empty"}`)
	f.want(200, "", ann, "PUT", teams+"/ops", `{"override_phone_number":"12ab"}`)
	f.want(200, "", ann, "PUT", teams+"/ops", `{"override_phone_number":"+15550123","iris_enabled":true,"unknown":1}`)
	f.want(404, says("404 Not Found", ""), root, "PUT", teams+"/none", `{}`)

	f.event("bob", "primary", 10, 1)
	f.want(403, says("Unauthorized", `Action not allowed: "bob" is not an admin for "ops"`), bob, "DELETE", teams+
		"/ops", "")
	f.want(200, "", ann, "DELETE", teams+"/ops", "")
	require.Zero(t, f.count(`select count(*) from shifts`))
	f.want(404, says("404 Not Found", ""), ann, "GET", teams+"/ops", "")
	f.want(404, says("404 Not Found", ""), root, "DELETE", teams+"/ops", "")
	deleted := decode[[]string](f, ann, "GET", teams+"?active=false", "")
	require.Len(t, deleted, 1)
	require.Len(t, deleted[0], 36)
	f.want(201, "", eve, "POST", teams, `{"name":"ops","scheduling_timezone":"UTC"}`)
}

func TestMembersAndAdmins(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const users, admins = "/api/v0/teams/ops/users", "/api/v0/teams/ops/admins"
	f.want(200, `["ann","bob","cat"]`, eve, "GET", users, "")
	f.want(200, `[]`, eve, "GET", "/api/v0/teams/none/users", "")
	f.want(200, `[]`, eve, "GET", users+"?active=0", "")
	f.want(403, says("Unauthorized", `Action not allowed: "bob" is not an admin for "ops"`), bob, "POST", users,
		`{"name":"eve"}`)
	f.want(422, says("IntegrityError", "name missing for user"), ann, "POST", users, `{}`)
	f.want(422, says("IntegrityError", "user who not found"), ann, "POST", users, `{"name":"who"}`)
	f.want(422, says("IntegrityError", "team none not found"), root, "POST", "/api/v0/teams/none/users",
		`{"name":"eve"}`)
	f.want(422, says("IntegrityError", `user name "bob" is already in team ops`), ann, "POST", users, `{"name":"bob"}`)
	require.Equal(t, "eve", decode[map[string]any](f, ann, "POST", users, `{"name":"eve"}`)["name"])
	f.want(200, "", ann, "DELETE", users+"/eve", "")
	f.want(404, says("404 Not Found", ""), ann, "DELETE", users+"/eve", "")
	f.want(200, "", ann, "DELETE", users+"/ann", "") // she still administers the team
	f.want(200, `["bob","cat"]`, eve, "GET", users, "")
	f.want(200, `["ann"]`, eve, "GET", admins, "")

	f.want(400, says("name attribute missing from request", "name attribute missing from request"), ann, "POST",
		admins, `{}`)
	f.want(422, says("IntegrityError", "invalid team or user"), ann, "POST", admins, `{"name":"who"}`)
	f.want(422, says("IntegrityError", "invalid team or user"), root, "POST", "/api/v0/teams/none/admins",
		`{"name":"bob"}`)
	f.want(422, says("IntegrityError", `user name "ann" is already an admin of team ops`), ann, "POST", admins,
		`{"name":"ann"}`)
	require.EqualValues(t, 1, decode[map[string]any](f, ann, "POST", admins, `{"name":"eve"}`)["active"])
	require.Equal(t, 1, f.count(`select count(*) from notice_settings`))
	f.want(200, `["ann","eve"]`, eve, "GET", admins, "")
	f.want(200, "", eve, "DELETE", admins+"/eve", "")
	f.want(404, says("404 Not Found", ""), ann, "DELETE", admins+"/eve", "")
	f.want(200, `["bob","cat"]`, eve, "GET", users,
		"") // she was in no roster, so she left the team when she lost the administration
	require.Zero(t, f.count(`select count(*) from notice_settings`))
	require.Equal(t, 2, f.count(`select count(*) from oncall_audit where action in ('admin_created', 'admin_deleted')`))
	require.Len(t, decode[[]map[string]string](f, eve, "GET", "/api/v0/team_users", ""), 2)
}

func TestSubscriptions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const at = "/api/v0/teams/ops/subscriptions"
	f.want(400, says("Invalid subscription", "Missing subscription name or role name"), ann, "POST", at,
		`{"role":"primary"}`)
	f.want(400, says("Invalid subscription", "Subscription team must be different from subscribing team"), ann, "POST",
		at, `{"role":"primary","subscription":"ops"}`)
	f.want(422, says("IntegrityError", `Team "none" not found`), ann, "POST", at,
		`{"role":"primary","subscription":"none"}`)
	f.want(422, says("IntegrityError", `Role "none" not found`), ann, "POST", at,
		`{"role":"none","subscription":"empty"}`)
	f.want(201, "", ann, "POST", at, `{"role":"primary","subscription":"empty"}`)
	f.want(422, says("IntegrityError", "Subscription already exists"), ann, "POST", at,
		`{"role":"primary","subscription":"empty"}`)
	f.want(200, `[{"role":"primary","subscription":"empty"}]`, bob, "GET", at, "")
	f.want(403, says("Unauthorized", `Action not allowed: "bob" is not an admin for "ops"`), bob, "DELETE", at+
		"/empty/primary", "")
	f.want(200, "", ann, "DELETE", at+"/empty/primary", "")
	f.want(404, says("404 Not Found", ""), ann, "DELETE", at+"/empty/primary", "")
	f.want(200, `[]`, bob, "GET", "/api/v0/teams/none/subscriptions", "")
}
