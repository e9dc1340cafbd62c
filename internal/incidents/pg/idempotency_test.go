package pg_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/messages"
	pgnotifications "github.com/iris-oncall/iris/internal/notifications/pg"
	"github.com/iris-oncall/iris/internal/users"
)

var opened1 = operation.Answer{Status: 201, Location: "/incidents/1", Body: []byte("1")}

func onceKey(application int64, key string) operation.ReplayKey {
	return operation.ReplayKey{ApplicationID: application, Route: "POST /v0/incidents", Key: key, BodyHash: []byte("1")}
}

// once sends the stored answer of a key. Without one it runs work in a unit, and commits the unit with an answer if
// work returns true.
func once(t *testing.T, s *postgres.Idempotency, k operation.ReplayKey, work func(ctx context.Context) bool) (*operation.Answer, error) {
	t.Helper()
	stored, unit, err := s.Begin(t.Context(), k)
	if err != nil || stored != nil {
		return stored, err
	}
	defer unit.Close(t.Context())
	if !work(unit.Context(t.Context())) {
		return nil, nil
	}
	return nil, unit.Commit(t.Context(), opened1)
}

func TestAKeyedRequestRunsOnce(t *testing.T) {
	t.Parallel()
	c := pgtest.NewCatalog(t)
	s := postgres.NewIdempotency(c.DB)
	key := onceKey(c.Demo, "k")
	var ran, replayed atomic.Int32
	var wg sync.WaitGroup
	for range 40 { // more than the pool has connections
		wg.Go(func() {
			stored, err := once(t, s, key, func(context.Context) bool {
				ran.Add(1)
				return true
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

	never := func(context.Context) bool {
		t.Error("the request ran again")
		return false
	}
	other := key
	other.BodyHash = []byte("2")
	_, err := once(t, s, other, never)
	require.True(t, fault.Is(err, fault.Mismatch), "%v", err)

	_, err = c.Pool().Exec(t.Context(), "update idempotency_keys set created_at = created_at - interval '25 hours'")
	require.NoError(t, err)
	stored, err := once(t, s, other, func(context.Context) bool { return true })
	require.NoError(t, err)
	require.Nil(t, stored, "a day later the key is free")
	stored, err = once(t, s, other, never)
	require.NoError(t, err)
	require.Equal(t, &opened1, stored)
	_, err = c.Pool().Exec(t.Context(), "update idempotency_keys set created_at = created_at - interval '25 hours'")
	require.NoError(t, err)
	n, err := s.Expire(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
}

// The changes of all adapters of a unit are stored exactly when the answer of the unit is stored.
func TestAKeyedRequestIsOneTransaction(t *testing.T) {
	t.Parallel()
	p := newPaging(t)
	s, requests := postgres.NewIdempotency(p.DB), pgnotifications.New(p.DB)
	in := pg.New(p.DB)
	all := func(ctx context.Context) {
		opened, err := in.Open(ctx, p.request(""))
		require.NoError(t, err)
		_, err = in.AddComment(ctx, opened.ID, p.ann, "c")
		require.NoError(t, err)
		_, err = in.AddComment(ctx, opened.ID+1000, p.ann, "c") // a change that fails does not affect the other changes
		require.True(t, fault.Is(err, fault.NotFound), "%v", err)
		seen, err := in.Get(ctx, opened.ID)
		require.NoError(t, err, "reads see the changes of the unit")
		require.Equal(t, opened.ID, seen.ID)
		_, err = requests.Create(ctx, messages.Notification{ApplicationID: p.demo, Subject: "s", Body: "b",
			Lifetime: 60e9,
			Recipients: []messages.NotificationRecipient{{Recipient: messages.ToUser(p.ann.ID), UserID: p.ann.ID,
				Target: "ann", Mode: users.Email}}})
		require.NoError(t, err)
	}
	rows := func() (n int) {
		require.NoError(t, p.Pool().QueryRow(t.Context(),
			`select (select count(*) from incidents) + (select count(*) from comments)
			+ (select count(*) from notification_requests) + (select count(*) from idempotency_keys)`).Scan(&n))
		return n
	}
	stored, err := once(t, s, onceKey(p.demo, "refused"), func(ctx context.Context) bool {
		all(ctx)
		return false
	})
	require.NoError(t, err)
	require.Nil(t, stored)
	require.Zero(t, rows())

	require.Panics(t, func() {
		_, _ = once(t, s, onceKey(p.demo, "died"), func(ctx context.Context) bool {
			all(ctx)
			panic("defect")
		})
	})
	require.Zero(t, rows())

	_, err = once(t, s, onceKey(p.demo, "lost"), func(ctx context.Context) bool {
		all(ctx)
		_, err := p.Pool().Exec(t.Context(), `select pg_terminate_backend(pid) from pg_stat_activity
			where datname = current_database() and state = 'idle in transaction'`) // as when the process dies
		require.NoError(t, err)
		return true
	})
	require.Error(t, err)
	require.Zero(t, rows())

	for range 2 {
		_, err = once(t, s, onceKey(p.demo, "done"), func(ctx context.Context) bool {
			all(ctx)
			require.Zero(t, rows(), "nobody sees the changes before the answer is stored")
			return true
		})
		require.NoError(t, err)
		require.Equal(t, 4, rows())
	}
}
