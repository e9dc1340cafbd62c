package oncallapi_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/oncall/calendaring"
)

// wireEvent is a shift on the wire.
type wireEvent struct {
	ID       int64   `json:"id"`
	Start    int64   `json:"start"`
	End      int64   `json:"end"`
	Role     string  `json:"role"`
	Team     string  `json:"team"`
	User     string  `json:"user"`
	FullName string  `json:"full_name"`
	Schedule *int64  `json:"schedule_id"`
	Link     *string `json:"link_id"`
	Note     *string `json:"note"`
}

func TestCreateEvent(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const at = "/api/v0/events"
	start, end := f.hour(5), f.hour(6)
	body := func(team, user, role string, start, end int64) string {
		return fmt.Sprintf(`{"team":%q,"user":%q,"role":%q,"start":%d,"end":%d.4,"note":"hm"}`, team, user, role,
			start, end)
	}
	for body, answer := range map[string]string{
		body("ops", "bob", "primary", start-7*86400, end): says("Invalid event",
			"Creating events in the past not allowed"),
		body("ops", "bob", "primary", end, start):          says("Invalid event", "Event must start before it ends"),
		body("ops", "eve", "primary", start, end):          says("Invalid event", "User must be part of the team"),
		body("ops", "who", "primary", start, end):          says("Invalid event", "User must be part of the team"),
		`{"team":"ops","user":"bob","role":"primary"}`:     says("Missing field", `"start" is required`),
		`{"team":"ops","user":"bob","start":1,"end":"xx"}`: says("Invalid event", "end must be a number"),
		`[]`: says("invalid JSON", "failed to decode json: an object is expected"),
	} {
		f.want(400, answer, bob, "POST", at, body)
	}
	f.want(403, says("Unauthorized", `Action not allowed: "eve" is not part of "ops"`), eve, "POST", at,
		body("ops", "bob", "primary", start, end))
	f.want(403, says("Unauthorized", `Action not allowed: "eve" is not part of "none"`), eve, "POST", at,
		body("none", "bob", "primary", start, end))
	f.want(422, says("IntegrityError", `role "none" not found`), bob, "POST", at,
		body("ops", "bob", "none", start, end))
	f.want(400, says("Invalid event", "User must be part of the team"), root, "POST", at,
		body("none", "bob", "primary", start, end))
	id := f.ok(bob, "POST", at, body("ops", "cat", "primary", start, end))
	got := decode[wireEvent](f, eve, "GET", at+"/"+id, "")
	note := "hm"
	n, err := strconv.ParseInt(id, 10, 64)
	require.NoError(t, err)
	require.Equal(t, wireEvent{ID: n, Start: start, End: end, Role: "primary", Team: "ops", User: "cat",
		FullName: "Cat Fox", Note: &note}, got)
	require.Equal(t, 1, f.count(`select count(*) from notices where kind = 'event_created'`))
	require.Equal(t, 1, f.count(`select count(*) from oncall_audit where action = 'event_created' and owner = 'bob' and context->>'new_event_id' = $1
		and context->'request_body'->>'user' = 'cat'`, id))
	f.want(404, says("404 Not Found", ""), bob, "GET", at+"/999999", "")
	f.want(404, says("404 Not Found", ""), bob, "GET", at+"/xyz", "")
	f.want(400, says("Bad fields", "One or more invalid fields"), bob, "GET", at+"/"+id+"?fields=nonsense", "")
	f.want(200, `{"user":"cat"}`, bob, "GET", at+"/"+id+"?fields=user", "")
}

