//go:build mariadb

package imports_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/legacy/imports"
)

// TestEveryColumnIsReadOrKnown puts something into every column of the predecessors' schemas that was empty. What the
// importers neither read nor know of would be in the report; what they know of is documented, which their own tests
// hold.
func TestEveryColumnIsReadOrKnown(t *testing.T) {
	t.Parallel()
	for predecessor, scripts := range map[string][]string{"iris": good, "oncall": oncallGood} {
		t.Run(predecessor, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, scripts...)
			s.predecessor = predecessor
			s.my.SetMaxOpenConns(1) // settings hold for one connection
			s.mysql("set foreign_key_checks = 0, sql_mode = ''")
			columns := s.theirs("select table_name, column_name, data_type from information_schema.columns where table_schema = database()")
			require.Greater(t, len(columns), 100)
			for _, c := range columns {
				parts := strings.Split(c, "|")
				table, column := parts[0], imports.Quote(parts[1])
				filled := "select 1 from " + table + " where cast(" + column + " as char) not in ('', '0') limit 1"
				if s.theirs(filled) == nil {
					s.mysql("update " + table + " set " + column + " = " + something(parts[2]) + " limit 1")
				}
				require.NotEmpty(t, s.theirs(filled), "the test has nothing in %s", c)
			}
			_, report := s.move("--dry-run")
			require.Empty(t, slices.DeleteFunc(reasons(report, imports.NotTaken),
				func(r string) bool { return !strings.HasPrefix(r, "unknown") }))
			s.mysql("alter table `user` add column of_the_site varchar(9) not null default 'x'")
			_, report = s.move("--dry-run")
			require.Contains(t, strings.Join(reasons(report, imports.NotTaken), "\n"),
				"the column user.of_the_site is not part of ", "it is reported")
		})
	}
}

// something is a value of a type that is not empty.
func something(kind string) string {
	switch kind {
	case "datetime", "timestamp":
		return "'2024-01-01 00:00:00'"
	case "enum":
		return "'team'"
	}
	return "'1'"
}
