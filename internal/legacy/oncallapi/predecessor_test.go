package oncallapi_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// A name or time zone that a person does not have is null in every answer, as Oncall's clients expect.
func TestUnknownNamesAndZonesAreNull(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ok(root, "POST", "/api/v0/users", `{"name":"new"}`)
	type person struct {
		FullName *string `json:"full_name"`
		TimeZone *string `json:"time_zone"`
	}
	const at = "/api/v0/users/new"
	require.Equal(t, person{}, decode[person](f, ann, "GET", at, ""))
	f.ok(root, "PUT", at, `{"full_name":"New Person","time_zone":"UTC"}`)
	name, zone := "New Person", "UTC"
	require.Equal(t, person{&name, &zone}, decode[person](f, ann, "GET", at, ""))
	f.ok(root, "PUT", at, `{"full_name":null,"time_zone":null}`)
	require.Equal(t, person{}, decode[person](f, ann, "GET", at, ""))
	require.Equal(t, 1, f.count(`select count(*) from users where name = 'new' and time_zone = 'UTC'`))

	f.ok(ann, "POST", "/api/v0/teams/ops/rosters/ops-roster/users", `{"name":"new"}`)
	id := f.event("new", "primary", -1, 5)
	f.event("new", "primary", 20, 5)
	require.Contains(t, f.ok(bob, "GET", fmt.Sprintf("/api/v0/events/%d", id), ""), `"full_name":null`)
	for _, path := range []string{"/teams/ops/oncall/primary", "/teams/ops/summary", "/events?user=new", "/search?keyword=new", "/users/new/upcoming", "/users?name=new", "/teams/ops"} {
		answer := f.ok(bob, "GET", "/api/v0"+path, "")
		require.Contains(t, answer, `"full_name":null`, path)
		require.NotContains(t, answer, `"full_name":""`, path)
	}
}

func TestOrderAndModesAreThoseOfOncall(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec(`update oncall_roles set display_order = 9 where name = 'primary'`)
	var roles []struct{ ID int64 }
	require.NoError(t, json.Unmarshal([]byte(f.ok(bob, "GET", "/api/v0/roles", "")), &roles))
	for i := 1; i < len(roles); i++ {
		require.Less(t, roles[i-1].ID, roles[i].ID)
	}
	require.JSONEq(t, `["database","web"]`, f.ok(bob, "GET", "/api/v0/services", ""))
	require.Contains(t, decode[[]string](f, bob, "GET", "/api/v0/modes", ""), "teams_messenger")
}

func TestUnknownRosters(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.want(422, says("IntegrityError", `roster "none" not found`), ann, "POST", "/api/v0/teams/ops/rosters/none/users",
		`{"name":"eve"}`)
	f.want(422, says("IntegrityError", "invalid team or user"), root, "POST", "/api/v0/teams/none/rosters/none/users",
		`{"name":"eve"}`)
	f.want(200, "[]", bob, "GET", "/api/v0/teams/ops/rosters/none/schedules", "")
	f.want(200, "[]", bob, "GET", "/api/v0/teams/none/rosters/none/schedules", "")
}

// The audit log has microseconds. The end of a query is a whole second, and entries within that second are in the
// answer.
func TestAuditLogIncludesTheLastSecond(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec(`insert into oncall_audit (owner, team, action, context, at) values ('ann', 'ops', 'team_edited', '{}', '2026-01-02 03:04:05.7Z')`)
	at := func(second int) string {
		return "/api/v0/audit?start=1767323040&end=" + strconv.Itoa(1767323040+second)
	}
	require.JSONEq(t, "[]", f.ok(bob, "GET", at(4), ""))
	require.Contains(t, f.ok(bob, "GET", at(5), ""), "team_edited")
}

// Clients request a preview of all shifts that end after second 0. The limit of the span counts from the start of
// populating.
func TestSpanOfAPreviewCountsFromItsStart(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	at := f.schedule(fmt.Sprintf(`{"role":"primary","advanced_mode":0,"events":[{"start":0,"duration":%d}]}`, week))
	start := f.hour(1)
	q := url.Values{"start": {strconv.FormatInt(start, 10)}, "start__lt": {strconv.FormatInt(start+4*week, 10)},
		"end__ge": {"0"}, "team__eq": {"ops"}}
	require.Greater(t, len(decode[[]wireEvent](f, bob, "GET", at+"/preview?"+q.Encode(), "")), 1)
	q.Set("start__lt", strconv.FormatInt(start+100*week, 10))
	require.Equal(t, 400, f.do(bob, "GET", at+"/preview?"+q.Encode(), "").Code)
}
