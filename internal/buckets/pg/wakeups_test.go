package pg_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/buckets"
	pgbuckets "github.com/iris-oncall/iris/internal/buckets/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/postgres"
)

// receiver collects the wake-ups of a listener.
type receiver struct {
	mu    sync.Mutex
	heard []buckets.Set
}

func (e *receiver) wake(s buckets.Set) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = append(e.heard, s)
}

// all returns the union of the buckets that were woken since the last forget.
func (e *receiver) all() (s buckets.Set) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, h := range e.heard {
		s.Union(h)
	}
	return s
}

func (e *receiver) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = nil
}

func (e *receiver) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.heard)
}

// handlers returns handlers that all wake-ups for escalation reach.
func (e *receiver) handlers() pgbuckets.WakeupHandlers {
	return pgbuckets.WakeupHandlers{Escalation: e.wake, Delivery: func(buckets.Set) {}}
}

// run starts a part. When the test ends, it stops the part and waits for it.
func run(t *testing.T, f func(context.Context) error) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- f(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-done)
	})
	t.Cleanup(stop)
	return stop
}

func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	require.Eventually(t, f, 10*time.Second, 5*time.Millisecond, what)
}

func TestWakeUpsReachEveryListener(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	var a, b receiver
	la, lb := pgbuckets.NewListener(d, a.handlers()), pgbuckets.NewListener(d, b.handlers())
	run(t, la.Run)
	run(t, lb.Run)
	n := pgbuckets.NewNotifier(d)
	stop := run(t, n.Run)
	eventually(t, "both woken after connecting", func() bool {
		return a.all() == buckets.All() &&
			b.all() == buckets.All()
	})
	require.True(t, la.Connected())
	a.forget()
	b.forget()

	n.Wake(t.Context(), buckets.Set{})
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() { n.Wake(t.Context(), buckets.Of(i)) })
	}
	wg.Wait()
	want := buckets.Set{}
	for i := range 200 {
		want.Add(i)
	}
	eventually(t, "all heard", func() bool { return a.all() == want && b.all() == want })
	require.Less(t, a.count(), 100, "wake-ups go together")

	a.forget()
	n.Wake(t.Context(), buckets.Of(255))
	stop()
	eventually(t, "what is pending is sent at the end", func() bool { return a.all().Has(255) })
}

func TestWakeUpsOfEscalationAndDeliveryArriveApart(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	var escalation, delivery receiver
	l := pgbuckets.NewListener(d, pgbuckets.WakeupHandlers{Escalation: escalation.wake, Delivery: delivery.wake})
	run(t, l.Run)
	n := pgbuckets.NewNotifier(d)
	run(t, n.Run)
	eventually(t, "woken after connecting", func() bool {
		return escalation.all() == buckets.All() &&
			delivery.all() == buckets.All()
	})
	escalation.forget()
	delivery.forget()

	n.WakeEscalation(t.Context(), buckets.Of(1))
	eventually(t, "a new incident", func() bool { return escalation.all() == buckets.Of(1) })
	require.Zero(t, delivery.count())
	n.WakeDelivery(t.Context(), buckets.Of(2))
	eventually(t, "a new message", func() bool { return delivery.all() == buckets.Of(2) })
	require.Equal(t, 1, escalation.count())
	n.Wake(t.Context(), buckets.Of(3))
	eventually(t, "other work", func() bool { return escalation.all().Has(3) && delivery.all().Has(3) })

	_, err := d.Pool().Exec(t.Context(), "select pg_notify('iris_wake', 'of another release')")
	require.NoError(t, err)
	eventually(t, "an unknown payload", func() bool {
		return escalation.all() == buckets.All() &&
			delivery.all() == buckets.All()
	})
}

func TestNotifierSendsLaterWhatItCouldNotSend(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	d := pgtest.Open(t, url, postgres.Config{MaxConns: 1})
	var e receiver
	l := pgbuckets.NewListener(pgtest.Open(t, url, postgres.Config{}), e.handlers())
	run(t, l.Run)
	eventually(t, "connected", func() bool { return e.count() == 1 })
	e.forget()

	// The only connection is in use: notifications wait and are sent together.
	conn, err := d.Pool().Acquire(t.Context())
	require.NoError(t, err)
	n := pgbuckets.NewNotifier(d)
	run(t, n.Run)
	n.Wake(t.Context(), buckets.Of(1))
	n.Wake(t.Context(), buckets.Of(2))
	require.Never(t, func() bool { return e.count() > 0 }, 100*time.Millisecond, 10*time.Millisecond)
	conn.Release()
	eventually(t, "sent at last", func() bool { return e.all() == buckets.Of(1, 2) })
}

func TestUnknownPayloadsWakeEverything(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	var e receiver
	l := pgbuckets.NewListener(d, e.handlers())
	run(t, l.Run)
	eventually(t, "connected", func() bool { return e.count() == 1 })
	e.forget()
	for _, words := range []string{"ping of another release", "something new"} {
		_, err := d.Pool().Exec(t.Context(), "select pg_notify('iris_wake', $1)", words)
		require.NoError(t, err)
	}
	eventually(t, "woken", func() bool { return e.count() == 1 && e.all() == buckets.All() })
}