func TestListEvents(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec(`insert into team_members (team_id, user_id, position) select t.id, u.id, 1 from teams t, users u where t.name = 'empty' and u.name = 'eve'`)
	a, b, c := f.event("ann", "primary", 1, 2), f.event("bob", "secondary", 2, 2), f.event("cat", "primary", 3, 2)
	var d int64
	start := f.hour(4)
	body := fmt.Sprintf(`{"team":"empty","user":"eve","role":"primary","start":%d,"end":%d}`, start, start+60)
	require.NoError(t, json.Unmarshal([]byte(f.ok(root, "POST", "/api/v0/events", body)), &d))
	ids := func(query string) []int64 {
		t.Helper()
		out := []int64{}
		for _, e := range decode[[]wireEvent](f, bob, "GET", "/api/v0/events?"+query, "") {
			out = append(out, e.ID)
		}
		return out
	}
	require.Equal(t, []int64{a, b, c, d}, ids(""))
	require.Equal(t, []int64{a, b, c}, ids("team=ops"))
	require.Equal(t, []int64{}, ids("team=OPS"))
	require.Equal(t, []int64{}, ids("team=ops&team=none"))
	require.Equal(t, []int64{a, c}, ids("team=ops&role=primary"))
	require.Equal(t, []int64{b}, ids("user__startswith=b"))
	require.Equal(t, []int64{b}, ids("user=bob&role__contains=cond"))
	require.Equal(t, []int64{a}, ids(fmt.Sprintf("start__lt=%d", f.hour(2))))
	require.Equal(t, []int64{a, b}, ids(fmt.Sprintf("start__le=%d", f.hour(2))))
	require.Equal(t, []int64{c, d}, ids(fmt.Sprintf("end__gt=%d&start__ge=%d", f.hour(2), f.hour(3))))
	require.Equal(t, []int64{a, c}, ids(fmt.Sprintf("id__ne=%d&team=ops", b)))
	require.Equal(t, []int64{b}, ids(fmt.Sprintf("id=%d", b)))
	require.Equal(t, []int64{d}, ids(fmt.Sprintf("team_id=%d",
		f.count(`select oncall_id from teams where name = 'empty'`))))
	f.want(400, says("Bad constraint param", ""), bob, "GET", "/api/v0/events?nonsense=1", "")
	f.want(400, says("Bad constraint param", ""), bob, "GET", "/api/v0/events?team__ne=ops", "")
	require.Empty(t, ids("start=soon"), "what is no number compares like 0")
	require.Equal(t, []int64{a, b, c, d}, ids("start__gt=abc"))
	require.JSONEq(t, `[{"role":"primary"}]`, f.ok(bob, "GET",
		fmt.Sprintf("/api/v0/events?fields=role&fields=nonsense&id=%d", a), ""))

	f.ok(ann, "POST", "/api/v0/teams/ops/subscriptions", `{"role":"primary","subscription":"empty"}`)
	require.Equal(t, []int64{a, b, c, d}, ids("team=ops"))
	require.Equal(t, []int64{a, b, c}, ids("team=ops&include_subscribed=false"))
	require.Equal(t, []int64{a, b, c}, ids("team__endswith=ps"))
	require.Equal(t, []int64{d}, ids("team=ops&user=eve"))
}

func TestUpdateAndDeleteEvent(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	at := func(id int64) string { return "/api/v0/events/" + strconv.FormatInt(id, 10) }
	id := f.event("ann", "primary", 5, 2)
	f.want(400, says("Invalid event update", "Invalid column"), bob, "PUT", at(id), `{"team":"ops"}`)
	f.want(400, says("Invalid event update", "Event must start before it ends"), bob, "PUT", at(id),
		fmt.Sprintf(`{"start":%d,"end":%d}`, f.hour(9), f.hour(8)))
	f.want(400, says("Invalid event update", "Event user must be part of the team"), bob, "PUT", at(id),
		`{"user":"eve"}`)
	f.want(422, says("IntegrityError", `role "none" not found`), bob, "PUT", at(id), `{"role":"none"}`)
	f.want(403, says("Unauthorized", `Action not allowed: "eve" is not part of "ops"`), eve, "PUT", at(id),
		`{"user":"bob"}`)
	f.want(404, says("404 Not Found", ""), bob, "PUT", at(999999), `{"user":"bob"}`)
	f.want(200, "", bob, "PUT", at(id), fmt.Sprintf(`{"user":"bob","role":"SECONDARY","note":"swapped","end":%d}`,
		f.hour(9)))
	got := decode[wireEvent](f, bob, "GET", at(id), "")
	require.Equal(t, "bob secondary "+strconv.FormatInt(f.hour(9), 10),
		fmt.Sprint(got.User, " ", got.Role, " ", got.End))
	require.Equal(t, 1, f.count(`select count(*) from oncall_audit where action = 'event_edited' and context->'old_event'->>'user' = 'ann'`))

	f.exec(`update shifts set starts_at = now() - interval '3 days', ends_at = now() + interval '1 hour' where id = $1`, id)
	f.want(403, says("Unauthorized", `Action not allowed: "bob" is not an admin for "ops"`), bob, "PUT", at(id),
		`{"user":"cat"}`)
	f.want(200, "", bob, "PUT", at(id), fmt.Sprintf(`{"end":%d}`,
		f.hour(20))) // the end of a running shift may be moved
	f.want(200, "", ann, "PUT", at(id), `{"user":"cat"}`)
	f.want(400, says("Invalid event update", "Deleting events in the past not allowed"), root, "DELETE", at(id), "")

	other := f.event("ann", "primary", 5, 2)
	f.want(403, says("Unauthorized", `Action not allowed: "eve" is not part of "ops"`), eve, "DELETE", at(other), "")
	f.want(200, "", bob, "DELETE", at(other), "")
	f.want(404, says("404 Not Found", ""), bob, "DELETE", at(other), "")
	require.Equal(t, 1, f.count(`select count(*) from oncall_audit where action = 'event_deleted' and (context->'old_event'->>'id')::bigint = $1`, other))
}

