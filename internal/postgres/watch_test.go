package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/users"
)

func TestTheOldestPendingMessageOfABucket(t *testing.T) {
	t.Parallel()
	e := newEscalating(t)
	store := postgres.NewRunner(e.db)
	request := e.id(`insert into notification_requests (application_id, subject) values ($1, 'hello') returning id`, e.app)
	waiting := func(bucket int, mode, state string, since time.Duration) int64 {
		return e.id(`insert into messages (bucket, request_id, application_id, recipient, target, class, mode, state, available_at)
			values ($1, $2, $3, 'literal:' || gen_random_uuid(), 'x', 2, $4, $5, clock_timestamp() - make_interval(secs => $6)) returning id`,
			bucket, request, e.app, mode, state, since.Seconds())
	}
	oldest := func() []postgres.BucketPending {
		out, err := store.OldestPending(t.Context())
		require.NoError(t, err)
		return out
	}
	require.Empty(t, oldest())
	waiting(3, "email", "pending", 10*time.Second)
	sms := waiting(3, "sms", "pending", 40*time.Second)
	waiting(3, "sms", "sent", time.Hour)
	waiting(9, "call", "pending", -time.Minute) // to be tried again later
	last := waiting(255, "email", "pending", 5*time.Second)
	got := oldest()
	require.Len(t, got, 2)
	require.InDelta(t, 40, got[0].Age.Seconds(), 5)
	got[0].Age, got[1].Age = 0, 0
	require.Equal(t, []postgres.BucketPending{
		{Bucket: 3, MessageID: messages.ID(sms), Mode: users.SMS, Application: "shop"},
		{Bucket: 255, MessageID: messages.ID(last), Mode: users.Email, Application: "shop"},
	}, got)

	require.NoError(t, postgres.NewLimits(e.db).SetPause(t.Context(), "mode:sms", time.Minute, "an operator's wish"))
	got = oldest()
	require.Equal(t, users.Email, got[0].Mode, "what is paused waits on purpose")
	e.exec(`update applications set paused = true where id = $1`, e.app)
	require.Empty(t, oldest())
}
