package apiserver_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHeartbeats(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.exec(`insert into users (name, admin) values ('root', true)`)
	require.Equal(t, 201, f.do("ann", "POST", "/v1/plans", plan(`"name":"Disk",`, step())).Code)
	require.Equal(t, 201, f.do("root", "PUT", "/v1/integrations/jobs",
		`{"type":"heartbeat","application":"demo"}`).Code)
	require.Equal(t, 201, f.do("root", "PUT", "/v1/integrations/pd", `{"type":"pagerduty","application":"demo"}`).Code)
	const path = "/v1/integrations/jobs/heartbeats/nightly%20backup"
	const body = `{"every_seconds":3600,"grace_seconds":60,"plan":"Disk","severity":"critical","description":"see the wiki"}`
	require.Equal(t, 403, f.do("bob", "PUT", path, body).Code, "only owners of the application and administrators")
	require.Equal(t, 409, f.do("root", "PUT", "/v1/integrations/pd/heartbeats/x", body).Code,
		"a type without heartbeats")
	rec := f.do("root", "PUT", path, body)
	require.Equal(t, 201, rec.Code, rec.Body)
	require.Equal(t, path, rec.Header().Get("Location"))
	for bad, field := range map[string]string{
		`{}`: "#/every_seconds", `{"every_seconds":-1}`: "#/every_seconds", `{"every_seconds":1,"plan":"none"}`: "#/plan",
		`{"every_seconds":1,"severity":"loud"}`: "#/severity", `{"every_seconds":1,"grace_seconds":"x"}`: "#/grace_seconds", `{"every_seconds":1,"every":1}`: "#/every",
	} {
		rec := f.do("root", "PUT", path, bad)
		require.Equal(t, 400, rec.Code, bad)
		require.Equal(t, []string{field}, places(t, rec), bad)
	}
	first := f.do("bob", "GET", path, "")
	require.Contains(t, first.Body.String(), `"state":"waiting","last_ping_at":null,"deadline":null`)
	require.Contains(t, first.Body.String(), `"plan":"Disk","severity":"critical"`)
	f.exec(`update heartbeats set last_ping_at = '2026-11-22T00:00:00Z', since = '2026-11-21T00:00:00Z'; update heartbeat_reception set since = '2026-11-20T00:00:00Z'`)
	require.Contains(t, f.do("bob", "GET", "/v1/heartbeats", "").Body.String(),
		`"state":"alive","last_ping_at":"2026-11-22T00:00:00Z","deadline":"2026-11-22T01:01:00Z"`)
	f.exec(`insert into heartbeat_texts select id, 'fail', 'disk full', '2026-11-22' from heartbeats;
		insert into heartbeat_runs (heartbeat_id, run, started_at, ended_at, failed, exit_code) select id, 'r', '2026-11-22T00:00:00Z', '2026-11-22T00:00:01.5Z', true, 0 from heartbeats;
		update heartbeats set last_run_us = 1500000, failure = 'f'`)
	shown := f.do("root", "GET", path, "").Body.String()
	require.Contains(t, shown, `"failure":"f"`)
	require.Contains(t, shown, `"last_run_seconds":1.5`)
	require.Contains(t, shown, `"runs":[{"rid":"r","started_at":"2026-11-22T00:00:00Z","ended_at":"2026-11-22T00:00:01.5Z","seconds":1.5,"outcome":"failed","exit_code":0}]`)
	require.Contains(t, shown, `"text":{"signal":"fail"`)
	others := f.do("bob", "GET", path, "").Body.String()
	require.Contains(t, others, `"runs":[{`)
	require.NotContains(t, others, "disk full", "only owners of the application and administrators")
	require.NotContains(t, f.do("root", "GET", "/v1/heartbeats", "").Body.String(), "disk full")
	require.Equal(t, 200, f.do("root", "PUT", path, `{"every_seconds":60,"enabled":false}`, "If-Match",
		first.Header().Get("ETag")).Code)
	require.Equal(t, 412, f.do("root", "PUT", path, body, "If-Match", first.Header().Get("ETag")).Code,
		"somebody saved meanwhile")
	require.Contains(t, f.do("bob", "GET", "/v1/integrations/jobs/heartbeats", "").Body.String(), `"state":"off"`)
	require.Equal(t, 404, f.do("bob", "GET", "/v1/integrations/none/heartbeats", "").Code)
	require.Equal(t, 412, f.do("root", "DELETE", path, "", "If-Match", first.Header().Get("ETag")).Code)
	require.Equal(t, 204, f.do("root", "DELETE", path, "").Code)
	require.Equal(t, 404, f.do("root", "DELETE", path, "").Code)
	require.Contains(t, f.do("root", "GET", "/v1/audit", "").Body.String(), "heartbeat removed")
}