type linkAnswer struct {
	Link string  `json:"link_id"`
	IDs  []int64 `json:"event_ids"`
}

func (f *fixture) linked(user, role string, hours ...int) linkAnswer {
	f.Helper()
	body := "["
	for i, in := range hours {
		if i > 0 {
			body += ","
		}
		body += fmt.Sprintf(`{"team":"ops","user":%q,"role":%q,"start":%d,"end":%d}`, user, role, f.hour(in),
			f.hour(in+1))
	}
	return decode[linkAnswer](f, bob, "POST", "/api/v0/events/link", body+"]")
}

func TestLinkedEvents(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const at = "/api/v0/events/link"
	one := fmt.Sprintf(`"user":"bob","role":"primary","start":%d,"end":%d`, f.hour(1), f.hour(2))
	for body, answer := range map[string]string{
		`{}`:                            says("Invalid argument", "events argument needs to be a list"),
		`[]`:                            says("Invalid argument", "events list cannot be empty"),
		`[{` + one + `}]`:               says("Invalid argument", "event missing team attribute"),
		`[{"team":"none",` + one + `}]`: says("Invalid event", "Invalid team name: none"),
		`[{"team":"ops",` + one + `},{` + one + `}]`: says("Invalid event", "Missing team for event"),
		`[{"team":"ops",` + one + `},{"team":"empty",` + one +
			`}]`: says("Invalid event", "Events can only be submitted to one team"),
	} {
		f.want(400, answer, bob, "POST", at, body)
	}
	f.want(403, says("Unauthorized", `Action not allowed: "eve" is not part of "ops"`), eve, "POST", at,
		`[{"team":"ops",`+one+`}]`)
	made := f.linked("bob", "primary", 3, 1, 5)
	require.Len(t, made.Link, 32)
	require.Len(t, made.IDs, 3)
	require.Equal(t, f.hour(1), decode[wireEvent](f, bob, "GET", fmt.Sprintf("/api/v0/events/%d", made.IDs[0]),
		"").Start)

	f.want(400, says("Invalid event update", "Invalid column"), bob, "PUT", at+"/"+made.Link, `{"start":1}`)
	f.want(400, says("Invalid event update", "Nothing to change: give user, role or note"), bob, "PUT", at+"/"+
		made.Link, `{}`)
	f.want(404, says("404 Not Found", ""), bob, "PUT", at+"/0123", `{"user":"cat"}`)
	f.want(403, says("Unauthorized", `Action not allowed: "eve" is not part of "ops"`), eve, "PUT", at+"/"+made.Link,
		`{"user":"cat"}`)
	f.want(204, "", bob, "PUT", at+"/"+made.Link, `{"user":"cat"}`)
	require.Equal(t, 3, f.count(`select count(*) from shifts s join users u on u.id = s.user_id where u.name = 'cat' and s.link_id = $1`, made.Link))
	f.want(200, "", bob, "PUT", fmt.Sprintf("/api/v0/events/%d", made.IDs[1]),
		`{"note":"alone"}`) // the shift leaves its link
	require.Equal(t, 2, f.count(`select count(*) from shifts where link_id = $1`, made.Link))
	upcoming := decode[[]map[string]any](f, bob, "GET", "/api/v0/users/cat/upcoming?limit=5&role=primary", "")
	require.Len(t, upcoming, 2)
	require.EqualValues(t, 2, upcoming[0]["num_events"])
	require.NotContains(t, upcoming[1], "num_events")
	f.want(200, "", bob, "DELETE", at+"/"+made.Link, "")
	f.want(404, says("404 Not Found", ""), bob, "DELETE", at+"/"+made.Link, "")
	require.Equal(t, 1, f.count(`select count(*) from shifts`))
}

