package oncallapi_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/oncall/calendaring"
)

const week = 7 * 86400

func (f *fixture) schedule(body string) string {
	f.Helper()
	id := decode[struct{ ID int64 }](f, ann, "POST", "/api/v0/teams/ops/rosters/ops-roster/schedules", body).ID
	return "/api/v0/schedules/" + strconv.FormatInt(id, 10)
}

func TestSchedules(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const at = "/api/v0/teams/ops/rosters/ops-roster/schedules"
	const bad = "invalid schedule"
	for body, answer := range map[string]string{
		`{}`: says(bad, "missing required parameters: events, role, advanced_mode"),
		`{"role":"primary","advanced_mode":1,"events":[{"start":0}]}`: says(bad,
			"schedule event requires both start and duration fields"),
		`{"role":"primary","advanced_mode":1,"events":[{"start":null,"duration":1}]}`: says(bad,
			"schedule event start cannot be null"),
		`{"role":"primary","advanced_mode":1,"events":[{"start":0,"duration":0}]}`: says(bad,
			"schedule event duration must be positive"),
		`{"role":"primary","advanced_mode":0,"events":[{"start":0,"duration":86400}]}`: says(bad,
			"invalid advanced mode setting"),
		`{"role":"primary","advanced_mode":1,"events":[],"auto_populate_threshold":"x"}`: says(bad,
			"auto_populate_threshold must be a number"),
	} {
		f.want(400, answer, ann, "POST", at, body)
	}
	weekly := fmt.Sprintf(`{"role":"primary","advanced_mode":0,"events":[{"start":0,"duration":%d}]}`, week)
	f.want(403, says("Unauthorized", `Action not allowed: "bob" is not an admin for "ops"`), bob, "POST", at, weekly)
	f.want(422, says("IntegrityError", `roster "none" not found`), ann, "POST",
		"/api/v0/teams/ops/rosters/none/schedules", weekly)
	f.want(422, says("IntegrityError", "role not found"), ann, "POST", at,
		`{"role":"none","advanced_mode":1,"events":[]}`)
	f.want(422, says("IntegrityError", "scheduler not found"), ann, "POST", at,
		`{"role":"primary","advanced_mode":1,"events":[],"scheduler":{"name":"x"}}`)

	one := f.schedule(weekly)
	got := decode[map[string]any](f, bob, "GET", one, "")
	require.Equal(t, "ops-roster", got["roster"])
	require.EqualValues(t, 21, got["auto_populate_threshold"])
	require.Equal(t, map[string]any{"name": "default"}, got["scheduler"])
	require.Equal(t, "America/New_York", got["timezone"])
	halves := `{"role":"secondary","advanced_mode":1,"auto_populate_threshold":"30","scheduler":{"name":"round-robin","data":["bob","ann"]},
		"events":[{"start":43200,"duration":43200},{"start":0,"duration":43200,"end":1}]}`
	two := f.schedule(halves)
	got = decode[map[string]any](f, bob, "GET", two+"?fields=events&fields=scheduler&fields=team", "")
	require.Equal(t, []any{map[string]any{"start": 0.0, "duration": 86400.0}}, got["events"])
	require.Equal(t, []any{"bob", "ann"}, got["scheduler"].(map[string]any)["data"])
	require.NotContains(t, got, "role")
	require.Len(t, decode[[]any](f, bob, "GET", at, ""), 2)
	require.Len(t, decode[[]any](f, bob, "GET", at+"?role=primary", ""), 1)
	f.want(400, says("Bad fields", "One or more invalid fields"), bob, "GET", at+"?fields=x", "")
	f.want(404, says("404 Not Found", ""), bob, "GET", "/api/v0/schedules/99999", "")

	f.want(403, says("Unauthorized", `Action not allowed: "bob" is not an admin for "ops"`), bob, "PUT", one, `{}`)
	f.want(400, says("Invalid edit", "team must be specified with roster"), ann, "PUT", one, `{"roster":"x"}`)
	f.want(400, says("Invalid edit", "schedule cannot be represented in simple mode"), ann, "PUT", one,
		`{"events":[{"start":0,"duration":3600}]}`)
	f.want(400, says("Invalid edit", "schedule cannot be represented in simple mode"), ann, "PUT", two,
		`{"advanced_mode":0}`)
	f.want(200, "", ann, "PUT", one, `{"role":"shadow","auto_populate_threshold":7,"team":"ops","roster":"ops-roster","whatever":1}`)
	require.Equal(t, "shadow", decode[map[string]any](f, bob, "GET", one, "")["role"])
	f.want(200, "", ann, "PUT", two, `{"scheduler":{"name":"round-robin","data":["ann","bob"]}}`)
	require.Equal(t, []any{"ann", "bob"}, decode[map[string]any](f, bob, "GET", two,
		"")["scheduler"].(map[string]any)["data"])
	f.want(403, says("Unauthorized", `Action not allowed: "bob" is not an admin for "ops"`), bob, "DELETE", one, "")
	f.want(200, "", ann, "DELETE", one, "")
	f.want(404, says("404 Not Found", ""), ann, "DELETE", one, "")
}

