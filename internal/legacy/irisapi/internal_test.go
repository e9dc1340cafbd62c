package irisapi_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func itoa(n int) string { return strconv.Itoa(n) }

func TestReadsOfInternalPrograms(t *testing.T) {
	t.Parallel()
	f := tagging(t)
	f.want(200, `[{"id":1,"name":"pager","threshold_window":900,"threshold_count":10,"aggregation_window":300,"aggregation_reset":300}]`,
		demo, get, "/v0/internal/plan_aggregation_settings", "")
	f.exec("delete from plan_active")
	f.want(200, `[]`, power, get, "/v0/internal/plan_aggregation_settings", "")
	f.want(200, `{"priority_map":{"high":2,"low":4,"medium":3,"urgent":1},"mode_id_map":{"call":3,"drop":7,"email":1,"push":5,"slack":4,"sms":2,"webhook":6},`+
		`"default_priority_map":{"high":"sms","low":"email","medium":"email","urgent":"call"}}`, power, get, "/v0/internal/priority_mode_map", "")
	require.Equal(t, 4, f.count(`select count(*) from priorities where (name, id) in (('urgent', 1), ('high', 2), ('medium', 3), ('low', 4))`))
	require.Equal(t, 7, f.count(`select count(*) from modes where (name, id) in
		(('email', 1), ('sms', 2), ('call', 3), ('slack', 4), ('push', 5), ('webhook', 6), ('drop', 7))`))
	require.Equal(t, 401, f.do(nobody, get, "/v0/internal/priority_mode_map", "").Code)
}

func TestPeopleOfATarget(t *testing.T) {
	t.Parallel()
	f := tagging(t)
	ops := f.ok(demo, get, "/v0/internal/target?role=team&target=OPS", "")
	require.Contains(t, ops, `{"error":null,"users":{"ann":{"name":"ann","admin":false,`)
	require.Contains(t, ops, `"bob":{"name":"bob",`)
	require.Contains(t, ops, `"contacts":{"email":"ann@example.com","sms":"+15005550006"}`)
	f.want(200, `{"error":"invalid role team for target ann","users":{}}`, demo, get,
		"/v0/internal/target?role=team&target=ann", "")
	f.want(200, `{"error":"team empty has no active member","users":{}}`, demo, get,
		"/v0/internal/target?role=team&target=empty", "")
	f.want(400, describe("Missing parameter", `The "role" parameter is required.`), demo, get,
		"/v0/internal/target?target=ann", "")
	f.want(400, describe("Missing parameter", `The "target" parameter is required.`), demo, get,
		"/v0/internal/target?role=user", "")
	for _, as := range []caller{power, asRoot, rootHere} {
		f.want(403, title("App not allowed to use internal routes"), as, get,
			"/v0/internal/target?role=user&target=ann", "")
	}
	require.Equal(t, 401, f.do(nobody, get, "/v0/internal/target?role=user&target=ann", "").Code)
}

func TestInternalProgramsSetTheStateOfAnIncident(t *testing.T) {
	t.Parallel()
	f := tagging(t)
	f.ok(demo, post, "/v0/incidents", `{"plan":"pager","context":{}}`)
	const path = "/v0/internal/incident/1"
	state := func(step, active int) {
		t.Helper()
		f.want(200, `[{"active":`+itoa(active)+`,"current_step":`+itoa(step)+`}]`, demo, get,
			"/v0/incidents?id=1&fields=current_step,active", "")
	}
	f.want(200, `[]`, demo, post, path, `{"current_step":2,"active":true}`)
	state(2, 1)
	require.True(t, f.woken.Has(1))
	require.Equal(t, 1, f.count("select count(*) from incidents where due_at <= clock_timestamp() and version = 1"))
	f.want(200, `[]`, demo, post, path, `{"current_step":2,"active":1}`)
	require.Equal(t, 1, f.count("select version from incidents"), "nothing new")
	f.want(200, `[]`, demo, post, path, `{"current_step":1,"active":false}`)
	state(1, 0)
	require.Equal(t, 1, f.count(`select count(*) from timeline_entries where text = 'put on step 1, no longer escalating by application demo through the API'`))
	f.exec(`update incidents set owner_id = 1`)
	f.want(200, `[]`, demo, post, path, `{"current_step":1,"active":1}`)
	require.Equal(t, 1, f.count("select count(*) from incidents where owner_id is null and reopen_count = 1 and active"))

	for body, answer := range map[string]string{
		`{"active":1}`:                    "current_step is required",
		`{"current_step":"x","active":1}`: "current_step must be an integer",
		`{"current_step":-1,"active":1}`:  "current_step must be between 0 and 32767",
		`{"current_step":3,"active":1}`:   "current_step must be between 0 and 2",
		`{"current_step":1}`:              "active is required",
	} {
		f.want(400, title(answer), demo, post, path, body)
	}
	f.want(400, title("Invalid incident id"), demo, post, "/v0/internal/incident/x", `{"current_step":1,"active":1}`)
	f.want(404, ``, demo, post, "/v0/internal/incident/99", `{"current_step":1,"active":1}`)
	f.want(403, title("App not allowed to use internal routes"), power, post, path, `{"current_step":1,"active":1}`)
	f.ok(power, post, "/v0/incidents/1/resolve", `{"resolved":1}`)
	f.want(400, title("A resolved incident cannot escalate"), demo, post, path, `{"current_step":1,"active":1}`)
}