func TestSwap(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const at = "/api/v0/events/swap"
	a, b := f.event("ann", "primary", 1, 2), f.event("bob", "secondary", 4, 2)
	pair := func(x, y any) string {
		raw, err := json.Marshal(map[string]any{"events": []any{x, y}})
		require.NoError(t, err)
		return string(raw)
	}
	single := func(id int64) map[string]any { return map[string]any{"id": id, "linked": false} }
	const bad = "Invalid event swap request"
	f.want(400, says(bad, "Must provide 2 events"), bob, "POST", at, `{}`)
	f.want(400, says(bad, "Must provide 2 events"), bob, "POST", at, `{"events":[{"id":1}]}`)
	f.want(400, says(bad, "Invalid event id: 0"), bob, "POST", at, `{"events":[{"id":0},{"id":2}]}`)
	f.want(400, says(bad, "Invalid event id: null"), bob, "POST", at, `{"events":[{"linked":true},{"id":2}]}`)
	f.want(404, says("404 Not Found", ""), bob, "POST", at, pair(single(a), single(99999)))
	f.want(403, says("Unauthorized", `Action not allowed: "eve" is not a team member`), eve, "POST", at,
		pair(single(a), single(b)))
	f.want(200, "", bob, "POST", at, pair(map[string]any{"id": a}, single(b)))
	require.Equal(t, "bob", decode[wireEvent](f, bob, "GET", fmt.Sprintf("/api/v0/events/%d", a), "").User)
	require.Equal(t, "ann", decode[wireEvent](f, bob, "GET", fmt.Sprintf("/api/v0/events/%d", b), "").User)
	linked := f.linked("cat", "primary", 6, 8)
	f.want(200, "", bob, "POST", at, pair(map[string]any{"id": linked.Link, "linked": true}, single(a)))
	require.Equal(t, 2, f.count(`select count(*) from shifts s join users u on u.id = s.user_id where u.name = 'bob' and link_id = $1`, linked.Link))
	require.Equal(t, 2, f.count(`select count(*) from oncall_audit where action = 'event_swapped' and json_array_length(context->'events_swapped') in (2, 3)`))
	f.exec(`update shifts set starts_at = starts_at - interval '3 days' where id = $1`, a)
	f.want(400, says(bad, "Cannot edit events in the past"), bob, "POST", at, pair(single(a), single(b)))
}

func TestSwapFromNowKeepsThePast(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a, b := f.event("ann", "primary", 1, 20), f.event("bob", "primary", 40, 2)
	f.exec(`update shifts set starts_at = date_trunc('second', now()) - interval '30 hours' where id = $1`, a)
	was := decode[wireEvent](f, bob, "GET", fmt.Sprintf("/api/v0/events/%d", a), "")
	body := fmt.Sprintf(`"events":[{"id":%d},{"id":%d}]}`, a, b)
	var preview calendaring.EditAnswer
	rec := f.do(bob, "POST", "/v1/events/preview", `{"action":"swap_from_now",`+body)
	require.Equal(t, 200, rec.Code, rec.Body.String())
	require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &preview))
	require.Len(t, preview.Added, 1)
	require.Len(t, preview.Changed, 2)
	require.Equal(t, 403, f.do(eve, "POST", "/v1/events/swap", "{"+body).Code)

	rec = f.do(bob, "POST", "/v1/events/swap", "{"+body)
	require.Equal(t, 204, rec.Code, rec.Body.String())
	is := decode[wireEvent](f, bob, "GET", fmt.Sprintf("/api/v0/events/%d", a), "")
	require.Equal(t, was.User, is.User, "what is past stays ann's")
	require.Equal(t, was.Start, is.Start)
	require.InDelta(t, time.Now().Unix(), is.End, 60)
	require.Equal(t, "ann", decode[wireEvent](f, bob, "GET", fmt.Sprintf("/api/v0/events/%d", b), "").User)
	require.Equal(t, 1, f.count(`select count(*) from shifts s join users u on u.id = s.user_id where u.name = 'bob' and ends_at = to_timestamp($1)`, was.End))
	require.Equal(t, 400, f.do(bob, "POST", "/v1/events/swap", "{"+body).Code, "the shift is over")
}

