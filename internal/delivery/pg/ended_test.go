package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/buckets"
	pgbuckets "github.com/iris-oncall/iris/internal/buckets/pg"
	"github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
)

// A call of a process that has ended is in doubt at once. That of a process that only seems dead keeps its claim.
func TestCallsOfAnEndedProcessAreInDoubtAtOnce(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	plan := e.Plan("pair", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Hour})
	e.Open(plan)
	e.Pass()
	queue, cluster := pg.New(e.DB), pgbuckets.NewCluster(e.DB)
	taken := pgtest.TakeMessages(e, queue)
	begun := pgtest.Starts(taken)
	begun[0].CallFor = time.Hour
	_, err := queue.MarkSending(e.Ctx(), "me", begun)
	require.NoError(t, err)
	require.NoError(t, cluster.Beat(e.Ctx(), buckets.Member{ProcessID: "me", Host: "h", Version: "1"}))
	e.Exec("update members set heartbeat_at = clock_timestamp() - interval '10 seconds'")

	all := new(buckets.Set)
	for b := range buckets.Count {
		all.Add(b)
	}
	found, err := queue.Sending(e.Ctx(), "other", all.List())
	require.NoError(t, err)
	require.Empty(t, found, "it may still send")

	require.NoError(t, cluster.MarkEnded(e.Ctx(), "me", time.Minute))
	found, err = queue.Sending(e.Ctx(), "other", all.List())
	require.NoError(t, err)
	require.Empty(t, found, "its heartbeat is fresher than that")

	require.NoError(t, cluster.MarkEnded(e.Ctx(), "me", time.Second))
	found, err = queue.Sending(e.Ctx(), "other", nil)
	require.NoError(t, err)
	require.Empty(t, found, "the owner of the bucket repeats it")
	found, err = queue.Sending(e.Ctx(), "other", all.List())
	require.NoError(t, err)
	require.Len(t, found, 1)

	// A heartbeat withdraws the mark: the process has not ended.
	require.NoError(t, cluster.Beat(e.Ctx(), buckets.Member{ProcessID: "me", Host: "h", Version: "1"}))
	require.NoError(t, queue.Doubt(e.Ctx(), found))
	state := func() (state string, inDoubt bool) {
		require.NoError(t, e.DB.Pool().QueryRow(e.Ctx(),
			"select m.state, a.in_doubt from messages m join attempts a on a.message_id = m.id").Scan(&state, &inDoubt))
		return state, inDoubt
	}
	now, doubt := state()
	require.Equal(t, "sending", now)
	require.False(t, doubt)

	e.Exec("update members set heartbeat_at = clock_timestamp() - interval '10 seconds'")
	require.NoError(t, cluster.MarkEnded(e.Ctx(), "me", time.Second))
	require.NoError(t, queue.Doubt(e.Ctx(), found))
	now, doubt = state()
	require.Equal(t, "pending", now)
	require.True(t, doubt)
}
