package oncallapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestShiftsPerRequestAreLimited(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	item := fmt.Sprintf(`{"team":"ops","user":"bob","role":"primary","start":%d,"end":%d}`, f.hour(5), f.hour(6))
	many := "[" + strings.TrimSuffix(strings.Repeat(item+",", 1001), ",") + "]"
	f.want(400, says("Invalid argument", "events list cannot hold more than 1000 events"), bob, "POST",
		"/api/v0/events/link", many)
	require.Zero(t, f.count(`select count(*) from shifts`))
}

// An override whose start is its end would leave shifts of no length.
func TestOverridesOfNoLengthAreRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	id := f.event("bob", "primary", 1, 5)
	for _, end := range []int{3, 2} {
		f.want(400, says("Invalid override request", "events must overlap with override time range"), bob, "POST",
			"/api/v0/events/override",
			fmt.Sprintf(`{"start":%d,"end":%d,"event_ids":[%d],"user":"cat"}`, f.hour(3), f.hour(end), id))
	}
	require.Equal(t, 1, f.count(`select count(*) from shifts`))
}

func TestInactivePeopleCannotBePutOnCall(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec(`update users set active = false where name = 'cat'`)
	f.want(400, says("Invalid event", "the user is switched off and cannot be put on call"), bob, "POST",
		"/api/v0/events",
		fmt.Sprintf(`{"team":"ops","user":"cat","role":"primary","start":%d,"end":%d}`, f.hour(1), f.hour(2)))
}

// With compatibility.team_admins_edit_members, an administrator of a team still may not change the reminders of an
// administrator of Iris.
func TestTeamAdministratorsCannotChangeNoticesOfAdministrators(t *testing.T) {
	t.Parallel()
	f := newFixture(t, func(d *deps) { d.Requests.Openings.AdminsEditMembers = true })
	f.ok(ann, "POST", "/api/v0/teams/ops/admins", `{"name":"root"}`)
	const body = `{"team":"ops","roles":["primary"],"mode":"email","type":"event_created","only_if_involved":true}`
	for name, status := range map[string]int{"root": 403, "bob": 200} {
		as := root
		as.session = name
		var made struct{ ID int64 }
		require.NoError(t, json.Unmarshal([]byte(f.ok(as, "POST", "/api/v0/users/"+name+"/notifications", body)),
			&made))
		at := fmt.Sprintf("/api/v0/notifications/%d", made.ID)
		require.Equal(t, status, f.do(ann, "PUT", at, `{"mode":"sms"}`).Code, name)
		require.Equal(t, status, f.do(ann, "DELETE", at, "").Code, name)
	}
}

func TestUnavailabilitiesPerPersonAreLimited(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec(`insert into unavailabilities (user_id, starts_at, ends_at) select id, now(), now() + interval '1 hour' from users, generate_series(1, 199)
		where name = 'bob'`)
	body := fmt.Sprintf(`{"start":%q,"end":%q}`, f.at(1), f.at(2))
	f.ok(bob, "POST", "/v1/teams/ops/unavailability", body)
	rec := f.do(bob, "POST", "/v1/teams/ops/unavailability", body)
	require.Equal(t, 400, rec.Code)
	require.Contains(t, rec.Body.String(), "bob has 200 unavailabilities")
	require.Equal(t, 200, f.count(`select count(*) from unavailabilities`))
}

func TestPeoplePerScheduleAreLimited(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	names := strings.TrimSuffix(strings.Repeat(`"bob",`, 501), ",")
	f.want(400, says("invalid schedule", "an order names at most 500 users"), ann, "POST",
		"/api/v0/teams/ops/rosters/ops-roster/schedules",
		`{"role":"primary","advanced_mode":0,"events":[{"start":0,"duration":604800}],"scheduler":{"name":"round-robin","data":[`+names+`]}}`)
	members := strings.ReplaceAll(names, `"bob"`, `{"user":"bob"}`)
	rec := f.do(ann, "POST", "/v1/teams/ops/rotations",
		`{"role":"primary","roster":"ops-roster","layers":[{"start":"2026-11-23T09:00","every":1,"unit":"weeks",
		"members":[`+members+`]}]}`)
	require.Equal(t, 400, rec.Code)
	require.Contains(t, rec.Body.String(), "a rotation names at most 500 members")
}

func TestErrorsNameTheWrongPartOfALayer(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	for field, want := range map[string]string{
		`"members":["bob"]`:                                          "layers[0].members[0] must be an object",
		`"members":[{"user":"bob"},{"user":5}]`:                      "layers[0].members[1].user must be a string",
		`"members":{}`:                                               "layers[0].members must be a list",
		`"members":[{"user":"bob"}],"hand_offs":["09:00",17]`:        "layers[0].hand_offs[1] must be a string",
		`"members":[{"user":"bob"}],"restrict":["mon"]`:              "layers[0].restrict[0] must be an object",
		`"members":[{"user":"bob"}],"restrict":[{"days":["mon",2]}]`: "layers[0].restrict[0].days[1] must be a string",
	} {
		rec := f.do(ann, "POST", "/v1/teams/ops/rotations",
			`{"role":"primary","roster":"ops-roster","layers":[{"start":"2026-11-23T09:00","every":1,"unit":"weeks",`+
				field+`}]}`)
		require.Equal(t, 400, rec.Code, field)
		require.Contains(t, rec.Body.String(), `"detail":"`+want+`"`)
	}
}