func TestPopulateMakesTheShiftsOfThePreview(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	at := f.schedule(fmt.Sprintf(`{"role":"primary","advanced_mode":0,"events":[{"start":%d,"duration":%d}]}`,
		handOff(), week))
	f.event("bob", "secondary", 30, 5)
	start := time.Now().Add(24 * time.Hour).Unix()
	q := url.Values{"start": {fmt.Sprint(start)}, "start__lt": {fmt.Sprint(start + 8*week)},
		"end__ge": {fmt.Sprint(start - week)}, "team__eq": {"ops"}}
	for _, name := range []string{"start", "start__lt", "end__ge", "team__eq"} {
		short := url.Values{}
		for k, v := range q {
			if k != name {
				short[k] = v
			}
		}
		f.want(400, says("Missing parameter", `The "`+name+`" parameter is required.`), bob, "GET", at+"/preview?"+
			short.Encode(), "")
	}
	state := func() string {
		return f.ok(bob, "GET", "/api/v0/events", "") + fmt.Sprint(f.count(`select count(*) from notices`),
			f.count(`select count(*) from oncall_audit`),
			f.count(`select count(*) from schedules where last_epoch_at is not null`))
	}
	before := state()
	preview := decode[[]wireEvent](f, bob, "GET", at+"/preview?"+q.Encode(), "")
	require.Equal(t, before, state(), "a preview writes nothing")
	require.Greater(t, len(preview), 2)

	f.want(403, says("Unauthorized", `Action not allowed: "bob" is not an admin for "ops"`), bob, "POST", at+
		"/populate", fmt.Sprintf(`{"start":%d}`, start))
	f.want(400, says("Invalid populate/preview request", "cannot populate/preview starting in the past"), ann, "POST",
		at+"/populate", fmt.Sprintf(`{"start":%d}`, start-3*week))
	f.want(400, says("Missing field", `"start" is required`), ann, "POST", at+"/populate", `{}`)
	f.want(404, says("404 Not Found", ""), ann, "POST", "/api/v0/schedules/99999/populate", `{"start":1}`)
	f.want(200, "", ann, "POST", at+"/populate", fmt.Sprintf(`{"start":%d}`, start))
	after := decode[[]wireEvent](f, bob, "GET", fmt.Sprintf("/api/v0/events?team=ops&start__lt=%d&end__ge=%d", start+
		8*week, start-week), "")
	require.Len(t, after, len(preview))
	generated := 0
	for i := range after {
		if preview[i].ID == 0 {
			generated++
			after[i].ID = 0
		}
	}
	require.Equal(t, preview, after)
	require.Greater(t, generated, 1)
	require.Equal(t, 1, f.count(`select count(*) from oncall_audit where action = 'schedule_populated' and (context->>'created')::int = $1`, generated))

	// Populating again replaces the shifts that the schedule made, except shifts that were edited by hand.
	f.ok(bob, "PUT", fmt.Sprintf("/api/v0/events/%d",
		f.count(`select max(id) from shifts where schedule_id is not null`)), `{"note":"mine"}`)
	f.want(200, "", ann, "POST", at+"/populate", fmt.Sprintf(`{"start":%d}`, start))
	require.Equal(t, generated, f.count(`select count(*) from shifts where schedule_id is not null`))
	require.Equal(t, 1, f.count(`select count(*) from shifts where note = 'mine'`))
}

func TestConcurrentPopulatesFillEachSlotOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	at := f.schedule(fmt.Sprintf(`{"role":"primary","advanced_mode":0,"events":[{"start":0,"duration":%d}]}`, week))
	start := time.Now().Add(24 * time.Hour).Unix()
	var wg sync.WaitGroup
	codes := make([]int, 6)
	for i := range codes {
		wg.Go(func() { codes[i] = f.do(program, "POST", at+"/populate", fmt.Sprintf(`{"start":%d}`, start)).Code })
	}
	wg.Wait()
	for _, code := range codes {
		require.Equal(t, 200, code)
	}
	require.Equal(t, f.count(`select count(distinct starts_at) from shifts`), f.count(`select count(*) from shifts`),
		"no slot is filled twice")
}

