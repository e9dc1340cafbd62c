package pgtest

import (
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/postgres"
)

var sqlcArg = regexp.MustCompile(`sqlc\.n?arg\((\w+)\)|@(\w+)`)

// Scanned runs a query of query/*.sql and returns how many rows it read, including those that it filtered out.
func Scanned(t *testing.T, d *postgres.DB, file, name string, args map[string]any) int {
	t.Helper()
	raw, err := os.ReadFile("../../kit/postgres/query/" + file) // tests run in the folder of their package
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
	return ScannedBy(t, d, sql, values)
}

// ScannedBy runs a statement and returns how many rows its plan reads from tables and indexes.
func ScannedBy(t *testing.T, d *postgres.DB, sql string, values []any) int {
	t.Helper()
	var body []byte
	require.NoError(t, d.Pool().QueryRow(t.Context(), "explain (analyze, timing off, format json) "+sql,
		values...).Scan(&body))
	type node struct {
		Type    string  `json:"Node Type"`
		Rows    float64 `json:"Actual Rows"`
		Loops   float64 `json:"Actual Loops"`
		Removed float64 `json:"Rows Removed by Filter"`
		Lossy   float64 `json:"Rows Removed by Index Recheck"`
		Plans   []node
	}
	var plans []struct{ Plan node }
	require.NoError(t, json.Unmarshal(body, &plans))
	var count func(n node) float64
	count = func(n node) (rows float64) {
		if strings.Contains(n.Type, "Scan") && n.Type != "Subquery Scan" && n.Type != "Function Scan" {
			rows = (n.Rows + n.Removed + n.Lossy) * n.Loops
		}
		for _, p := range n.Plans {
			rows += count(p)
		}
		return rows
	}
	return int(count(plans[0].Plan))
}
