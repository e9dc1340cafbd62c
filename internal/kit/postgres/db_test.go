package postgres_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

func TestOpenDoesNotNeedTheServer(t *testing.T) {
	t.Parallel()
	d, err := postgres.Open(t.Context(), postgres.Config{URL: "postgres://u:geheim@127.0.0.1:1/x"})
	require.NoError(t, err)
	defer d.Close()
	err = d.Ping(t.Context())
	require.Equal(t, fault.Unavailable, fault.KindOf(err))
	require.NotContains(t, err.Error(), "geheim")

	_, err = postgres.Open(t.Context(), postgres.Config{URL: "postgres://u:geheim@h:nope/x"})
	require.Equal(t, fault.Invalid, fault.KindOf(err))
	require.NotContains(t, err.Error(), "geheim")
}

func TestSessionSettings(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	for name, want := range map[string]string{
		"jit": "off", "statement_timeout": "5s", "lock_timeout": "1s", "TimeZone": "UTC",
		"idle_in_transaction_session_timeout": "10s", "application_name": "iris",
	} {
		var got string
		require.NoError(t, d.Pool().QueryRow(t.Context(), "select current_setting($1)", name).Scan(&got))
		require.Equal(t, want, got, name)
	}
}

func TestURLSettingsWin(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	sep := "?"
	if strings.Contains(url, "?") {
		sep = "&"
	}
	d := pgtest.Open(t, url+sep+"statement_timeout=7000", postgres.Config{})
	var got string
	require.NoError(t, d.Pool().QueryRow(t.Context(), "show statement_timeout").Scan(&got))
	require.Equal(t, "7s", got)
}

func TestReadOnlyServerIsRefused(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	admin := pgtest.Open(t, url, postgres.Config{})
	var name string
	require.NoError(t, admin.Pool().QueryRow(t.Context(), "select current_database()").Scan(&name))
	_, err := admin.Pool().Exec(t.Context(), "alter database "+name+" set default_transaction_read_only = on")
	require.NoError(t, err)

	d := pgtest.Open(t, url, postgres.Config{})
	require.Equal(t, fault.Unavailable, fault.KindOf(d.Ping(t.Context())))
}

func TestDeadlocksAreRetried(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	_, err := d.Pool().Exec(t.Context(),
		"create table pair (id int primary key, n int not null); insert into pair values (1, 0), (2, 0)")
	require.NoError(t, err)
	_, err = d.Pool().Exec(t.Context(), "do $$ begin execute format('alter database %I set deadlock_timeout = ''20ms''', current_database()); end $$")
	require.NoError(t, err)
	d.Pool().Reset()

	var wg sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		wg.Go(func() {
			first, second := 1, 2
			if i%2 == 1 {
				first, second = 2, 1
			}
			errs[i] = d.InTxRaw(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
				for _, id := range []int{first, second} {
					if _, err := tx.Exec(t.Context(), "update pair set n = n + 1 where id = $1", id); err != nil {
						return err
					}
				}
				return nil
			})
		})
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	var sum int
	require.NoError(t, d.Pool().QueryRow(t.Context(), "select sum(n) from pair").Scan(&sum))
	require.Equal(t, 8, sum)
}

func TestErrorsBecomeFaultsWithoutSQL(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	run := func(sql string, args ...any) error {
		return d.InTxRaw(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), sql, args...)
			return err
		})
	}
	require.NoError(t, run("insert into users (name) values ('ann')"))
	for sql, want := range map[string]fault.Kind{
		"insert into users (name) values ('ANN')":                                            fault.Conflict,
		"insert into users (name) values ('')":                                               fault.Invalid,
		"insert into user_contacts (user_id, mode, destination) values (99, 'email', 'a@b')": fault.Invalid,
		"delete from modes where name = 'drop'":                                              "",
		"delete from modes where name = 'sms'":                                               fault.Conflict,
		"select * from nowhere":                                                              fault.Unavailable,
		"select 'x'::int":                                                                    fault.Invalid,
		"selec":                                                                              fault.Internal,
	} {
		err := run(sql)
		require.Equal(t, want, fault.KindOf(err), sql)
		if err != nil {
			var f *fault.Error
			require.ErrorAs(t, err, &f)
			require.NotContains(t, f.Message, "insert")
			require.NotContains(t, f.Message, "users")
		}
	}
	own := fault.Invalidf("x", "own words")
	require.Same(t, own, d.InTx(t.Context(), func(context.Context, *db.Queries) error { return own }))
	require.Equal(t, fault.NotFound, fault.KindOf(d.InTx(t.Context(),
		func(context.Context, *db.Queries) error { return pgx.ErrNoRows })))
	plain := errors.New("boom")
	err := d.InTx(t.Context(), func(context.Context, *db.Queries) error { return plain })
	require.ErrorIs(t, err, plain)
	require.Equal(t, fault.Internal, fault.KindOf(err))
}