func TestOverride(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const at = "/api/v0/events/override"
	a, b := f.event("ann", "primary", 2, 2), f.event("ann", "primary", 4, 2)
	body := func(user string, start, end int64, ids ...int64) string {
		raw, err := json.Marshal(map[string]any{"start": start, "end": end, "user": user, "event_ids": ids})
		require.NoError(t, err)
		return string(raw)
	}
	f.want(400, says("Invalid name or list of events", ""), bob, "POST", at, body("who", f.hour(3), f.hour(5), a, b))
	f.want(400, says("Invalid name or list of events", ""), bob, "POST", at,
		`{"start":1,"end":2,"user":"bob","event_ids":[]}`)
	f.want(400, says("Invalid name or list of events", ""), bob, "POST", at, body("bob", f.hour(3), f.hour(5), 99999))
	f.want(400, says("Invalid override request", "Substituting user must be part of the team"), bob, "POST", at,
		body("eve", f.hour(3), f.hour(5), a, b))
	f.want(400, says("Invalid override request", "events must overlap with override time range"), bob, "POST", at,
		body("bob", f.hour(4), f.hour(5), a, b))
	f.want(403, says("Unauthorized", `Action not allowed: "eve" is not a team member`), eve, "POST", at,
		body("bob", f.hour(3), f.hour(5), a, b))
	got := decode[[]wireEvent](f, bob, "POST", at, body("bob", f.hour(3), f.hour(5), a, b))
	require.Len(t, got, 3)
	for i, want := range []struct {
		user       string
		start, end int
	}{{"ann", 2, 3}, {"bob", 3, 5}, {"ann", 5, 6}} {
		require.Equal(t, want.user, got[i].User)
		require.Equal(t, f.hour(want.start), got[i].Start)
		require.Equal(t, f.hour(want.end), got[i].End)
		require.Equal(t, "ops primary", got[i].Team+" "+got[i].Role)
		require.Equal(t, got[i].User, decode[wireEvent](f, bob, "GET", fmt.Sprintf("/api/v0/events/%d", got[i].ID),
			"").User)
	}
	require.Equal(t, 1, f.count(`select count(*) from oncall_audit where action = 'event_substituted' and json_array_length(context->'new_events') = 3`))
	require.Equal(t, 1, f.count(`select count(*) from notices where kind = 'event_substituted' and cardinality(user_ids) = 2`))
}

func TestPreviewOfEditsChangesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	a, b := f.event("ann", "primary", 2, 2), f.event("bob", "primary", 4, 2)
	linked := f.linked("cat", "secondary", 1, 3)
	before := f.ok(bob, "GET", "/api/v0/events", "")
	audit, notices := f.count(`select count(*) from oncall_audit`), f.count(`select count(*) from notices`)
	one := fmt.Sprintf(`"team":"ops","user":"bob","role":"primary","start":%q,"end":%q`, f.at(7), f.at(8))
	for body, want := range map[string][3]int{
		`{"action":"create",` + one + `}`: {1, 0, 0},
		`{"action":"link","events":[{` + one + `},{` + one +
			`}]}`: {2, 0, 0},
		fmt.Sprintf(`{"action":"edit","id":%d,"user":"cat"}`,
			a): {0, 0, 1},
		fmt.Sprintf(`{"action":"delete","id":%d}`,
			a): {0, 1, 0},
		`{"action":"edit_link","link_id":"` + linked.Link +
			`","user":"bob"}`: {0, 0, 2},
		`{"action":"delete_link","link_id":"` + linked.Link +
			`"}`: {0, 2, 0},
		fmt.Sprintf(`{"action":"swap","events":[{"id":%d},{"id":%d}]}`, a,
			b): {0, 0, 2},
		fmt.Sprintf(`{"action":"override","user":"cat","start":%q,"end":%q,"event_ids":[%d]}`, f.at(2), f.at(3),
			a): {1, 0, 1},
		fmt.Sprintf(`{"action":"take","team":"ops","role":"primary","until":%q}`,
			f.at(2)): {1, 0, 0},
	} {
		got := decode[calendaring.EditAnswer](f, bob, "POST", "/v1/events/preview", body)
		require.Equal(t, want, [3]int{len(got.Added), len(got.Removed), len(got.Changed)}, body)
		for _, e := range got.Added {
			require.Zero(t, e.ID)
			require.NotEmpty(t, e.FullName)
		}
	}
	require.Equal(t, before, f.ok(bob, "GET", "/api/v0/events", ""))
	require.Equal(t, audit, f.count(`select count(*) from oncall_audit`))
	require.Equal(t, notices, f.count(`select count(*) from notices`))

	rec := f.do(eve, "POST", "/v1/events/preview", fmt.Sprintf(`{"action":"delete","id":%d}`, a))
	require.Equal(t, 403, rec.Code)
	require.Equal(t, "application/problem+json", rec.Header().Get("Content-Type"))
	require.Contains(t, rec.Body.String(), "is not part of")
	require.Equal(t, 400, f.do(bob, "POST", "/v1/events/preview", `{"action":"dance"}`).Code)
	require.Equal(t, 422, f.do(bob, "POST", "/v1/events/preview", `{"action":"create",`+
		one[:len(one)-0]+`,"role":"none"}`).Code)
}

func TestTakeThePager(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.event("ann", "primary", -1, 8)
	at := "/v1/teams/ops/take"
	require.Equal(t, 403, f.do(eve, "POST", at, `{"role":"primary"}`).Code)
	require.Equal(t, 400, f.do(bob, "POST", at, `{"role":"vacation"}`).Code)
	require.Equal(t, 400, f.do(bob, "POST", at, `{"role":"secondary"}`).Code, "nobody holds it, so until when?")
	require.Equal(t, 201, f.do(bob, "POST", at, fmt.Sprintf(`{"role":"primary","until":%q}`, f.at(2))).Code)
	now := decode[[]map[string]any](f, bob, "GET", "/api/v0/teams/ops/oncall/primary", "")
	require.Len(t, now, 1)
	require.Equal(t, "bob", now[0]["user"])
	require.Equal(t, 3, f.count(`select count(*) from shifts`))
	require.Equal(t, 409, f.do(bob, "POST", at, fmt.Sprintf(`{"role":"primary","until":%q}`, f.at(1))).Code)
}

