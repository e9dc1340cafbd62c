package oncallapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMembersAndOrdersAreInTheAuditLog(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.ok(root, "POST", "/api/v0/users", `{"name":"new"}`)
	f.ok(root, "POST", "/api/v0/teams/ops/users", `{"name":"new"}`)
	f.ok(root, "DELETE", "/api/v0/teams/ops/users/new", "")
	f.ok(ann, "PUT", "/api/v0/teams/ops/rosters/ops-roster", `{"roster_order":["cat","bob","ann"]}`)
	rows, err := f.db.Pool().Query(t.Context(),
		`select actor || ': ' || action || ' ' || object || ' ' || detail from audit_log where action like 'team member%' or action like 'roster order%' order by id`)
	require.NoError(t, err)
	defer rows.Close()
	var lines []string
	for rows.Next() {
		var line string
		require.NoError(t, rows.Scan(&line))
		lines = append(lines, line)
	}
	require.Equal(t, []string{"root: team member added team ops user new",
		"root: team member removed team ops user new",
		"ann: roster order changed team ops roster ops-roster"}, lines)
}
