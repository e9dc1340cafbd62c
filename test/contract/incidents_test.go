package contract

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const get, post, put, patch, del = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete

type m = map[string]any

func TestOpenIncidents(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	ok := m{"plan": "pager", "context": m{"host": "db1", "extra": 1}}
	a := s.do(demo, post, "/v0/incidents", ok).is(http.StatusCreated)
	require.Equal(t, "/incidents/"+a.body, a.header.Get("Location"))
	in := decode[m](s.do(demo, get, "/v0/incidents/"+a.body, nil).is(http.StatusOK))
	require.Equal(t, m{"host": "db1", "message": nil}, in["context"],
		"the declared variables, all of them and no others")
	require.Equal(t, []any{float64(1), float64(0), nil}, []any{in["active"], in["resolved"], in["owner"]})

	s.do(demo, post, "/v0/incidents", m{"context": m{}}).refuses(400, "missing plan name attribute")
	s.do(demo, post, "/v0/incidents", m{"plan": "none", "context": m{}}).empty(404)
	s.do(demo, post, "/v0/incidents", "{").refuses(400, "Invalid json in post body")
	for _, bad := range []any{m{"plan": "pager"}, m{"plan": "pager", "context": []int{}}, m{"plan": "pager", "context": "x"}, []int{1}, 7} {
		s.do(demo, post, "/v0/incidents", bad).is(400)
	}
	s.do(demo, post, "/v0/incidents", m{"plan": "pager", "context": m{}, "application": "other"}).
		refuses(403, "This application demo does not allow creating incidents as other applications")
	s.do(power, post, "/v0/incidents", m{"plan": "pager", "context": m{}, "application": "nix"}).refuses(400,
		"Invalid application")
	s.do(power, post, "/v0/incidents", m{"plan": "pager", "context": m{}, "application": "demo"}).is(201)
	s.do(power, post, "/v0/incidents", ok).refuses(400, "No plan template actions exist for this app")
	long := m{"plan": "pager", "context": m{"host": strings.Repeat("x", 70000)}}
	require.Contains(t, s.do(demo, post, "/v0/incidents", long).is(400).body, "is larger than limit 65535")
	s.do(anonymous, post, "/v0/incidents", ok).refuses(401, "Authentication failure",
		"Malformed/missing HMAC authorization header")
}

func TestADedupKeyOpensOneIncident(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	body := func(key any) m {
		return m{"plan": "pager", "context": m{"host": "h", "message": "x"}, "dedup_key": key}
	}
	first := s.do(demo, post, "/v0/incidents", body("disk")).is(http.StatusCreated).body
	require.Equal(t, first, s.do(demo, post, "/v0/incidents", body("disk")).is(http.StatusCreated).body)
	require.NotEqual(t, first, s.do(demo, post, "/v0/incidents", body("cpu")).is(http.StatusCreated).body)
	s.do(demo, post, "/v0/incidents/"+first+"/resolve", m{"resolved": 1}).is(http.StatusOK)
	require.NotEqual(t, first, s.do(demo, post, "/v0/incidents", body("disk")).is(http.StatusCreated).body,
		"the key is free again")
	for _, wrong := range []any{3, []string{}, strings.Repeat("k", 256), "a\x00b"} {
		require.Contains(t, s.do(demo, post, "/v0/incidents", body(wrong)).is(http.StatusBadRequest).body, "dedup_key")
	}
}

func TestOpenDynamicIncidents(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	n := m{"priority": "high", "template": "words", "wait": 0, "repeat": 0, "dynamic_index": 0}
	s.do(bob, post, "/v0/plans", m{"name": "dynamic", "creator": "bob", "description": "", "threshold_window": 1,
		"threshold_count":    1,
		"aggregation_window": 1, "aggregation_reset": 1, "steps": [][]m{{n}}}).is(201)
	with := func(targets ...m) m { return m{"plan": "dynamic", "context": m{}, "dynamic_targets": targets} }
	s.do(demo, post, "/v0/incidents", with(m{"role": "team", "target": "ops"})).is(201)
	s.do(demo, post, "/v0/incidents", with(m{"role": "mailing-list", "target": "all-ops"})).is(201)
	s.do(demo, post, "/v0/incidents", with()).refuses(400, "Invalid number of dynamic targets")
	s.do(demo, post, "/v0/incidents", with(m{"role": "team", "target": "ops"},
		m{"role": "user", "target": "ann"})).refuses(400, "Invalid number of dynamic targets")
	s.do(demo, post, "/v0/incidents", with(m{"role": "team", "target": "ann"})).refuses(400, "Invalid incident",
		"invalid role team for target ann")
	s.do(demo, post, "/v0/incidents", with(m{"role": "boss", "target": "ops"})).refuses(400, "Invalid incident",
		"invalid role boss for target ops")
}

