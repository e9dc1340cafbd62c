package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/escalation/runner"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/postgres"
)

func benchRunner(b *testing.B, e *escalating) *runner.Runner {
	b.Helper()
	dir := postgres.NewDirectory(e.db)
	store := postgres.NewRunner(e.db)
	r, err := runner.New(runner.Deps{
		Work: store, Ledger: store, Digests: store, Timers: store, Reader: dir, Resolver: oncall.NewResolver(dir, nil, time.Second),
		Holder: e.holder, Log: zap.NewNop(),
	}, runner.Config{})
	require.NoError(b, err)
	return r
}

// A burst of 6,000 incidents, each with three pages in its first step: the pass that makes them, in an empty database and
// among 1,000,000 incidents that are due later.
//
//	IRIS_DATABASE_URL=... go test ./internal/postgres -run '^$' -bench RunnerBurst -benchtime 5x
func BenchmarkRunnerBurst(b *testing.B) {
	b.Run("alone", func(b *testing.B) { benchBurst(b, newEscalating(b)) })
	b.Run("among a million", func(b *testing.B) {
		e := newEscalating(b)
		waitingMillion(e)
		benchBurst(b, e)
	})
}

func benchBurst(b *testing.B, e *escalating) {
	b.Helper()
	const burst = 6000
	r := benchRunner(b, e)
	plan := e.plan("burst",
		intent{step: 1, role: "user", target: "ana", priority: "medium", wait: time.Hour},
		intent{step: 1, role: "user", target: "ana", priority: "high", wait: time.Hour},
		intent{step: 1, role: "oncall-primary", target: "db", priority: "urgent", wait: time.Hour})
	for b.Loop() {
		b.StopTimer()
		e.exec(`insert into incidents (plan_id, application_id, due_at) select $1, $2, clock_timestamp() from generate_series(1, $3)`, plan, e.app, burst)
		b.StartTimer()
		require.NoError(b, r.Pass(b.Context()))
	}
	b.ReportMetric(float64(burst*b.N)/b.Elapsed().Seconds(), "incidents/s")
	require.Zero(b, e.id(`select count(*) from incidents where current_step <> 1`))
	b.ReportMetric(0, "ns/op") // the figure above says it better
}

// waitingMillion adds 1,000,000 active incidents that are due in an hour.
func waitingMillion(e *escalating) {
	plan := e.plan("idle", intent{step: 1, role: "user", target: "ana", priority: "medium", wait: time.Hour})
	for range 20 { // below the statement timeout
		e.exec(`insert into incidents (plan_id, application_id, current_step, progress, due_at)
			select $1, $2, 1, '{"n":[{"m":1,"a":"2025-03-30T00:59:00Z"}]}', clock_timestamp() + interval '1 hour' + n * interval '1 ms'
			from generate_series(1, 50000) n`, plan, e.app)
	}
	e.exec(`analyze incidents`)
}

// An idle pass over 256 buckets while 1,000,000 active incidents are due later, and the look for when to wake up.
//
//	IRIS_DATABASE_URL=... go test ./internal/postgres -run '^$' -bench RunnerIdle
func BenchmarkRunnerIdle(b *testing.B) {
	e := newEscalating(b)
	r := benchRunner(b, e)
	waitingMillion(e)
	store := postgres.NewRunner(e.db)
	b.Run("pass", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			require.NoError(b, r.Pass(b.Context()))
		}
	})
	b.Run("next due", func(b *testing.B) {
		for b.Loop() {
			_, err := store.NextDue(b.Context(), e.holder.held, time.Time{})
			require.NoError(b, err)
		}
	})
}
