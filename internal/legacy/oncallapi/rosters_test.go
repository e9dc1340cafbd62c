package oncallapi_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRosters(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const at = "/api/v0/teams/ops/rosters"
	notAdmin := says("Unauthorized", `Action not allowed: "bob" is not an admin for "ops"`)
	f.want(422, says("IntegrityError", `team "none" not found`), bob, "GET", "/api/v0/teams/none/rosters", "")
	rosters := decode[map[string]struct {
		ID    int64
		Users []struct {
			Name       string
			InRotation bool `json:"in_rotation"`
		}
	}](f, bob, "GET", at, "")
	require.Len(t, rosters["ops-roster"].Users, 3)
	require.False(t, rosters["ops-roster"].Users[2].InRotation)
	f.want(200, `{}`, bob, "GET", at+"?name=other", "")
	f.want(403, notAdmin, bob, "POST", at, `{"name":"x"}`)
	f.want(400, says("name attribute missing from request", "name attribute missing from request"), ann, "POST", at,
		`{}`)
	f.want(400, says("invalid roster name", `roster name contains invalid character "/"`), ann, "POST", at,
		`{"name":"a/b"}`)
	f.want(201, "", ann, "POST", at, `{"name":"new one"}`)
	f.want(422, says("IntegrityError", `roster name "new one" already exists for team ops`), ann, "POST", at,
		`{"name":"new one"}`)
	f.want(422, says("IntegrityError", `roster name "x" already exists for team none`), root, "POST",
		"/api/v0/teams/none/rosters", `{"name":"x"}`)
	f.want(200, `{"schedules":[],"users":[]}`, bob, "GET", at+"/new%20one", "")
	f.want(404, says("404 Not Found", ""), bob, "GET", at+"/none", "")

	one := at + "/ops-roster"
	f.want(403, notAdmin, bob, "PUT", one, `{"name":"x"}`)
	f.want(400, says("invalid roster update", "missing roster name or order"), ann, "PUT", one, `{}`)
	f.want(400, says("Invalid roster order", "All users in provided order must be part of the roster"), ann, "PUT",
		one, `{"roster_order":["eve","ann"]}`)
	f.want(400, says("Invalid roster order", "Roster order must include all roster members"), ann, "PUT", one,
		`{"roster_order":["bob","ann"]}`)
	f.want(200, "", ann, "PUT", one, `{"roster_order":["cat","bob","ann"]}`)
	f.want(200, `["cat","bob","ann"]`, bob, "GET", one+"/users", "")
	f.want(200, `["bob","ann"]`, bob, "GET", one+"/users?in_rotation=1", "")
	f.want(422, says("IntegrityError", "roster 'new one' already existed for team 'ops'"), ann, "PUT", one,
		`{"name":"new one"}`)
	f.want(200, "", ann, "PUT", one, `{"name":"main"}`)
	one = at + "/main"

	f.want(403, notAdmin, bob, "POST", one+"/users", `{"name":"eve"}`)
	f.want(400, says("incomplete data", `missing field "name"`), ann, "POST", one+"/users", `{}`)
	f.want(422, says("IntegrityError", "invalid team or user"), ann, "POST", one+"/users", `{"name":"who"}`)
	f.want(422, says("IntegrityError", `user "bob" is already in the roster`), ann, "POST", one+"/users",
		`{"name":"bob"}`)
	f.want(422, says("IntegrityError", `roster "none" not found`), ann, "POST", at+"/none/users", `{"name":"eve"}`)
	require.Equal(t, "eve", decode[map[string]any](f, ann, "POST", one+"/users",
		`{"name":"eve","in_rotation":false}`)["name"])
	f.want(200, `["ann","bob","cat","eve"]`, bob, "GET", "/api/v0/teams/ops/users", "")
	f.want(400, says("incomplete data", `missing field "in_rotation"`), ann, "PUT", one+"/users/eve", `{}`)
	f.want(200, `[]`, ann, "PUT", one+"/users/eve", `{"in_rotation":true}`)
	f.want(200, `[]`, ann, "PUT", one+"/users/who", `{"in_rotation":true}`)
	f.want(200, `["cat","bob","ann","eve"]`, bob, "GET", one+"/users", "")
	f.want(200, `[]`, ann, "DELETE", one+"/users/eve", "")
	f.want(404, says("404 Not Found", ""), ann, "DELETE", at+"/none/users/eve", "")
	f.want(200, `["ann","bob","cat"]`, bob, "GET", "/api/v0/teams/ops/users", "")
	f.want(200, "", ann, "DELETE", one, "")
	f.want(404, says("404 Not Found", ""), ann, "DELETE", one, "")
	f.want(200, `["ann"]`, bob, "GET", "/api/v0/teams/ops/users", "")
	for action, n := range map[string]int{"roster_created": 1, "roster_edited": 1, "roster_deleted": 1, "roster_user_added": 1, "roster_user_edited": 1, "roster_user_deleted": 1} {
		require.Equal(t, n, f.count(`select count(*) from oncall_audit where action = $1`, action), action)
	}
}