func TestQueriesAreMeasuredByName(t *testing.T) {
	t.Parallel()
	r := prometheus.NewPedanticRegistry()
	d := pgtest.Open(t, pgtest.URL(t), postgres.Config{Registerer: r})
	now, err := d.Clock(t.Context())
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), now, time.Minute)

	families, err := r.Gather()
	require.NoError(t, err)
	var names []string
	for _, f := range families {
		if f.GetName() == "iris_postgres_query_seconds" {
			for _, m := range f.GetMetric() {
				names = append(names, m.GetLabel()[0].GetValue())
			}
		}
	}
	require.Contains(t, names, "ServerClock")
	problems, err := testutil.GatherAndLint(r)
	require.NoError(t, err)
	require.Empty(t, problems)
}

func TestTransactionsSurviveARestartOfTheServer(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	d := pgtest.Open(t, url, postgres.Config{})
	var wg sync.WaitGroup
	for range 8 { // fill the pool
		wg.Go(func() {
			_, err := d.Pool().Exec(t.Context(), "select pg_sleep(0.05)")
			require.NoError(t, err)
		})
	}
	wg.Wait()
	require.Greater(t, d.Pool().Stat().TotalConns(), int32(1))
	killer := pgtest.Open(t, url, postgres.Config{AppName: "killer"})
	_, err := killer.Pool().Exec(t.Context(), `select pg_terminate_backend(pid) from pg_stat_activity
		where datname = current_database() and application_name = 'iris'`)
	require.NoError(t, err)
	for range 8 {
		wg.Go(func() {
			require.NoError(t, d.InTx(t.Context(), func(ctx context.Context, q *db.Queries) error {
				_, err := q.ServerClock(t.Context())
				return err
			}))
		})
	}
	wg.Wait()

	// A transaction that lost its connection is not run again, because it may have been committed.
	runs := 0
	err = d.InTxRaw(t.Context(), func(ctx context.Context, tx pgx.Tx) error {
		runs++
		_, err := tx.Exec(t.Context(), "select pg_terminate_backend(pg_backend_pid())")
		return err
	})
	require.Equal(t, fault.Unavailable, fault.KindOf(err))
	require.Equal(t, 1, runs)
}

func TestTransactionsEndWhenTheCallerCancelsOrPanics(t *testing.T) {
	t.Parallel()
	d := pgtest.Open(t, pgtest.URL(t), postgres.Config{MaxConns: 1})
	ctx, cancel := context.WithCancel(t.Context())
	err := d.InTxRaw(ctx, func(ctx context.Context, tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "insert into users (name) values ('ghost')")
		require.NoError(t, err)
		cancel()
		_, err = tx.Exec(ctx, "select 1")
		return err
	})
	require.Equal(t, fault.Unavailable, fault.KindOf(err))
	require.ErrorIs(t, err, context.Canceled)
	require.Panics(t, func() {
		_ = d.InTxRaw(t.Context(), func(ctx context.Context, tx pgx.Tx) error { panic("boom") })
	})
	var n int
	require.NoError(t, d.Pool().QueryRow(t.Context(), "select count(*) from users").Scan(&n),
		"the connection came back")
	require.Zero(t, n)
}

func TestADatabaseWithAnASCIIOnlyLocaleIsLogged(t *testing.T) {
	t.Parallel()
	address := pgtest.URL(t)
	admin := pgtest.Open(t, address, postgres.Config{})
	var name string
	require.NoError(t, admin.Pool().QueryRow(t.Context(), "select current_database()").Scan(&name))
	other := name + "_ascii"
	_, err := admin.Pool().Exec(t.Context(), "create database "+other+
		" template template0 encoding 'UTF8' lc_collate 'C' lc_ctype 'C'")
	require.NoError(t, err)
	t.Cleanup(func() {
		_, err := admin.Pool().Exec(context.WithoutCancel(t.Context()), "drop database "+other+" with (force)")
		require.NoError(t, err)
	})
	for database, warned := range map[string]int{name: 0, other: 1} {
		core, lines := observer.New(zap.WarnLevel)
		at, err := url.Parse(address)
		require.NoError(t, err)
		at.Path = "/" + database
		d := pgtest.Open(t, at.String(), postgres.Config{Log: zap.New(core)})
		require.NoError(t, d.Ping(t.Context()))
		require.Equal(t, warned, lines.FilterMessageSnippet("ASCII letters only").Len(), database)
		d.Close()
	}
}

// A statement that its own session cancels fails as one that reached statement_timeout.
func TestAListThatTakesTooLongSaysHowToNarrowIt(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	_, err := postgres.List(t.Context(), d, "select pg_cancel_backend(pg_backend_pid()), pg_sleep(60)", nil,
		pgx.RowTo[bool])
	require.Equal(t, fault.Unavailable, fault.KindOf(err))
	require.Contains(t, fault.Public(err), "add a filter, a shorter time range or a limit")
}