func TestRotations(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const at = "/v1/teams/ops/rotations"
	layer := func(change string) string {
		return `{"name":"days","start":"2026-11-02T09:00","end":null,"every":1,"unit":"days","hand_offs":["09:00","21:00"],"restrict":[{"days":["mon","tue"],"from":"09:00","to":"24:00"}],
			"holidays":"skip","members":[{"user":"ann","joins":"2026-11-05"},{"user":"bob"}]` + change + `}`
	}
	body := func(layers, more string) string {
		return `{"name":"follow","role":"primary","roster":"ops-roster","auto_populate_threshold":14,"layers":[` +
			layers + `]` + more + `}`
	}
	problem := func(as caller, status int, field, body string) {
		t.Helper()
		rec := f.do(as, "POST", at, body)
		require.Equal(t, status, rec.Code, rec.Body)
		var p struct{ Field, Detail string }
		require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &p))
		require.Equal(t, field, p.Field, rec.Body)
	}
	problem(bob, 403, "", body(layer(""), ""))
	problem(ann, 400, "layers", body("", ""))
	problem(ann, 400, "layers[0].start", body(layer(`,"start":"soon"`), ""))
	problem(ann, 400, "layers[0].unit", body(layer(`,"unit":"moons","hand_offs":[]`), ""))
	problem(ann, 400, "layers[0].members", body(layer(`,"members":[{"user":"who"}]`), ""))
	problem(ann, 400, "role", `{"role":"none","roster":"ops-roster","layers":[]}`)
	problem(ann, 400, "roster", `{"role":"primary","roster":"none","layers":[]}`)
	id := decode[struct{ ID int64 }](f, ann, "POST", at, body(layer(""), "")).ID
	one := fmt.Sprintf("/v1/rotations/%d", id)
	got := decode[map[string]any](f, bob, "GET", one, "")
	require.Equal(t, "follow primary ops-roster", fmt.Sprint(got["name"], " ", got["role"], " ", got["roster"]))
	var want map[string]any
	require.NoError(t, json.Unmarshal([]byte(layer("")), &want))
	require.Equal(t, []any{want}, got["layers"])
	require.Len(t, itemsOf[any](f, bob, "GET", at, ""), 1)
	f.want(200, `[]`, bob, "GET", "/api/v0/teams/ops/rosters/ops-roster/schedules", "")
	require.Equal(t, 200, f.do(ann, "PUT", one,
		body(layer(`,"every":1,"restrict":[],"members":[{"user":"bob"},{"user":"ann"}]`), "")).Code)

	window := fmt.Sprintf(`,"start":%q,"end":%q`, f.at(1), f.at(1+3*7*24))
	seen := decode[calendaring.DraftShifts](f, bob, "POST", at+"/preview",
		body(layer(`,"restrict":[],"holidays":"keep","members":[{"user":"bob"},{"user":"ann"}]`), window))
	require.Greater(t, len(seen.Shifts), 20)
	require.Zero(t, f.count(`select count(*) from shifts`))
	f.want(200, "", ann, "POST", fmt.Sprintf("/api/v0/schedules/%d/populate", id),
		fmt.Sprintf(`{"start":%d}`, f.hour(1)))
	require.Greater(t, f.count(`select count(*) from shifts`), 20)
	require.Equal(t, 404, f.do(bob, "GET", "/v1/rotations/99999", "").Code)
	require.Equal(t, 403, f.do(bob, "DELETE", one, "").Code)
	require.Equal(t, 200, f.do(ann, "DELETE", one, "").Code)
}