func TestSuggest(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const at = "/api/v0/teams/ops/rosters/ops-roster"
	f.event("ann", "primary", 20, 1)
	f.want(400, says("Missing parameter", `The "start" parameter is required.`), bob, "GET", at+"/primary/suggest", "")
	window := fmt.Sprintf("?start=%d&end=%d", f.hour(30), f.hour(31))
	f.want(400, says("Invalid role", `role "none" not found`), bob, "GET", at+"/none/suggest"+window, "")
	f.want(400, says("Invalid roster", `roster "none" not found in team "ops"`), bob, "GET",
		"/api/v0/teams/ops/rosters/none/primary/suggest"+window, "")
	f.want(200, `{"data":{"ann":36000,"bob":"infinity"},"user":"bob"}`, bob, "GET", at+"/primary/suggest"+window, "")
}

func TestUsers(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const at = "/api/v0/users"
	require.Len(t, decode[[]map[string]any](f, bob, "GET", at+"?fields=name&fields=contacts&fields=active", ""), 6)
	f.want(200, `[{"name":"bob"}]`, bob, "GET", at+"?fields=name&full_name__startswith=Bob", "")
	f.want(400, says("Bad fields", "One or more invalid fields"), bob, "GET", at+"?fields=name,active", "")
	f.want(404, says("404 Not Found", ""), bob, "GET", at+"/who", "")
	f.want(403, says("403 Forbidden", "Admin only action"), bob, "POST", at, `{"name":"new"}`)
	f.want(201, "", root, "POST", at, `{"name":"new"}`)
	f.want(422, says("IntegrityError", `user name "new" already exists`), program, "POST", at, `{"name":"new"}`)
	require.Equal(t, map[string]any{}, decode[map[string]any](f, bob, "GET", at+"/new", "")["contacts"])

	f.want(204, "", bob, "PUT", at+"/bob",
		`{"full_name":"Robert","contacts":{"email":"b@example.com","sms":null},"god":1}`)
	got := decode[map[string]any](f, bob, "GET", at+"/bob", "")
	require.Equal(t, "Robert", got["full_name"])
	require.EqualValues(t, 0, got["god"])
	require.Equal(t, "b@example.com", got["contacts"].(map[string]any)["email"])
	f.want(400, says("invalid payload", `the email contact "nonsense" must be an e-mail address, such as ann@example.com`), bob, "PUT", at+"/bob", `{"contacts":{"email":"nonsense"}}`)
	f.want(400, says("invalid payload", `"pigeon" is no contact mode`), bob, "PUT", at+"/bob",
		`{"contacts":{"pigeon":"x"}}`)
	f.ok(ann, "POST", "/api/v0/teams/ops/users", `{"name":"root"}`)
	f.want(403, says("Unauthorized", `Action not allowed for "ann"`), ann, "PUT", at+"/root", `{"active":false}`)
	f.want(403, says("Unauthorized", `Action not allowed for "bob"`), bob, "PUT", at+"/ann", `{"full_name":"x"}`)
	// Ann administers a team of bob. She may change his contacts only with the compatibility switch.
	f.want(403, says("Unauthorized", `Action not allowed for "ann"`), ann, "PUT", at+"/bob", `{"time_zone":"PDT"}`)
	f.want(204, "", bob, "PUT", at+"/bob", `{"time_zone":"PDT"}`)
	f.want(400, says("No User Found", "no user exists with given name"), root, "PUT", at+"/who", `{"full_name":"x"}`)
	f.want(422, says("IntegrityError", `user name "ann" already exists`), root, "PUT", at+"/bob", `{"name":"ann"}`)

	f.want(200, "", root, "DELETE", at+"/new", "")
	f.want(200, "", root, "DELETE", at+"/new", "")
	f.want(404, says("404 Not Found", ""), bob, "GET", at+"/new", "")
	f.event("bob", "primary", 1, 1)
	f.want(200, "", root, "DELETE", at+"/bob", "") // a person who was on call is switched off, not deleted
	require.EqualValues(t, 0, decode[map[string]any](f, ann, "GET", at+"/bob", "")["active"])
	f.want(403, says("Unauthorized", `Action not allowed for "ann"`), ann, "DELETE", at+"/cat", "")

	f.want(200, `["ops"]`, ann, "GET", at+"/ann/teams", "")
	f.want(404, says("404 Not Found", ""), ann, "GET", at+"/who/teams", "")
	f.want(200, `[]`, ann, "GET", at+"/who/upcoming", "")
	pins := at + "/ann/pinned_teams"
	f.want(403, says("Unauthorized", `Action not allowed for "eve"`), eve, "POST", pins, `{"team":"ops"}`)
	f.want(400, says("Invalid team pin", "Missing team parameter"), ann, "POST", pins, `{}`)
	f.want(422, says("IntegrityError", `team "none" not found`), ann, "POST", pins, `{"team":"none"}`)
	f.want(422, says("IntegrityError", `user "who" not found`), root, "POST", at+"/who/pinned_teams", `{"team":"ops"}`)
	f.want(201, "", ann, "POST", pins, `{"team":"ops"}`)
	f.want(400, says("Invalid team pin", "Team already pinned for this user"), ann, "POST", pins, `{"team":"ops"}`)
	f.want(200, `["ops"]`, viewer, "GET", pins, "")
	f.want(200, "", ann, "DELETE", pins+"/ops", "")
	f.want(404, says("404 Not Found", ""), ann, "DELETE", pins+"/ops", "")
}

