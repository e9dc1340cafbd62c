package postgres

import (
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

const (
	defaultMaxConns = 16
	// maxTries bounds how often a transaction that met a deadlock or a serialisation failure is run.
	maxTries = 5
	// callTimeout bounds a transaction or statement whose caller set no deadline, so that an unreachable server blocks
	// no caller for ever.
	callTimeout = 15 * time.Second
)

// Config says how to reach the database.
type Config struct {
	URL        string                // postgres:// URL or keyword=value string
	MaxConns   int                   // 0 = 16
	Log        *zap.Logger           // nil = no logging
	Registerer prometheus.Registerer // nil = metrics are not published
	AppName    string                // shown in pg_stat_activity; "" = iris
	// KeyedPlans makes the planner use indexes for every statement (docs/adr/0013). Queues are empty when their
	// statements are planned, and may hold a million rows an hour later: a plan that reads whole tables would then be
	// far too slow.
	KeyedPlans bool
}

// DB is a pool of connections with the settings, retries, metrics and errors that all adapters share. It is safe for
// concurrent use. Calls with the context of a Unit work in its transaction: only one of them at a time.
type DB struct {
	pool    *pgxpool.Pool
	log     *zap.Logger
	metrics *metrics
	url     string
	timeout time.Duration // of calls without a deadline
	short   *shortage
}

// Open prepares a pool and returns at once: it fails on a malformed URL, never on an unreachable server. Connections
// are made when they are needed; Ping checks that.
func Open(ctx context.Context, c Config) (*DB, error) {
	if c.MaxConns <= 0 {
		c.MaxConns = defaultMaxConns
	}
	if c.Log == nil {
		c.Log = zap.NewNop()
	}
	if c.Registerer == nil {
		c.Registerer = prometheus.NewRegistry()
	}
	pc, err := pgxpool.ParseConfig(c.URL)
	if err != nil {
		return nil, malformedURL(err)
	}
	m, err := newMetrics(c.Registerer)
	if err != nil {
		return nil, err
	}
	d := &DB{log: c.Log.Named("postgres"), metrics: m, url: c.URL, timeout: callTimeout, short: &shortage{}}
	pc.MaxConns = int32(min(c.MaxConns, 1000))
	pc.MaxConnIdleTime = 5 * time.Minute
	pc.MaxConnLifetime = time.Hour
	pc.MaxConnLifetimeJitter = 10 * time.Minute
	pc.ConnConfig.Tracer = &tracer{metrics: m, short: d.short}
	pc.AfterConnect = d.checkDurability
	var planner map[string]string
	if c.KeyedPlans {
		planner = map[string]string{"enable_seqscan": "off", "enable_hashjoin": "off", "enable_mergejoin": "off",
			"plan_cache_mode": "force_generic_plan"}
	}
	configureSession(pc.ConnConfig, c.URL, c.AppName, planner)
	if d.pool, err = pgxpool.NewWithConfig(ctx, pc); err != nil {
		return nil, MapError(err)
	}
	if err := c.Registerer.Register(poolCollector{d.pool}); err != nil {
		d.pool.Close()
		return nil, err
	}
	return d, nil
}

// malformedURL repeats neither the URL nor pgx's text: both may contain the password. The name of a missing file is
// shown.
func malformedURL(err error) error {
	var file *fs.PathError
	if errors.As(err, &file) {
		return fault.Invalidf("database_url", "the database URL names a file that cannot be read: %s: %v", file.Path,
			file.Err)
	}
	return fault.Invalidf("database_url",
		"the database URL cannot be read; expected postgres://user:password@host:port/name")
}

// Close waits until all acquired connections are released, and closes them.
func (d *DB) Close() { d.pool.Close() }

// Ping reports whether the database answers now.
func (d *DB) Ping(ctx context.Context) error {
	ctx, cancel := d.bounded(ctx)
	defer cancel()
	return MapError(d.pool.Ping(ctx))
}

// Pool returns the pool itself, for work that needs a connection for longer than a transaction, and for tests.
func (d *DB) Pool() *pgxpool.Pool { return d.pool }

// Log returns the logger of the storage packages.
func (d *DB) Log() *zap.Logger { return d.log }

// Clock returns the time of the database, which all processes use to decide what is due.
func (d *DB) Clock(ctx context.Context) (time.Time, error) {
	return Read(ctx, d, (*db.Queries).ServerClock)
}

// Do runs statements that each commit by themselves. f must use the context that it gets: it always has a deadline.
// When a statement fails with a deadlock or a serialisation failure, or certainly did not reach the server, f is run
// again, up to five times: f must allow that it is repeated as a whole. Errors come back as faults. With the context of
// a Unit the statements are part of its transaction.
func (d *DB) Do(ctx context.Context, f func(context.Context, *db.Queries) error) error {
	return d.DoRaw(ctx, func(ctx context.Context, conn db.DBTX) error { return f(ctx, db.New(conn)) })
}

// DoRaw is Do for statements that are not generated.
func (d *DB) DoRaw(ctx context.Context, f func(context.Context, db.DBTX) error) error {
	ctx, cancel := d.bounded(ctx)
	defer cancel()
	if u := d.unitOf(ctx); u != nil { // a savepoint, so that a statement that fails does not end the transaction
		return d.retry(ctx, func() error { return inTx(ctx, u.tx, func(tx pgx.Tx) error { return f(ctx, tx) }) })
	}
	return d.retry(ctx, func() error { return f(ctx, d.pool) })
}

// DoOnConnection is Do on one connection that is acquired before f runs. So f knows when its statements are sent.
func (d *DB) DoOnConnection(ctx context.Context, f func(context.Context, *db.Queries) error) error {
	ctx, cancel := d.bounded(ctx)
	defer cancel()
	return d.retry(ctx, func() error {
		conn, err := d.pool.Acquire(ctx)
		if err != nil {
			return &notBegun{err}
		}
		defer conn.Release()
		return f(ctx, db.New(conn))
	})
}

// InTx runs f in a transaction (read committed) and commits when f returns nil. f must use the context that it gets: it
// always has a deadline. After a deadlock or a serialisation failure everything is rolled back and f is run again, up
// to five times: f must keep no state from a failed run. Errors come back as faults; a fault returned by f is returned
// as it is. With the context of a Unit the transaction is a savepoint: the changes of f are committed with the unit.
func (d *DB) InTx(ctx context.Context, f func(context.Context, *db.Queries) error) error {
	return d.InTxRaw(ctx, func(ctx context.Context, tx pgx.Tx) error { return f(ctx, db.New(tx)) })
}

// InTxRaw is InTx for statements that are not generated.
func (d *DB) InTxRaw(ctx context.Context, f func(context.Context, pgx.Tx) error) error {
	ctx, cancel := d.bounded(ctx)
	defer cancel()
	var from beginner = d.pool
	if u := d.unitOf(ctx); u != nil {
		from = u.tx
	}
	return d.retry(ctx, func() error {
		return inTx(ctx, from, func(tx pgx.Tx) error { return f(ctx, tx) })
	})
}

// beginner begins transactions: a pool, or a transaction, which begins a savepoint.
type beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

func inTx(ctx context.Context, from beginner, f func(pgx.Tx) error) error {
	tx, err := from.Begin(ctx)
	if err != nil {
		return &notBegun{err}
	}
	defer rollback(ctx, tx)
	if err := f(tx); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// notBegun marks an error that came before anything was done.
type notBegun struct{ error }

func (e *notBegun) Unwrap() error { return e.error }

// rollback rolls an uncommitted transaction back. It must reach the server even when ctx has ended, else the pool loses
// the connection. If it cannot, pgx closes the connection, which rolls back as well. After a commit it does nothing.
func rollback(ctx context.Context, tx pgx.Tx) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = tx.Rollback(ctx)
}

func (d *DB) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, set := ctx.Deadline(); set {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d.timeout)
}

