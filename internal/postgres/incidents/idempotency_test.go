package incidents_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/notifications"
	"github.com/iris-oncall/iris/internal/postgres/pgtest"
	"github.com/iris-oncall/iris/internal/users"
)

var opened1 = auth.Answer{Status: 201, Location: "/incidents/1", Body: []byte("1")}

func onceKey(application int64, key string) auth.ReplayKey {
	return auth.ReplayKey{ApplicationID: application, Route: "POST /v0/incidents", Key: key, BodyHash: []byte("1")}
}

func TestAKeyedRequestRunsOnce(t *testing.T) {
	t.Parallel()
	c := pgtest.NewCatalog(t)
	s := postgres.NewIdempotency(c.DB)
	key := onceKey(c.Demo, "k")
	var ran, replayed atomic.Int32
	var wg sync.WaitGroup
	for range 40 { // more than there are connections
		wg.Go(func() {
			stored, err := s.Once(t.Context(), key, func(context.Context) (auth.Answer, bool) {
				ran.Add(1)
				return opened1, true
			})
			require.NoError(t, err)
			if stored != nil {
				require.Equal(t, opened1, *stored)
				replayed.Add(1)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, ran.Load())
	require.EqualValues(t, 39, replayed.Load())

	never := func(context.Context) (auth.Answer, bool) {
		t.Error("the request ran again")
		return auth.Answer{}, false
	}
	other := key
	other.BodyHash = []byte("2")
	_, err := s.Once(t.Context(), other, never)
	require.True(t, fault.Is(err, fault.Mismatch), "%v", err)

	_, err = c.Pool().Exec(t.Context(), "update idempotency_keys set created_at = created_at - interval '25 hours'")
	require.NoError(t, err)
	stored, err := s.Once(t.Context(), other, func(context.Context) (auth.Answer, bool) { return opened1, true })
	require.NoError(t, err)
	require.Nil(t, stored, "a day later the key is free")
	stored, err = s.Once(t.Context(), other, never)
	require.NoError(t, err)
	require.Equal(t, &opened1, stored)
	_, err = c.Pool().Exec(t.Context(), "update idempotency_keys set created_at = created_at - interval '25 hours'")
	require.NoError(t, err)
	n, err := s.Expire(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
}

// TestAKeyedRequestIsOneTransaction: what it did, whatever adapter did it, stays exactly when its answer does.
func TestAKeyedRequestIsOneTransaction(t *testing.T) {
	t.Parallel()
	p := newPaging(t)
	s := postgres.NewIdempotency(p.DB)
	notifications := notifications.New(p.DB)
	all := func(ctx context.Context) {
		opened, err := p.in.Open(ctx, p.request(""))
		require.NoError(t, err)
		_, err = p.in.AddComment(ctx, opened.ID, p.ann, "c")
		require.NoError(t, err)
		_, err = p.in.AddComment(ctx, opened.ID+1000, p.ann, "c") // a failed part leaves the others alone
		require.True(t, fault.Is(err, fault.NotFound), "%v", err)
		seen, err := p.in.Get(ctx, opened.ID)
		require.NoError(t, err, "it sees what it did")
		require.Equal(t, opened.ID, seen.ID)
		_, err = notifications.Create(ctx, messages.Notification{ApplicationID: p.demo, Subject: "s", Body: "b", Lifetime: 60e9,
			Recipients: []messages.NotificationRecipient{{Recipient: messages.ToUser(p.ann.ID), UserID: p.ann.ID, Target: "ann", Mode: users.Email}}})
		require.NoError(t, err)
	}
	rows := func() (n int) {
		require.NoError(t, p.Pool().QueryRow(t.Context(), `select (select count(*) from incidents) + (select count(*) from comments)
			+ (select count(*) from notification_requests) + (select count(*) from idempotency_keys)`).Scan(&n))
		return n
	}
	stored, err := s.Once(t.Context(), onceKey(p.demo, "refused"), func(ctx context.Context) (auth.Answer, bool) {
		all(ctx)
		return auth.Answer{Status: 400}, false
	})
	require.NoError(t, err)
	require.Nil(t, stored)
	require.Zero(t, rows())

	require.Panics(t, func() {
		_, _ = s.Once(t.Context(), onceKey(p.demo, "died"), func(ctx context.Context) (auth.Answer, bool) {
			all(ctx)
			panic("defect")
		})
	})
	require.Zero(t, rows())

	_, err = s.Once(t.Context(), onceKey(p.demo, "lost"), func(ctx context.Context) (auth.Answer, bool) {
		all(ctx)
		_, err := p.Pool().Exec(t.Context(), `select pg_terminate_backend(pid) from pg_stat_activity
			where datname = current_database() and state = 'idle in transaction'`) // as when the process dies
		require.NoError(t, err)
		return opened1, true
	})
	require.Error(t, err)
	require.Zero(t, rows())

	for range 2 {
		_, err = s.Once(t.Context(), onceKey(p.demo, "done"), func(ctx context.Context) (auth.Answer, bool) {
			all(ctx)
			require.Zero(t, rows(), "nobody sees it before its answer is kept")
			return opened1, true
		})
		require.NoError(t, err)
		require.Equal(t, 4, rows())
	}
}