func TestNamesAndSearch(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	notAdmin := says("403 Forbidden", "Admin only action")
	require.Len(t, decode[[]map[string]any](f, bob, "GET", "/api/v0/roles", ""), 6)
	f.want(200, `[{"display_order":1,"name":"primary"}]`, bob, "GET",
		"/api/v0/roles/?fields=name&fields=display_order&name__startswith=prim", "")
	f.want(403, notAdmin, bob, "POST", "/api/v0/roles", `{"name":"tester"}`)
	f.want(201, "", root, "POST", "/api/v0/roles", `{"name":"tester"}`)
	require.Equal(t, 1, f.count(`select count(*) from target_roles where name = 'oncall-tester'`))
	f.want(422, says("IntegrityError", `role "tester" already existed`), root, "POST", "/api/v0/roles",
		`{"name":"tester"}`)
	f.want(403, notAdmin, bob, "DELETE", "/api/v0/roles/tester", "")
	f.want(200, "", root, "DELETE", "/api/v0/roles/tester", "")
	f.want(404, says("404 Not Found", ""), root, "DELETE", "/api/v0/roles/tester", "")

	f.want(200, `["database","web"]`, bob, "GET", "/api/v0/services", "")
	f.want(403, notAdmin, bob, "POST", "/api/v0/services", `{"name":"x"}`)
	f.want(201, "", root, "POST", "/api/v0/services", `{"name":"mail"}`)
	f.want(422, says("IntegrityError", `service name "mail" already exists`), root, "POST", "/api/v0/services",
		`{"name":"mail"}`)
	f.want(200, "", root, "PUT", "/api/v0/services/mail", `{"name":"post"}`)
	require.Equal(t, "post", decode[map[string]any](f, bob, "GET", "/api/v0/services/post", "")["name"])
	f.want(200, "", root, "DELETE", "/api/v0/services/post", "")
	f.want(404, says("404 Not Found", ""), bob, "GET", "/api/v0/services/post", "")
	f.want(201, "", ann, "POST", "/api/v0/teams/ops/services", `{"name":"web"}`)
	f.want(422, says("IntegrityError", `service "web" already claimed by team "ops"`), root, "POST",
		"/api/v0/teams/empty/services", `{"name":"web"}`)
	f.want(422, says("IntegrityError", `service "x" not found`), ann, "POST", "/api/v0/teams/ops/services",
		`{"name":"x"}`)
	f.want(422, says("IntegrityError", `team "none" not found`), root, "POST", "/api/v0/teams/none/services",
		`{"name":"web"}`)
	f.want(200, `["web"]`, bob, "GET", "/api/v0/teams/ops/services", "")
	f.want(200, `["ops"]`, bob, "GET", "/api/v0/services/web/teams", "")
	f.want(200, `[{"service":"web","team":"ops"}]`, bob, "GET", "/api/v0/team_services", "")

	f.want(400, says("Missing parameter", `The "keyword" parameter is required.`), bob, "GET", "/api/v0/search", "")
	f.want(200, `{"services":{},"teams":["ops"],"users":[]}`, bob, "GET", "/api/v0/search?keyword=OP", "")
	f.want(200, `{"services":{"web":["ops"]}}`, bob, "GET", "/api/v0/search?keyword=e&fields=services", "")
	f.want(200, `{"users":[{"full_name":"Bob Ray","name":"bob"}]}`, bob, "GET",
		"/api/v0/search?keyword=b&fields=team_users&team=ops", "")
	f.want(400, says("Missing parameter", `The "team" parameter is required.`), bob, "GET",
		"/api/v0/search?keyword=b&fields=team_users", "")
	f.want(200, "", ann, "DELETE", "/api/v0/teams/ops/services/web", "")
	f.want(404, says("404 Not Found", ""), ann, "DELETE", "/api/v0/teams/ops/services/web", "")
	f.want(200, `["email","sms","call","slack","teams_messenger"]`, bob, "GET", "/api/v0/modes", "")
	f.want(200, `["UTC","America/New_York","Europe/Zurich"]`, bob, "GET", "/api/v0/timezones/", "")
	f.want(200, `{"activated":false}`, bob, "GET", "/api/v0/iris_settings", "")
}

func TestTeamAdministratorsEditMembersOnlyWithTheSwitch(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(d *deps) { d.Requests.Openings.AdminsEditMembers = true })
	f.want(204, "", ann, "PUT", "/api/v0/users/bob", `{"full_name":"Robert"}`)
	f.want(403, says("Unauthorized", `Action not allowed for "bob"`), bob, "PUT", "/api/v0/users/ann",
		`{"full_name":"x"}`)
}