func TestWhoIsOnCall(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec(`insert into team_members (team_id, user_id, position) select t.id, u.id, 1 from teams t, users u where t.name = 'empty' and u.name = 'eve'`)
	f.event("ann", "primary", -1, 3)
	f.event("ann", "secondary", -1, 3)
	f.event("bob", "secondary", -1, 3)
	f.event("cat", "primary", 2, 3)
	f.ok(root, "POST", "/api/v0/events",
		fmt.Sprintf(`{"team":"empty","user":"eve","role":"manager","start":%d,"end":%d}`, f.hour(-1), f.hour(3)))
	f.ok(ann, "POST", "/api/v0/teams/ops/subscriptions", `{"role":"manager","subscription":"empty"}`)
	f.ok(ann, "PUT", "/api/v0/teams/ops", `{"override_phone_number":"+15559999"}`)
	f.ok(ann, "POST", "/api/v0/teams/ops/services", `{"name":"web"}`)
	type entry struct {
		User, Team, Role string
		FullName         string `json:"full_name"`
		Contacts         map[string]string
	}
	who := func(path string) (out []string) {
		t.Helper()
		for _, e := range decode[[]entry](f, bob, "GET", path, "") {
			out = append(out, e.User+" "+e.Role+" "+e.Contacts["call"])
		}
		return out
	}
	bobs := fmt.Sprintf("bob secondary +1555010%d", f.count(`select id from users where name = 'bob'`))
	require.Equal(t, []string{"ann primary +15559999", bobs, "eve manager "}, who("/api/v0/teams/ops/oncall"))
	require.Equal(t, []string{"ann primary +15559999"}, who("/api/v0/teams/ops/oncall/primary"))
	require.Equal(t, []string{"ann primary +15559999", bobs, "eve manager "}, who("/api/v0/services/web/oncall"))
	require.Equal(t, []string{"eve manager "}, who("/api/v0/services/web/oncall/manager"))
	for _, path := range []string{"/api/v0/teams/none/oncall", "/api/v0/teams/ops/oncall/none", "/api/v0/services/none/oncall", "/api/v0/services/database/oncall"} {
		f.want(200, `[]`, bob, "GET", path, "")
	}
	type side map[string][]struct {
		User, Team, Role string
		Contacts         map[string]string `json:"user_contacts"`
		RoleID           *int64            `json:"role_id"`
	}
	summary := decode[struct{ Current, Next side }](f, bob, "GET", "/api/v0/teams/ops/summary", "")
	require.Equal(t, "ann", summary.Current["primary"][0].User)
	require.Equal(t, "+15559999", summary.Current["primary"][0].Contacts["sms"])
	require.Equal(t, "empty", summary.Current["manager"][0].Team)
	require.Len(t, summary.Current["secondary"], 2)
	require.Equal(t, "cat", summary.Next["primary"][0].User)
	require.NotEqual(t, "+15559999", summary.Next["primary"][0].Contacts["call"])
	require.NotNil(t, summary.Next["primary"][0].RoleID)
	require.NotContains(t, summary.Next, "secondary")
	f.want(404, says("404 Not Found", ""), bob, "GET", "/api/v0/teams/none/summary", "")

	// Inactive people are not paged, and look-ups do not return them (promise P9).
	f.exec(`update users set active = false where name in ('ann', 'cat')`)
	require.Equal(t, []string{bobs, "eve manager "}, who("/api/v0/teams/ops/oncall"))
	require.Empty(t, who("/api/v0/teams/ops/oncall/primary"))
	require.Equal(t, []string{bobs, "eve manager "}, who("/api/v0/services/web/oncall"))
	summary = decode[struct{ Current, Next side }](f, bob, "GET", "/api/v0/teams/ops/summary", "")
	require.NotContains(t, summary.Current, "primary")
	require.NotContains(t, summary.Next, "primary")
	require.Len(t, summary.Current["secondary"], 1)
}

func TestShiftsNameOnlySchedulesOfTheirTeam(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.schedule(fmt.Sprintf(`{"role":"primary","advanced_mode":0,"events":[{"start":0,"duration":%d}]}`, week))
	own := f.count(`select max(id) from schedules`)
	f.exec(`insert into rosters (team_id, name) select id, 'other' from teams where name = 'empty'`)
	f.exec(`insert into schedules (team_id, roster_id, role_id, algorithm) select t.id, r.id, o.id, 'default' from teams t join rosters r on r.team_id = t.id, oncall_roles o
		where t.name = 'empty' and o.name = 'primary'`)
	theirs := f.count(`select max(id) from schedules`)
	body := func(schedule int) string {
		return fmt.Sprintf(`{"team":"ops","user":"bob","role":"primary","start":%d,"end":%d,"schedule_id":%d}`,
			f.hour(5), f.hour(6), schedule)
	}
	for _, no := range []int{theirs, 999999, -1} {
		refusal := says("IntegrityError", fmt.Sprintf(`team "ops" has no schedule %d`, no))
		f.want(422, refusal, bob, "POST", "/api/v0/events", body(no))
		f.want(422, refusal, bob, "POST", "/api/v0/events/link", "["+body(own)+","+body(no)+"]")
	}
	require.Zero(t, f.count(`select count(*) from shifts`))
	f.ok(bob, "POST", "/api/v0/events", body(own))
	f.ok(bob, "POST", "/api/v0/events/link", "["+body(own)+"]")
	require.Equal(t, 2, f.count(`select count(*) from shifts where schedule_id = $1 and edited`, own))
}