func TestAcknowledgeIncidents(t *testing.T) {
	t.Parallel()
	s := newIrisServer(t)
	id := s.open()
	path := fmt.Sprintf("/v0/incidents/%d", id)
	s.do(power, post, path, m{"owner": "bob"}).says(200,
		fmt.Sprintf(`{"incident_id": %d, "owner": "bob", "active": false}`, id))
	s.do(bob, post, path, m{"owner": nil}).says(200, fmt.Sprintf(`{"incident_id": %d, "owner": null, "active": true}`,
		id))
	s.do(bob, post, path, m{}).refuses(400, `"owner" field required`)
	s.do(bob, post, path, m{"owner": "ann"}).refuses(401, "Invalid claimer for this app/user")
	s.do(demo, post, path, m{"owner": "ann"}).refuses(401, "Invalid claimer for this app/user")
	s.do(admin, post, path, m{"owner": "ann"}).is(200)
	s.do(power, post, path, m{"owner": "nobody"}).refuses(400, "Invalid claim: no matching owner")
	s.do(power, post, path, m{"owner": "gone"}).refuses(400, "Invalid claim: no matching owner")
	s.do(power, post, "/v0/incidents/999", m{"owner": "bob"}).refuses(400, "Invalid claim: no matching incident id")
	s.do(power, post, "/v0/incidents/x", m{"owner": "bob"}).refuses(400, "Invalid incident id")

	other := s.open()
	s.do(power, post, "/v0/incidents/claim", m{"owner": "bob", "incident_ids": []int64{id, other}}).
		says(200, fmt.Sprintf(`{"owner": "bob", "claimed": [%d, %d], "unclaimed": []}`, id, other))
	s.do(power, post, "/v0/incidents/claim", m{"owner": nil, "incident_ids": []int64{other}}).
		says(200, fmt.Sprintf(`{"owner": null, "claimed": [], "unclaimed": [%d]}`, other))
	s.do(power, post, "/v0/incidents/claim", m{"owner": "bob", "incident_ids": []int64{}}).says(200,
		`{"owner": "bob", "claimed": [], "unclaimed": []}`)
	s.do(power, post, "/v0/incidents/claim", m{"owner": "bob"}).refuses(400, "Missing owner or incident_ids fields")
	s.do(power, post, "/v0/incidents/claim", m{"owner": "bob", "incident_ids": []int64{999}}).refuses(400,
		"Invalid claim: no matching incident id")
	s.do(power, post, "/v0/incidents/claim", m{"owner": "nix", "incident_ids": []int64{id}}).refuses(400,
		"Invalid claim: no matching owner")
	s.do(bob, get, "/v0/incidents/claim", nil).empty(405)
}

