package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	pgescalation "github.com/iris-oncall/iris/internal/escalation/pg"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// The age of a message starts when it first became due. A retry or another state does not reset it.
func TestTheOldestUnsentMessage(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	store := pgescalation.NewRunner(e.DB)
	request := e.ID(`insert into notification_requests (application_id, subject) values ($1, 'hello') returning id`,
		e.App)
	unsent := func(bucket, class int, mode, state string, since time.Duration) int64 {
		return e.ID(`insert into messages (bucket, request_id, application_id, recipient, target, class, mode, state, created_at, available_at, settled_at)
			values ($1, $2, $3, 'literal:' || gen_random_uuid(), 'x', $4, $5, $6::text, clock_timestamp() - make_interval(secs => $7),
				clock_timestamp() + interval '1 minute', case when $6::text = 'sent' then clock_timestamp() end) returning id`,
			bucket, request, e.App, class, mode, state, since.Seconds())
	}
	oldest := func() []pgescalation.UnsentMessage {
		e.Exec(`delete from watch_results`) // results are shared for a few seconds
		out, err := store.OldestUnsent(t.Context())
		require.NoError(t, err)
		return out
	}
	require.Empty(t, oldest())
	unsent(3, 2, "email", "pending", 10*time.Second)
	sms := unsent(3, 2, "sms", "pending", 40*time.Second)
	unsent(3, 2, "sms", "sent", time.Hour)
	last := unsent(255, 0, "call", "sending", 5*time.Second)
	got := oldest()
	require.Len(t, got, 2)
	require.InDelta(t, 40, got[0].Age.Seconds(), 5)
	got[0].Age, got[1].Age = 0, 0
	require.Equal(t, []pgescalation.UnsentMessage{
		{Bucket: 3, MessageID: messages.ID(sms), Mode: users.SMS, Application: "shop"},
		{Bucket: 255, MessageID: messages.ID(last), Mode: users.Call, Application: "shop"},
	}, got)

	require.NoError(t, pg.NewLimits(e.DB).SetPause(t.Context(), "mode:sms", time.Minute, "an operator's wish"))
	got = oldest()
	require.Equal(t, users.Email, got[0].Mode, "what is paused waits on purpose")
	e.Exec(`update applications set paused = true where id = $1`, e.App)
	require.Empty(t, oldest())
}

func TestTheAgeOfUnsentMessagesIsSharedBetweenProcesses(t *testing.T) {
	t.Parallel()
	e := pgtest.NewEscalating(t)
	first, second := pgescalation.NewRunner(e.DB), pgescalation.NewRunner(e.DB)
	request := e.ID(`insert into notification_requests (application_id, subject) values ($1, 'hello') returning id`,
		e.App)
	insert := func(age string) {
		e.Exec(`insert into messages (bucket, request_id, application_id, recipient, target, class, mode, state, created_at)
			values (1, $1, $2, 'literal:x' || $3, 'x', 1, 'sms', 'pending', clock_timestamp() - $3::interval)`, request, e.App, age)
	}
	insert("1 minute")
	out, err := first.OldestUnsent(t.Context())
	require.NoError(t, err)
	require.InDelta(t, 60, out[0].Age.Seconds(), 20)
	insert("1 hour")
	out, err = second.OldestUnsent(t.Context())
	require.NoError(t, err)
	require.Less(t, out[0].Age, 30*time.Minute, "the result of the first process")

	e.Exec(`update watch_results set looked_at = looked_at - interval '5 seconds', claimed_at = claimed_at - interval '5 seconds'`)
	out, err = second.OldestUnsent(t.Context())
	require.NoError(t, err)
	require.Greater(t, out[0].Age, 59*time.Minute, "it is old: somebody looks again")

	insert("2 hours")
	e.Exec(`update watch_results set looked_at = looked_at - interval '5 seconds'`)
	out, err = first.OldestUnsent(t.Context())
	require.NoError(t, err)
	require.Less(t, out[0].Age, 90*time.Minute, "another process is looking")
	e.Exec(`update watch_results set looked_at = looked_at - interval '1 minute'`)
	out, err = first.OldestUnsent(t.Context())
	require.NoError(t, err)
	require.Greater(t, out[0].Age, 119*time.Minute, "that process is gone")
}