// The preview takes an unsaved schedule, new or changed, and shows the shifts that saving and populating will store.
func TestDraftsArePreviewed(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const at = "/v1/teams/ops/schedules/preview"
	window := fmt.Sprintf(`,"start":%q,"end":%q`, f.at(0), f.at(5*7*24))
	draft := func(more string) string {
		return fmt.Sprintf(`{"role":"primary","roster":"ops-roster","advanced_mode":0,"events":[{"start":%d,"duration":%d}]%s}`, handOff(), week, more)
	}
	type rehearsal = calendaring.DraftShifts
	refused := func(as caller, status int, field, body string) {
		t.Helper()
		rec := f.do(as, "POST", at, body)
		require.Equal(t, status, rec.Code, rec.Body)
		var p struct{ Field, Detail string }
		require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &p))
		require.Equal(t, field, p.Field, rec.Body)
	}
	refused(eve, 403, "", draft(window))
	refused(bob, 400, "end", draft(fmt.Sprintf(`,"start":%q`, f.at(0))))
	refused(bob, 400, "end", draft(fmt.Sprintf(`,"start":%q,"end":%q`, f.at(0), f.at(401*24))))
	refused(bob, 400, "end", draft(fmt.Sprintf(`,"start":%q,"end":%q`, f.at(0), f.at(0))))
	refused(bob, 400, "role", `{"role":"none","roster":"ops-roster","events":[]`+window+`}`)
	refused(bob, 400, "roster", `{"role":"primary","roster":"none","events":[]`+window+`}`)
	refused(bob, 400, "events", `{"role":"primary","roster":"ops-roster"`+window+`}`)
	refused(bob, 400, "events", `{"role":"primary","roster":"ops-roster","advanced_mode":1,"events":[{"start":0,"duration":0}]`+window+`}`)
	refused(bob, 400, "scheduler", draft(`,"scheduler":{"name":"x"}`+window))
	refused(bob, 400, "id", draft(`,"id":99999`+window))

	seen := decode[rehearsal](f, bob, "POST", at, draft(window))
	require.False(t, seen.Shifts[0].Start.After(time.Now()), "it covers now")
	require.GreaterOrEqual(t, len(seen.Shifts), 5, "as far as the window goes")
	require.Zero(t, f.count(`select count(*) from shifts`)+f.count(`select count(*) from schedules`),
		"nothing is stored")

	// The preview of a changed schedule replaces the stored one and uses its order.
	id := strings.TrimPrefix(f.schedule(draft(`,"scheduler":{"name":"round-robin","data":["bob","ann"]}`)),
		"/api/v0/schedules/")
	f.want(200, "", ann, "POST", "/api/v0/schedules/"+id+"/populate", fmt.Sprintf(`{"start":%d}`, f.hour(1)))
	stored := f.count(`select count(*) from shifts`)
	changed := fmt.Sprintf(`{"id":%s,"role":"secondary","roster":"ops-roster","advanced_mode":0,"events":[{"start":%d,"duration":%d}],"scheduler":{"name":"round-robin"}%s}`, id, handOff()+36000, week, window)
	seen = decode[rehearsal](f, bob, "POST", at, changed)
	require.Equal(t, "secondary", seen.Shifts[len(seen.Shifts)-1].Role)
	// Which person begins depends on the day and hour at which the test runs.
	require.ElementsMatch(t, []string{"ann", "bob"}, []string{seen.Shifts[1].User, seen.Shifts[2].User},
		"the people of the stored order take turns")
	require.Equal(t, stored, f.count(`select count(*) from shifts`))
	require.Equal(t, 1, f.count(`select count(*) from schedules s join oncall_roles r on r.id = s.role_id where r.name = 'primary'`))

	// The same route takes rotations, and reports the turns that nobody can take.
	rotation := `{"role":"primary","roster":"ops-roster","layers":[{"start":"2026-11-02T09:00","every":1,"unit":"weeks","members":[{"user":"cat"}]}]` + window + `}`
	seen = decode[rehearsal](f, bob, "POST", at, rotation)
	require.Empty(t, seen.Shifts)
	require.NotEmpty(t, seen.Unfilled)
}

func TestSpanOfPreviewsIsLimited(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	at := f.schedule(fmt.Sprintf(`{"role":"primary","advanced_mode":0,"auto_populate_threshold":3650,"events":[{"start":%d,"duration":%d}]}`, handOff(), week))
	ask := func(days int) string {
		return fmt.Sprintf("%s/preview?start=%d&start__lt=%d&end__ge=%d&team__eq=ops", at, f.hour(1), f.hour(0)+
			int64(days)*86400, f.hour(0))
	}
	f.want(400, says("Invalid populate/preview request", "a preview shows at most 400 days at once"), bob, "GET",
		ask(401), "")
	require.Len(t, decode[[]wireEvent](f, bob, "GET", ask(70), ""), 10)
}

// Processors populate a new or changed schedule at once, not at the team's next hourly run.
func TestNewSchedulesArePopulatedAtOnce(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	looked := func() {
		f.exec(`insert into team_populations (team_id) select id from teams on conflict (team_id) do update set populated_at = now()`)
	}
	due := func() int {
		return f.count(`select count(*) from team_populations where populated_at < now() - interval '1 day'`)
	}
	looked()
	at := f.schedule(fmt.Sprintf(`{"role":"primary","advanced_mode":0,"events":[{"start":%d,"duration":%d}]}`,
		handOff(), week))
	require.Equal(t, 1, due())
	looked()
	f.want(200, "", ann, "PUT", at, `{"auto_populate_threshold":7}`)
	require.Equal(t, 1, due())
	looked()
	f.want(200, "", ann, "POST", at+"/populate", fmt.Sprintf(`{"start":%d}`, f.hour(1)))
	require.Equal(t, 1, due())
}