func TestResolveAndComment(t *testing.T) {
	t.Parallel()
	s := newIrisServer(t)
	id := s.open()
	path := fmt.Sprintf("/v0/incidents/%d", id)
	s.do(demo, post, path+"/resolve", m{"resolved": true}).says(200,
		fmt.Sprintf(`{"incident_id": "%d", "resolved": true}`, id))
	in := decode[m](s.do(demo, get, path, nil).is(200))
	require.Equal(t, []any{float64(0), float64(1)}, []any{in["active"], in["resolved"]},
		"resolving ends the escalation")
	s.do(demo, post, path+"/resolve", m{"resolved": 0}).says(200,
		fmt.Sprintf(`{"incident_id": "%d", "resolved": 0}`, id))
	s.do(demo, post, path+"/resolve", m{}).refuses(400, "resolved field required")
	s.do(demo, post, "/v0/incidents/999/resolve", m{"resolved": 1}).refuses(400,
		"Invalid claim: no matching incident id")

	s.do(bob, post, path+"/comments", m{"author": "bob", "content": "looking ☃"}).is(201)
	s.do(bob, post, path+"/comments", m{"author": "bob", "content": ""}).refuses(400, "Empty comment")
	s.do(bob, post, path+"/comments", m{"author": "ann", "content": "x"}).refuses(403,
		"Comment author must match logged in user")
	s.do(power, post, path+"/comments", m{"author": "nobody", "content": "x"}).refuses(400, "Failed to post comment")
	s.do(power, post, "/v0/incidents/999/comments", m{"author": "bob", "content": "x"}).refuses(400,
		"Failed to post comment")
	s.do(bob, post, path+"/comments", m{"author": "bob"}).is(400)
	comments := decode[[]m](s.do(demo, get, path+"/comments", nil).is(200))
	require.Len(t, comments, 1)
	require.Equal(t, "looking ☃", comments[0]["content"])
	s.do(demo, get, "/v0/incidents/999/comments", nil).says(200, `[]`)
}

// The steps of an incident are its messages in the order of sending.
func TestStepsOfAnIncident(t *testing.T) {
	t.Parallel()
	s := newRelay(t)
	incident, message := s.page("sms")
	s.exec(`insert into messages (bucket, incident_id, application_id, plan_id, step, recipient, target, class, mode, state, settled_at, purpose)
		select bucket, id, application_id, plan_id, 0, 'to:track@example.com', 'track@example.com', 1, 'email', 'sent', clock_timestamp(), 'tracking' from incidents where id = $1`, incident)
	in := decode[m](s.do(demo, get, fmt.Sprintf("/v0/incidents/%d", incident), nil).is(200))
	steps := in["steps"].([]any)
	require.Len(t, steps, 1, "what the tracking address heard is of no step")
	step := steps[0].(m)
	require.Equal(t, []any{float64(message), "ann", "sms", "high", float64(1), float64(0), float64(0)},
		[]any{step["id"], step["name"], step["mode"], step["priority"], step["step"], step["mode_changed"],
			step["target_changed"]})
	for path, status := range map[string]int{"/v0/incidents/99999999999999999999": 404, "/v0/messages/99999999999999999999": 404, "/v0/incidents/1.0": 400} {
		s.do(demo, get, path, nil).is(status)
	}
}

func TestListIncidents(t *testing.T) {
	t.Parallel()
	s := newIrisServer(t)
	first, second := s.open(), s.open()
	s.do(power, post, fmt.Sprintf("/v0/incidents/%d", first), m{"owner": "bob"}).is(200)
	ids := func(query string) []int64 {
		t.Helper()
		var out []int64
		for _, row := range decode[[]m](s.do(demo, get, "/v0/incidents?fields=id&"+query, nil).is(200)) {
			out = append(out, int64(row["id"].(float64)))
		}
		return out
	}
	for query, want := range map[string][]int64{
		"active=1": {second}, "active=0": {first}, "owner=bob": {first}, "owner=BOB": {first}, "id__in=" +
			fmt.Sprintf("%d,%%20%d", first, second): {first, second},
		"limit=1": {second}, "limit=2": {second, first}, "plan=pager": {first,
			second}, "plan__ne=pager": nil, "plan__startswith=pag": {first, second},
		"plan__contains=_": nil, "resolved=0": {first,
			second}, "resolved=1": nil, "claimed=true": {first}, "claimed=false": {second},
		"application=demo&active=1": {second}, fmt.Sprintf("id=%d,%d", first,
			second): nil, "context__contains=db1": {first, second},
	} {
		require.ElementsMatch(t, want, ids(query), query)
	}
	rows := decode[[]m](s.do(demo, get, "/v0/incidents?limit=1", nil).is(200))
	require.Equal(t, "db1", rows[0]["title"])
	require.Equal(t, "host", rows[0]["title_variable_name"])
	for _, broad := range []string{"", "?limit=0", "?nonsense=1"} {
		s.do(demo, get, "/v0/incidents"+broad, nil).refuses(400, "Incident query too broad, add filter or limit")
	}
	s.do(demo, get, "/v0/incidents?id=x", nil).refuses(400, "invalid argument type", "id should be <class 'int'>")
	s.do(demo, get, "/v0/incidents?limit=x", nil).refuses(400, "Invalid parameter",
		`The "limit" parameter is invalid. The value must be an integer.`)
	s.do(demo, get, "/v0/incidents?limit=-1", nil).is(400)
	s.do(demo, get, "/v0/incidents?id__like=1", nil).refuses(400, "invalid filter operator like")
	s.do(demo, get, "/v0/incidents/x", nil).refuses(400, "Invalid incident id")
	s.do(demo, get, "/v0/incidents/999", nil).empty(404)
	s.do(demo, get, "/v0/incidents?counts=true&fields=plan,active&active=1", nil).
		says(200, `{"field_counts": {"plan": {"pager": 1}, "active": {"1": 1}}, "total_count": 1}`)
	s.do(demo, get, "/v0/incidents?counts=true&fields=id&active=1", nil).is(400)
}

