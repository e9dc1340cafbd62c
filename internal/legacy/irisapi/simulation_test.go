package irisapi_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSimulateAPlan(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.golden("simulation", f.ok(annHere, "GET", "/v1/plans/pager/simulation?at=2001-09-09T01:46:40Z&application=demo", ""))

	var id json.Number
	plans := f.ok(annHere, "GET", "/v0/plans?name=pager&fields=id", "")
	require.NoError(t, json.Unmarshal([]byte(plans[len(`[{"id":`):len(plans)-2]), &id))
	sim := f.ok(demo, "GET", "/v1/plans/"+id.String()+"/simulation?at=2026-11-22T02:00:00Z&assume=ack-after=30s", "")
	require.Contains(t, sim, `"end":"acknowledged","ended_at":"2026-11-22T02:00:30Z"`)
	require.Contains(t, sim, `"application":null`)
	require.Zero(t, f.count(`select count(*) from messages`), "nothing is made")
}

func TestInvalidSimulationsAreRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	const path = "/v1/plans/pager/simulation"
	for _, tc := range []struct {
		path   string
		status int
		says   string
	}{
		{"/v1/plans/nothing/simulation", http.StatusNotFound, "there is no active plan nothing"},
		{"/v1/plans/999999/simulation", http.StatusNotFound, "no such plan"},
		{path + "?at=tomorrow", http.StatusBadRequest, `is no instant`},
		{path + "?assume=luck", http.StatusBadRequest, `cannot be assumed`},
		{path + "?application=none", http.StatusBadRequest, "there is no application none"},
		{path + "?target=ann", http.StatusBadRequest, `is no target`},
		{path + "?target=user:zoe", http.StatusBadRequest, "Target zoe not found"},
		{path + "?target=team:ann", http.StatusBadRequest, "Role team is not appropriate for target ann"},
		{path + "?when=now", http.StatusBadRequest, `there is no parameter`},
		{"/v1/plans/%00/simulation", http.StatusNotFound, "there is no active plan"},
	} {
		rec := f.do(annHere, "GET", tc.path, "")
		require.Equal(t, tc.status, rec.Code, "%s: %s", tc.path, rec.Body)
		require.Contains(t, rec.Body.String(), tc.says, tc.path)
		require.Equal(t, "application/problem+json", rec.Header().Get("Content-Type"), tc.path)
	}
	require.Equal(t, http.StatusUnauthorized, f.do(nobody, "GET", path, "").Code)
}
