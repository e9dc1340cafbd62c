package postgres_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/postgres"
)

// comparesClock finds a column that is compared with clock_timestamp() itself, on either side.
var comparesClock = regexp.MustCompile(`(\w+)\)?\s*(?:[<>]=?|\bbetween\b)\s*(?:coalesce\([^()]*(?:\([^()]*\)[^()]*)?,\s*)?clock_timestamp\(\)` +
	`|clock_timestamp\(\)[^,()]*[<>]=?\s*(?:\w+\.)?(\w+)`)

// clock_timestamp() is volatile: PostgreSQL cannot look a value up in an index that may change with each row, and reads
// all rows. Statements compare with statement_timestamp(), or with a value that a materialised part reads once.
func TestNoColumnOfAnIndexIsComparedWithAVolatileClock(t *testing.T) {
	t.Parallel()
	d := pgtest.Open(t, pgtest.URL(t), postgres.Config{})
	rows, err := d.Pool().Query(t.Context(),
		`select distinct c.relname, a.attname from pg_index i join pg_class c on c.oid = i.indrelid
		join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey) where c.relnamespace = 'public'::regnamespace and a.atttypid = 'timestamptz'::regtype`)
	require.NoError(t, err)
	indexed := map[string][]string{} // tables by column
	for rows.Next() {
		var table, column string
		require.NoError(t, rows.Scan(&table, &column))
		indexed[column] = append(indexed[column], table)
	}
	require.NoError(t, rows.Err())
	require.Contains(t, indexed["due_at"], "incidents")
	var faults []string
	for name, sql := range generatedStatements(t) {
		for _, m := range comparesClock.FindAllStringSubmatch(sql, -1) {
			for _, table := range indexed[m[1]+m[2]] {
				if regexp.MustCompile(`\b(from|join|update|into)\s+` + table + `\b`).MatchString(sql) {
					faults = append(faults,
						fmt.Sprintf("%s compares %s.%s with clock_timestamp(): use statement_timestamp()", name, table,
							m[1]+m[2]))
				}
			}
		}
	}
	slices.Sort(faults)
	require.Empty(t, strings.Join(slices.Compact(faults), "\n"))
}