// TestChangesOfSeveralIncidents: /v1 changes several incidents in one transaction, and undoes each change by itself.
func TestChangesOfSeveralIncidents(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	open := m{"plan": "pager", "context": m{"host": "h"}}
	for range 2 {
		s.do(demo, post, "/v0/incidents", open).is(http.StatusCreated)
	}
	active := func() int {
		return len(decode[[]m](s.do(bob, get, "/v0/incidents?active=1&fields=id", nil).is(http.StatusOK)))
	}
	s.do(bob, post, "/v1/incidents/acknowledge", m{"incidents": []int{1, 99}}).is(http.StatusNotFound)
	s.do(bob, post, "/v1/incidents/unacknowledge", m{"incidents": make([]int, 1001)}).is(http.StatusBadRequest)
	s.do(bob, post, "/v1/incidents/acknowledge", m{"incidents": []int{1, -1}}).is(http.StatusNotFound)
	require.Equal(t, 2, active(), "a refused change changes nothing")
	require.JSONEq(t, `{"items":[{"id":2,"escalating":false},{"id":1,"escalating":false}]}`,
		s.do(bob, post, "/v1/incidents/acknowledge", m{"incidents": []int{2, 1, 2}}).is(http.StatusOK).body)
	require.JSONEq(t, `{"items":[{"id":1,"escalating":true}]}`,
		s.do(bob, post, "/v1/incidents/unacknowledge", m{"incidents": []int{1}}).is(http.StatusOK).body)
	s.do(bob, post, "/v1/incidents/snooze", m{"incidents": []int{1}}).is(http.StatusBadRequest)
	require.JSONEq(t, `{"items":[{"id":1,"escalating":false}]}`,
		s.do(bob, post, "/v1/incidents/snooze", m{"incidents": []int{1}, "for": "1h"}).is(http.StatusOK).body)
	s.do(bob, post, "/v1/incidents/resolve", m{"incidents": []int{2, 99}}).is(http.StatusNotFound)
	s.do(bob, post, "/v1/incidents/resolve", m{"incidents": []int{2}}).is(http.StatusOK)
	s.do(bob, post, "/v1/incidents/snooze", m{"incidents": []int{1, 2}, "for": "1h"}).is(http.StatusConflict)
	s.do(bob, post, "/v1/incidents/2/move", m{"step": 1, "escalating": true}).is(http.StatusConflict)
	undone := decode[m](s.do(bob, post, "/v1/incidents/2/unresolve", nil).is(http.StatusOK))
	require.Equal(t, []any{"acknowledged", "bob"}, []any{undone["state"], undone["owner"]})
	s.do(bob, post, "/v1/incidents/2/move", m{"step": 99, "escalating": true}).is(http.StatusBadRequest)
	moved := decode[m](s.do(bob, post, "/v1/incidents/2/move", m{"step": 1, "escalating": true}).is(http.StatusOK))
	require.Equal(t, []any{"escalating", nil, 1.0}, []any{moved["state"], moved["owner"], moved["step"]})
	require.Equal(t, 1, active(), "the other one is snoozed")
}
