package apiserver_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// opened is an incident as its own route shows it.
type opened struct {
	ID                       int64
	State, Plan, Application string
	Title                    string
	Context                  json.RawMessage
}

func TestIncidentsAreOpened(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const body = `{"plan":"Pager","title":"db1 is down","severity":"critical","labels":{"team":"db"},"context":{"host":"db1"},"dedup_key":"db1"}`
	rec := f.do("", "POST", "/v1/incidents", body)
	require.Equal(t, 201, rec.Code, rec.Body)
	require.Equal(t, "/v1/incidents/1", rec.Header().Get("Location"))
	var first opened
	require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &first))
	require.JSONEq(t, `{"host":"db1","title":"db1 is down","severity":"critical","labels":{"team":"db"}}`,
		string(first.Context))
	require.Equal(t, opened{1, "escalating", "pager", "demo", "db1 is down", first.Context}, first)

	again := ok[opened](f, 200, "ann", "POST", "/v1/incidents", strings.Replace(body, "db1 is down", "still down", 1))
	require.Equal(t, first, again, "an incident is open with the key")
	f.exec(`update incidents set active = false, resolved = true`)
	require.NotEqual(t, first.ID, ok[opened](f, 201, "ann", "POST", "/v1/incidents", body).ID,
		"the incident with the key is resolved")

	long := strings.Replace(body, `"dedup_key":"db1"`, `"dedup_key":"`+strings.Repeat("あ", 255)+`"`, 1)
	require.Equal(t, ok[opened](f, 201, "", "POST", "/v1/incidents", long).ID,
		ok[opened](f, 200, "", "POST", "/v1/incidents", long).ID, "the limit counts characters")

	var places [2]string
	for i := range places {
		rec := f.do("", "POST", "/v1/incidents", `{"plan":"pager","context":{"x":"\u0000"}}`, "Idempotency-Key", "once")
		require.Equal(t, 201, rec.Code, rec.Body)
		places[i] = rec.Header().Get("Location")
	}
	require.Equal(t, places[0], places[1])
}

func TestIncidentsWithDynamicTargets(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	dynamic := step(`"target":{"role":"user","name":"bob"}`, `"dynamic_index":0`)
	require.Equal(t, 201, f.do("ann", "POST", "/v1/plans", plan(`"name":"Dynamic",`, dynamic)).Code)
	const body = `{"plan":"Dynamic","title":"t","dynamic_targets":[{"role":"user","name":"bob"}]}`
	require.Equal(t, "Dynamic", ok[opened](f, 201, "", "POST", "/v1/incidents", body).Plan)
	for _, targets := range []string{`null`, `[]`, `[{"role":"user","name":"nobody"}]`} {
		rec := f.do("", "POST", "/v1/incidents", strings.Replace(body, `[{"role":"user","name":"bob"}]`, targets, 1))
		require.Equal(t, 400, rec.Code, rec.Body)
		require.Equal(t, []string{"#/dynamic_targets"}, places(t, rec), targets)
	}
}

func TestIncidentsAreRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec(`insert into applications (name) values ('other')`)
	for bad, field := range map[string]string{
		`{"title":"t"}`:                                                               "#/plan",
		`{"plan":"none","title":"t"}`:                                                 "#/plan",
		`{"plan":7,"title":"t"}`:                                                      "#/plan",
		`{"plan":"pager"}`:                                                            "#/title",
		`{"plan":"pager","title":[]}`:                                                 "#/title",
		`{"plan":"pager","title":"t","severity":"loud"}`:                              "#/severity",
		`{"plan":"pager","title":"t","labels":{"team":7}}`:                            "#/labels/team",
		`{"plan":"pager","title":"t","context":[]}`:                                   "#/context",
		`{"plan":"pager","title":"t","dynamic_targets":{}}`:                           "#/dynamic_targets",
		`{"plan":"pager","title":"t","dynamic_targets":[{"name":"a"}]}`:               "#/dynamic_targets/0/role",
		`{"plan":"pager","title":"t","key":"k"}`:                                      "#/key",
		`{"plan":"pager","title":"t","dedup_key":"` + strings.Repeat("k", 256) + `"}`: "#/dedup_key",
	} {
		rec := f.do("", "POST", "/v1/incidents", bad)
		require.Equal(t, 400, rec.Code, bad)
		require.Equal(t, []string{field}, places(t, rec), bad)
	}
	const forOther = `{"plan":"pager","title":"t","application":"other"}`
	require.Equal(t, 403, f.do("", "POST", "/v1/incidents", forOther).Code,
		"the application may not open incidents for others")
	require.Equal(t, 401, f.do("nobody", "POST", "/v1/incidents", forOther).Code)
	f.exec(`update applications set allow_other_app_incidents = true where name = 'demo'`)
	require.Equal(t, "other", ok[opened](f, 201, "", "POST", "/v1/incidents", forOther).Application)
	rec := f.do("", "POST", "/v1/incidents", strings.Replace(forOther, "other", "none", 1))
	require.Equal(t, []string{"#/application"}, places(t, rec))
	f.exec(`update users set read_only = true where name = 'ann'`)
	require.Equal(t, 403, f.do("ann", "POST", "/v1/incidents", `{"plan":"pager","title":"t"}`).Code)
}
