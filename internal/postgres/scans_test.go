package postgres_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/pgtest"
)

var sqlcArg = regexp.MustCompile(`sqlc\.n?arg\((\w+)\)|@(\w+)`)

// scanned runs a query of query/*.sql and returns how many rows it looked at, those that it threw away included.
func scanned(t *testing.T, d *postgres.DB, file, name string, args map[string]any) int {
	t.Helper()
	raw, err := os.ReadFile("query/" + file)
	require.NoError(t, err)
	_, sql, found := strings.Cut(string(raw), "-- name: "+name+" :")
	require.True(t, found, name)
	_, sql, _ = strings.Cut(sql, "\n")
	sql, _, _ = strings.Cut(sql, ";")
	var values []any
	sql = sqlcArg.ReplaceAllStringFunc(sql, func(arg string) string {
		found := sqlcArg.FindStringSubmatch(arg)
		value, known := args[found[1]+found[2]]
		require.True(t, known, arg)
		values = append(values, value)
		return "$" + strconv.Itoa(len(values))
	})
	var body []byte
	require.NoError(t, d.Pool().QueryRow(t.Context(), "explain (analyze, timing off, format json) "+sql, values...).Scan(&body))
	type node struct {
		Type    string  `json:"Node Type"`
		Rows    float64 `json:"Actual Rows"`
		Loops   float64 `json:"Actual Loops"`
		Removed float64 `json:"Rows Removed by Filter"`
		Plans   []node
	}
	var plans []struct{ Plan node }
	require.NoError(t, json.Unmarshal(body, &plans))
	var count func(n node) float64
	count = func(n node) (rows float64) {
		if strings.Contains(n.Type, "Scan") && n.Type != "Subquery Scan" && n.Type != "Function Scan" {
			rows = (n.Rows + n.Removed) * n.Loops
		}
		for _, p := range n.Plans {
			rows += count(p)
		}
		return rows
	}
	return int(count(plans[0].Plan))
}

// What stands between a request and its incident, or is asked every second, looks at what it finds and no further.
func TestTheHotPathScansLittle(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	_, err := d.Pool().Exec(t.Context(), `insert into users (name) values ('ann'); insert into applications (name) values ('demo');
		insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset) values ('p', 1, 0, 0, 0, 0);
		insert into incidents (plan_id, application_id, created_at, active) select 1, 2, clock_timestamp() - n * interval '1 minute', false
			from generate_series(0, 20000) n;
		insert into aggregations (plan_id, application_id, priority, user_id, bucket, release_at)
			select n, 2, 'high', 1, 0, clock_timestamp() + (n - 3) * interval '1 hour' from generate_series(1, 5000) n`)
	require.NoError(t, err)
	_, err = d.Pool().Exec(t.Context(), "analyze incidents, aggregations")
	require.NoError(t, err)
	require.LessOrEqual(t, scanned(t, d, "rates.sql", "RecentIncidentsOf", map[string]any{
		"application_id": 2, "plan_id": 1, "lookback_us": 300_000_000, "most": 1001}), 20)
	require.LessOrEqual(t, scanned(t, d, "rates.sql", "ActiveIncidentsOf", map[string]any{"application_id": 2, "plan_id": 1, "most": 1001}), 20)
	require.LessOrEqual(t, scanned(t, d, "floods.sql", "DueAggregations", map[string]any{"buckets": []int16{0, 1, 2}, "now": nil}), 20)
}
