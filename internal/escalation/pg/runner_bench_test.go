package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/escalation/pg"
	"github.com/iris-oncall/iris/internal/escalation/runner"
	"github.com/iris-oncall/iris/internal/oncall"
)

func benchRunner(b *testing.B, e *pgtest.Escalating) *runner.Runner {
	b.Helper()
	dir := pg.NewDirectory(e.DB)
	store := pg.NewRunner(e.DB)
	r, err := runner.New(runner.Deps{
		Store: store, Reader: dir, Resolver: oncall.NewResolver(dir, nil, time.Second),
		Holder: e.Holder, Log: zap.NewNop(),
	}, runner.Config{})
	require.NoError(b, err)
	return r
}

// A burst of 6,000 incidents, each with three pages in its first step: the pass that makes them, in an empty database
// and among 1,000,000 incidents that are due later.
//
//	IRIS_DATABASE_URL=... go test ./internal/escalation/pg -run '^$' -bench RunnerBurst -benchtime 5x
func BenchmarkRunnerBurst(b *testing.B) {
	b.Run("alone", func(b *testing.B) { benchBurst(b, pgtest.NewEscalating(b)) })
	b.Run("among a million", func(b *testing.B) {
		e := pgtest.NewEscalating(b)
		waitingMillion(e)
		benchBurst(b, e)
	})
}

func benchBurst(b *testing.B, e *pgtest.Escalating) {
	b.Helper()
	const burst = 6000
	r := benchRunner(b, e)
	plan := e.Plan("burst",
		pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "medium", Wait: time.Hour},
		pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Hour},
		pgtest.Intent{Step: 1, Role: "oncall-primary", Target: "db", Priority: "urgent", Wait: time.Hour})
	for b.Loop() {
		b.StopTimer()
		e.Exec(`insert into incidents (plan_id, application_id, due_at) select $1, $2, clock_timestamp() from generate_series(1, $3)`, plan, e.App, burst)
		b.StartTimer()
		require.NoError(b, r.Pass(b.Context()))
	}
	b.ReportMetric(float64(burst*b.N)/b.Elapsed().Seconds(), "incidents/s")
	require.Zero(b, e.ID(`select count(*) from incidents where current_step <> 1`))
	b.ReportMetric(0, "ns/op") // the metric above replaces it
}

// waitingMillion adds 1,000,000 active incidents that are due in an hour.
func waitingMillion(e *pgtest.Escalating) {
	plan := e.Plan("idle", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "medium", Wait: time.Hour})
	for range 20 { // each statement stays below the statement timeout
		e.Exec(`insert into incidents (plan_id, application_id, current_step, progress, due_at)
			select $1, $2, 1, '{"n":[{"m":1,"a":"2025-03-30T00:59:00Z"}]}', clock_timestamp() + interval '1 hour' + n * interval '1 ms'
			from generate_series(1, 50000) n`, plan, e.App)
	}
	e.Exec(`analyze incidents`)
}

// An idle pass over 256 buckets while 1,000,000 active incidents are due later, and the read of the next due time.
//
//	IRIS_DATABASE_URL=... go test ./internal/escalation/pg -run '^$' -bench RunnerIdle
func BenchmarkRunnerIdle(b *testing.B) {
	e := pgtest.NewEscalating(b)
	r := benchRunner(b, e)
	waitingMillion(e)
	store := pg.NewRunner(e.DB)
	b.Run("pass", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			require.NoError(b, r.Pass(b.Context()))
		}
	})
	b.Run("next due", func(b *testing.B) {
		for b.Loop() {
			_, err := store.NextDue(b.Context(), e.Holder.Held, time.Time{})
			require.NoError(b, err)
		}
	})
}
