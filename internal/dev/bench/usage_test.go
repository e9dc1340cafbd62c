package bench

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUsageIsTheIncrease(t *testing.T) {
	t.Parallel()
	calls := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls++
		fmt.Fprintln(w, "# TYPE iris_postgres_query_seconds histogram")
		for query, seconds := range map[string]float64{"Slow": 2, "Fast": 0.5} {
			fmt.Fprintf(w, "iris_postgres_query_seconds_bucket{query=%q,le=\"+Inf\"} %d\n", query, 10*calls)
			fmt.Fprintf(w, "iris_postgres_query_seconds_sum{query=%q} %v\niris_postgres_query_seconds_count{query=%q} %d\n",
				query, seconds*float64(calls), query, 10*calls)
		}
		fmt.Fprintf(w, "# TYPE iris_escalation_batch_incidents histogram\niris_escalation_batch_incidents_bucket{le=\"+Inf\"} %d\n", calls)
		fmt.Fprintf(w, "iris_escalation_batch_incidents_sum %d\niris_escalation_batch_incidents_count %d\n", 100*calls,
			calls)
	}))
	defer s.Close()
	addr := strings.TrimPrefix(s.URL, "http://")
	read := func() reading {
		r := reading{cpu: map[string]float64{}, sums: map[string]map[string]Sum{}}
		require.NoError(t, r.addMetrics(t.Context(), addr))
		return r
	}
	before, after := read(), read()
	before.cpu["api"], after.cpu["api"], after.busy = 1, 1.75, 3
	u := after.since(before)
	require.Equal(t, []Sum{{"Slow", 10, 2}, {"Fast", 10, 0.5}}, u.Statements, "the largest total first")
	require.Equal(t, []Sum{{"escalate", 1, 100}}, u.Batches)
	require.Equal(t, map[string]float64{"api": 0.75}, u.CPU)
	require.InDelta(t, 3, u.BusySeconds, 0.001)
	require.Contains(t, u.String(), "api 0.75")
	require.Contains(t, u.String(), "escalate 1 of 100;")
	require.Contains(t, u.String(), "Slow 10 in 2.00 s; Fast 10 in 0.50 s;")
}

func TestReadUsageOfThisMachine(t *testing.T) {
	t.Parallel()
	r, err := (&stand{}).read(t.Context(), os.Getppid())
	require.NoError(t, err)
	require.Positive(t, r.busy)
	require.Contains(t, r.cpu, "bench")
	require.Contains(t, r.cpu, "sink")
}
