package postgres_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/postgres"
)

// receiver counts the connects of a listener and what it receives.
type receiver struct{ ups, heard atomic.Int64 }

func (e *receiver) up()                 { e.ups.Add(1) }
func (e *receiver) receive(_, _ string) { e.heard.Add(1) }

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

func TestListenerConnectsAgainAndWakesEverything(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	var e receiver
	l := postgres.NewListener(d, e.up, e.receive, "words")
	run(t, l.Run)
	eventually(t, "connected", l.Connected)
	eventually(t, "woken", func() bool { return e.ups.Load() == 1 })
	_, err := d.Pool().Exec(t.Context(),
		"select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'iris listener' and datname = current_database()")
	require.NoError(t, err)
	eventually(t, "woken after reconnecting", func() bool { return e.ups.Load() == 2 })
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
	var e receiver
	l := postgres.NewListener(d, e.up, e.receive, "words")
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

func TestSelfTestsAreNotReceived(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	var e receiver
	l := postgres.NewListener(d, e.up, e.receive, "words")
	postgres.SelfTestEvery(l, 10*time.Millisecond)
	run(t, l.Run)
	eventually(t, "connected", func() bool { return e.ups.Load() == 1 })
	require.Never(t, func() bool { return e.ups.Load() > 1 || e.heard.Load() > 0 }, 300*time.Millisecond,
		20*time.Millisecond)
	require.NoError(t, d.Notify(t.Context(), "words", "hello"))
	eventually(t, "received", func() bool { return e.heard.Load() == 1 })
}
