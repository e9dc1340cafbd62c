package postgres_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/postgres"
)

// ear collects the wake-ups of a listener.
type ear struct {
	mu    sync.Mutex
	heard []buckets.Set
}

func (e *ear) wake(s buckets.Set) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = append(e.heard, s)
}

// all returns the union of the buckets that were woken since the last forget.
func (e *ear) all() (s buckets.Set) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, h := range e.heard {
		s.Union(h)
	}
	return s
}

func (e *ear) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heard = nil
}

func (e *ear) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.heard)
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
	var a, b ear
	la, lb := postgres.NewListener(d, a.wake), postgres.NewListener(d, b.wake)
	run(t, la.Run)
	run(t, lb.Run)
	n := postgres.NewNotifier(d)
	stop := run(t, n.Run)
	eventually(t, "both woken after connecting", func() bool { return a.all() == buckets.All() && b.all() == buckets.All() })
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
	var all, escalation, delivery ear
	l := postgres.NewListener(d, all.wake).Apart(escalation.wake, delivery.wake)
	run(t, l.Run)
	n := postgres.NewNotifier(d)
	run(t, n.Run)
	eventually(t, "woken after connecting", func() bool { return all.all() == buckets.All() })
	all.forget()

	n.WakeEscalation(t.Context(), buckets.Of(1))
	eventually(t, "a new incident", func() bool { return escalation.all() == buckets.Of(1) })
	require.Zero(t, delivery.count())
	n.WakeDelivery(t.Context(), buckets.Of(2))
	eventually(t, "a new message", func() bool { return delivery.all() == buckets.Of(2) })
	require.Equal(t, 1, escalation.count())
	n.Wake(t.Context(), buckets.Of(3))
	eventually(t, "other work", func() bool { return escalation.all().Has(3) && delivery.all().Has(3) })
	require.Zero(t, all.count())

	_, err := d.Pool().Exec(t.Context(), "select pg_notify('iris_wake', 'of another release')")
	require.NoError(t, err)
	eventually(t, "an unknown payload", func() bool { return escalation.all() == buckets.All() && delivery.all() == buckets.All() })
}

func TestListenerConnectsAgainAndWakesEverything(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	var e ear
	l := postgres.NewListener(d, e.wake)
	run(t, l.Run)
	eventually(t, "connected", l.Connected)
	eventually(t, "woken", func() bool { return e.count() == 1 })
	e.forget()
	_, err := d.Pool().Exec(t.Context(), "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'iris listener' and datname = current_database()")
	require.NoError(t, err)
	eventually(t, "woken after reconnecting", func() bool { return e.all() == buckets.All() })
	eventually(t, "connected again", l.Connected)
}

// The listener logs the first failed attempt of an outage, not every attempt, and logs when it is connected again.
func TestListenerLogsAnOutageOnce(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(pgtest.URL(t))
	require.NoError(t, err)
	there := u.Host
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	u.Host = closed.Addr().String()
	require.NoError(t, closed.Close())
	core, logged := observer.New(zap.InfoLevel)
	r := prometheus.NewRegistry()
	d, err := postgres.Open(t.Context(), postgres.Config{URL: u.String(), Log: zap.New(core), Registerer: r})
	require.NoError(t, err)
	t.Cleanup(d.Close)
	var e ear
	l := postgres.NewListener(d, e.wake)
	run(t, l.Run)
	eventually(t, "several tries", func() bool { return reconnects(t, r) >= 5 })
	lost := logged.FilterMessageSnippet("lost its connection").All()
	require.Len(t, lost, 1)
	require.NotContains(t, lost[0].ContextMap()["error"], "\n")
	require.Equal(t, 1, strings.Count(fmt.Sprint(lost[0].ContextMap()["error"]), "connection refused"), "said once")

	back, err := net.Listen("tcp", u.Host)
	require.NoError(t, err)
	t.Cleanup(func() { _ = back.Close() })
	go func() {
		for {
			c, err := back.Accept()
			if err != nil {
				return
			}
			go func() {
				s, err := net.Dial("tcp", there)
				if err != nil {
					return
				}
				go func() { _, _ = io.Copy(s, c); _ = s.Close() }()
				_, _ = io.Copy(c, s)
				_ = c.Close()
			}()
		}
	}()
	eventually(t, "connected", l.Connected)
	require.Len(t, logged.FilterMessage("wake-up listener is connected again").All(), 1)
}

func reconnects(t *testing.T, r *prometheus.Registry) float64 {
	t.Helper()
	families, err := r.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() == "iris_postgres_listener_reconnects_total" {
			return f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	return 0
}

func TestSelfTestsWakeNothingAndUnknownPayloadsWakeEverything(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	var e ear
	l := postgres.NewListener(d, e.wake)
	postgres.SelfTestEvery(l, 10*time.Millisecond)
	run(t, l.Run)
	eventually(t, "connected", func() bool { return e.count() == 1 })
	require.Never(t, func() bool { return e.count() != 1 }, 300*time.Millisecond, 20*time.Millisecond, "self-tests wake nobody")

	// An unknown payload wakes everything. A self-test of another process wakes nothing.
	e.forget()
	for _, words := range []string{"ping of another", "something new"} {
		_, err := d.Pool().Exec(t.Context(), "select pg_notify('iris_wake', $1)", words)
		require.NoError(t, err)
	}
	eventually(t, "woken", func() bool { return e.count() == 1 && e.all() == buckets.All() })
}

func TestNotifierSendsLaterWhatItCouldNotSend(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	d := pgtest.Open(t, url, postgres.Config{MaxConns: 1})
	var e ear
	l := postgres.NewListener(pgtest.Open(t, url, postgres.Config{}), e.wake)
	run(t, l.Run)
	eventually(t, "connected", func() bool { return e.count() == 1 })
	e.forget()

	// The only connection is in use: notifications wait and are sent together.
	conn, err := d.Pool().Acquire(t.Context())
	require.NoError(t, err)
	n := postgres.NewNotifier(d)
	run(t, n.Run)
	n.Wake(t.Context(), buckets.Of(1))
	n.Wake(t.Context(), buckets.Of(2))
	require.Never(t, func() bool { return e.count() > 0 }, 100*time.Millisecond, 10*time.Millisecond)
	conn.Release()
	eventually(t, "sent at last", func() bool { return e.all() == buckets.Of(1, 2) })
}