func (d *DB) retry(ctx context.Context, f func() error) error {
	for try := 1; ; try++ {
		err := f()
		if err == nil {
			return nil
		}
		if try == maxTries || !repeatable(err) {
			return MapError(err)
		}
		d.metrics.retries.WithLabelValues(SqlState(err)).Inc()
		if strings.HasPrefix(SqlState(err), "57P") { // the server was restarted: the other connections are dead as well
			d.pool.Reset()
		}
		// 2-4 ms, 4-8 ms, 8-16 ms ...: long enough for the other transaction to finish, short compared with a page.
		pause := time.Duration((1 + rand.Float64()) * float64(time.Millisecond<<try))
		select {
		case <-ctx.Done():
			return MapError(err)
		case <-time.After(pause):
		}
	}
}

// repeatable reports whether the same work may succeed when it is simply run again.
func repeatable(err error) bool {
	var f *fault.Error
	if errors.As(err, &f) && f.Err == nil {
		return false
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	var early *notBegun
	if errors.As(err, &early) {
		return !fault.Is(MapError(err), fault.Internal)
	}
	switch SqlState(err) {
	case "40P01", "40001":
		return true
	case "0A000": // "cached plan must not change result type", after a migration
		return strings.Contains(err.Error(), "cached plan")
	case "":
		return pgconn.SafeToRetry(err)
	}
	return false
}

// checkDurability checks, on a fresh connection, whether commits survive the loss of this server and whether lower()
// folds names of all languages.
func (d *DB) checkDurability(ctx context.Context, conn *pgx.Conn) error {
	if !d.metrics.durabilityDue() {
		return nil
	}
	var commit string
	var standbys, letters bool
	err := conn.QueryRow(ctx, `-- name: CheckDurability :one
select current_setting('synchronous_commit'), current_setting('synchronous_standby_names') <> '', lower('Ü') = 'ü'`).Scan(&commit, &standbys, &letters)
	if err != nil {
		return err
	}
	if d.metrics.setDurability(commit != "off", standbys) {
		if commit == "off" {
			d.log.Warn("synchronous_commit is off: a crash of the database can lose accepted incidents")
		}
		if !standbys {
			d.log.Warn("only one database server holds the data: configure a synchronous standby for production")
		}
		if !letters {
			d.log.Warn("the database folds the case of ASCII letters only: create it with lc_ctype C.UTF-8, else names with other letters are compared with case")
		}
	}
	return nil
}
