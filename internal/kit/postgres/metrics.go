package postgres

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	kitmetrics "github.com/iris-oncall/iris/internal/kit/metrics"
)

// durabilityEvery is how often fresh connections check the server's durability settings.
const durabilityEvery = int64(time.Minute)

type metrics struct {
	queries    *prometheus.HistogramVec
	failures   *prometheus.CounterVec
	retries    *prometheus.CounterVec
	durable    prometheus.Gauge
	standby    prometheus.Gauge
	batchRows  prometheus.Histogram
	reconnects prometheus.Counter
	listening  prometheus.Gauge
	wakeups    *prometheus.CounterVec
	floods     *prometheus.CounterVec

	lastCheck atomic.Int64
	lastState atomic.Int32 // 0 unknown, else 1 + durable + 2*standby
}

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		queries: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "iris_postgres_query_seconds", Help: "Time of database statements by query name.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, 1, 5},
		}, []string{"query"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "iris_postgres_query_errors_total", Help: "Failed database statements by query name and SQLSTATE.",
		}, []string{"query", "code"}),
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "iris_postgres_retries_total", Help: "Transactions run again after a deadlock, conflict or lost connection.",
		}, []string{"code"}),
		durable: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "iris_postgres_synchronous_commit", Help: "1 when commits wait for the disk, 0 when synchronous_commit is off.",
		}),
		standby: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "iris_postgres_synchronous_standby", Help: "1 when commits wait for a second server.",
		}),
		batchRows: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "iris_postgres_open_batch_rows", Help: "Incidents opened per transaction.",
			Buckets: []float64{1, 2, 4, 8, 16, 32, 64, 128, 256},
		}),
		reconnects: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "iris_postgres_listener_reconnects_total", Help: "Times the wake-up listener lost its connection.",
		}),
		listening: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "iris_postgres_listening", Help: "1 while wake-ups of other processes are received.",
		}),
		wakeups: kitmetrics.Start(prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "iris_postgres_wakeups_total", Help: "Wake-ups between processes, by direction (sent, received, lost).",
		}, []string{"direction"}), []string{"sent", "received", "lost"}),
	}
	m.floods = kitmetrics.Start(prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "iris_floods_total",
		Help: "What became of messages in floods: held, held_quiet, digest, released, reprioritised, quota_soft, quota_hard, quota_incident, quota_waiting.",
	}, []string{"decision"}), []string{"held", "held_quiet", "digest", "released", "reprioritised", "quota_soft",
		"quota_hard", "quota_incident", "quota_waiting"})
	var err error
	for _, c := range []prometheus.Collector{
		m.queries, m.failures, m.retries, m.durable, m.standby, m.batchRows, m.reconnects, m.wakeups, m.listening, m.floods,
	} {
		err = errors.Join(err, r.Register(c))
	}
	return m, err
}

// ObserveOpened records how many incidents one transaction opened.
func (d *DB) ObserveOpened(incidents int) { d.metrics.batchRows.Observe(float64(incidents)) }

// CountFlood adds n messages to those for which a decision about floods and quotas was made; see iris_floods_total.
func (d *DB) CountFlood(decision string, n int) {
	d.metrics.floods.WithLabelValues(decision).Add(float64(n))
}

// durabilityDue reports whether the server's settings must be checked again, and if so counts the check as done.
func (m *metrics) durabilityDue() bool {
	now, last := time.Now().UnixNano(), m.lastCheck.Load()
	return (last == 0 || now-last > durabilityEvery) && m.lastCheck.CompareAndSwap(last, now)
}

// setDurability stores the settings and reports whether they changed.
func (m *metrics) setDurability(durable, standby bool) bool {
	state := int32(1)
	if durable {
		state++
	}
	if standby {
		state += 2
	}
	m.durable.Set(float64((state - 1) & 1))
	m.standby.Set(float64((state - 1) >> 1))
	return m.lastState.Swap(state) != state
}

// tracer measures every statement under the name its SQL begins with ("-- name: OpenIncidents :many").
type tracer struct {
	metrics *metrics
	short   *shortage
}

type traceKey struct{}

type trace struct {
	name  string
	start time.Time
}

func (t *tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	return context.WithValue(ctx, traceKey{}, trace{queryName(data.SQL), time.Now()})
}

func (t *tracer) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	if tr, ok := ctx.Value(traceKey{}).(trace); ok {
		t.record(tr.name, time.Since(tr.start), data.Err)
	}
}

func (t *tracer) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (t *tracer) TraceBatchQuery(_ context.Context, _ *pgx.Conn, data pgx.TraceBatchQueryData) {
	t.record(queryName(data.SQL), time.Since(data.ReadStartTime), data.Err)
}

func (t *tracer) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func (t *tracer) record(name string, took time.Duration, err error) {
	t.metrics.queries.WithLabelValues(name).Observe(took.Seconds())
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		code := SqlState(err)
		if code == "" {
			code = "client"
		}
		t.metrics.failures.WithLabelValues(name, code).Inc()
		t.short.note(err)
	}
}

// queryName returns the name in sqlc's leading comment, or the verb of transaction control, or "other".
func queryName(sql string) string {
	if rest, ok := strings.CutPrefix(sql, "-- name: "); ok {
		if end := strings.IndexAny(rest, " \n"); end > 0 {
			return rest[:end]
		}
	}
	switch sql {
	case "begin", "commit", "rollback":
		return sql
	}
	return "other"
}

// poolCollector publishes the statistics of the pool.
type poolCollector struct{ pool *pgxpool.Pool }

var (
	descConns = prometheus.NewDesc("iris_postgres_connections", "Connections by state.", []string{"state"}, nil)
	descWaits = prometheus.NewDesc("iris_postgres_acquire_waits_total", "Times a caller waited for a free connection.",
		nil, nil)
	descWait = prometheus.NewDesc("iris_postgres_acquire_wait_seconds_total", "Time callers waited for a connection.",
		nil, nil)
)

func (c poolCollector) Describe(out chan<- *prometheus.Desc) {
	out <- descConns
	out <- descWaits
	out <- descWait
}

func (c poolCollector) Collect(out chan<- prometheus.Metric) {
	s := c.pool.Stat()
	gauge := func(state string, n int32) {
		out <- prometheus.MustNewConstMetric(descConns, prometheus.GaugeValue, float64(n), state)
	}
	gauge("busy", s.AcquiredConns())
	gauge("idle", s.IdleConns())
	gauge("limit", s.MaxConns())
	out <- prometheus.MustNewConstMetric(descWaits, prometheus.CounterValue, float64(s.EmptyAcquireCount()))
	out <- prometheus.MustNewConstMetric(descWait, prometheus.CounterValue, s.EmptyAcquireWaitTime().Seconds())
}
