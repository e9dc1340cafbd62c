package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/messages"
)

// A process took the page of an incident that was stopped before the mark. What it gives back follows the incident: it
// is cancelled, or waits again if the escalation has started again meanwhile. Neither waits for the end of the claim.
func TestAMessageThatIsGivenBackFollowsItsIncident(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	plan := e.Plan("one", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Hour})
	open, stopped, restarted := e.Open(plan), e.Open(plan), e.Open(plan)
	e.Pass()
	q := pg.New(e.DB)
	taken := pgtest.TakeMessages(e, q)
	require.Len(t, taken, 3)
	ids := make([]messages.ID, len(taken))
	for i, c := range taken {
		ids[i] = c.ID
	}
	e.Acknowledge(stopped)
	e.Acknowledge(restarted)
	begun, err := q.MarkSending(e.Ctx(), "me", pgtest.Starts(taken[1:]))
	require.NoError(t, err)
	require.Empty(t, begun)
	e.Reopen(restarted)

	require.NoError(t, q.Release(e.Ctx(), "other", ids))
	require.Len(t, e.Pages(open), 1)
	require.Contains(t, e.Pages(open)[0], "taken", "only the process that took a message gives it back")
	require.NoError(t, q.Release(e.Ctx(), "me", ids))
	require.Contains(t, e.Pages(open)[0], "pending")
	require.Contains(t, e.Pages(stopped)[0], "cancelled")
	require.Contains(t, e.Timeline(stopped), "cancelled: 1 page that was not sent yet was cancelled")
	require.Contains(t, e.Pages(restarted)[0], "pending")
	require.Len(t, pgtest.TakeMessages(e, q), 2, "they can be taken at once")

	// The next start of a cancelled page's escalation pages anew.
	e.Pass()
	e.Reopen(stopped)
	e.Pass()
	require.Len(t, e.Pages(stopped), 2)
}

// A take whose claim is over counts, also when the message is given back: its text may take too long.
func TestATakeWhoseClaimIsOverCounts(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	e.Open(e.Plan("one", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Hour}))
	e.Pass()
	q := pg.New(e.DB)
	taken := pgtest.TakeMessages(e, q)
	require.Equal(t, 1, taken[0].Takes)
	e.Exec("update messages set claim_until = clock_timestamp() - interval '1 second'")
	require.NoError(t, q.Release(e.Ctx(), "me", []messages.ID{taken[0].ID}))
	taken = pgtest.TakeMessages(e, q)
	require.Equal(t, 2, taken[0].Takes)
	require.NoError(t, q.Release(e.Ctx(), "me", []messages.ID{taken[0].ID}))
	require.Equal(t, 2, pgtest.TakeMessages(e, q)[0].Takes)
}
