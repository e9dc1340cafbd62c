package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
)

func TestEachPageOfARoundRobinTargetGoesToTheNextMember(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	plan := e.Plan("turns",
		pgtest.Intent{Step: 1, Role: "round-robin", Target: "db", Priority: "high", Wait: time.Minute, Repeat: 1},
		pgtest.Intent{Step: 2, Role: "round-robin", Target: "db", Priority: "high", Wait: time.Minute})
	first := map[string]int{}
	for range 6 {
		id := e.Open(plan)
		for range 3 {
			e.Pass()
			e.Settle(id, "sent")
			e.Later(time.Minute)
		}
		require.Equal(t, int64(3), e.ID(`select count(distinct target) from messages where incident_id = $1`, id),
			"three pages, three members")
		first[e.Text(`select target from messages where incident_id = $1 order by step, repeat limit 1`, id)]++
	}
	require.Len(t, first, 3)
	require.Regexp(t, `step 1: paging (ana|bo|cy) by sms \(high, round-robin in team db: \d of 3\)`,
		e.Text(`select text from timeline_entries order by id limit 1`))
}
