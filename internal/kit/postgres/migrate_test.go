package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/migrations"
)

func TestMigrateFromEmptyWithFourStarters(t *testing.T) {
	t.Parallel()
	url := pgtest.EmptyURL(t)
	d := pgtest.Open(t, url, postgres.Config{})

	schema, err := d.SchemaState(t.Context())
	require.NoError(t, err)
	require.Zero(t, schema.Have)
	require.Positive(t, schema.Want)
	err = d.CheckSchema(t.Context())
	require.ErrorContains(t, err, "run: iris migrate")
	require.Equal(t, fault.Unavailable, fault.KindOf(err))

	errs := make([]error, 4)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = postgres.Migrate(t.Context(), url, nil) })
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	schema, err = d.SchemaState(t.Context())
	require.NoError(t, err)
	require.Equal(t, schema.Want, schema.Have)
	require.True(t, schema.Fits)
	require.NoError(t, d.CheckSchema(t.Context()))

	var installations int
	require.NoError(t, d.Pool().QueryRow(t.Context(), "select count(*) from installation").Scan(&installations))
	require.Equal(t, 1, installations)
}

func TestServersRunOnANewerSchemaThatAllowsThem(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	d := pgtest.Open(t, url, postgres.Config{})
	apply := func(version, oldest int64) {
		_, err := d.Pool().Exec(t.Context(), "insert into goose_db_version (version_id, is_applied) values ($1, true)",
			version)
		require.NoError(t, err)
		if oldest > 0 {
			_, err = d.Pool().Exec(t.Context(), "insert into schema_compatibility (version, oldest) values ($1, $2)",
				version, oldest)
			require.NoError(t, err)
		}
	}
	s, err := d.SchemaState(t.Context())
	require.NoError(t, err)
	want := s.Want

	apply(990, want)
	apply(991, want-1)
	require.NoError(t, d.CheckSchema(t.Context()))
	require.NoError(t, postgres.Migrate(t.Context(), url, nil))
	s, err = d.SchemaState(t.Context())
	require.NoError(t, err)
	require.Equal(t, postgres.Schema{Have: 991, Want: want, Fits: true}, s)

	apply(992, want+1)
	require.ErrorContains(t, d.CheckSchema(t.Context()), "use the newer release")
	err = postgres.Migrate(t.Context(), url, nil)
	require.ErrorContains(t, err, "use the newer release")
	require.Equal(t, fault.Conflict, fault.KindOf(err))
}

func TestOlderServersRefuseAMigrationThatDoesNotAllowThem(t *testing.T) {
	t.Parallel()
	d := pgtest.Open(t, pgtest.URL(t), postgres.Config{})
	_, err := d.Pool().Exec(t.Context(), "insert into goose_db_version (version_id, is_applied) values (999, true)")
	require.NoError(t, err)
	require.ErrorContains(t, d.CheckSchema(t.Context()), "use the newer release")
}

// Every migration records the oldest release that can run on it, and the previous release must be able to run.
func TestEveryMigrationRecordsTheOldestReleaseThatCanRun(t *testing.T) {
	t.Parallel()
	d := pgtest.Open(t, pgtest.URL(t), postgres.Config{})
	rows, err := d.Pool().Query(t.Context(),
		`select g.version_id, coalesce(c.oldest, 0), coalesce(lag(g.version_id) over (order by g.version_id), 0)
		from goose_db_version g left join schema_compatibility c on c.version = g.version_id order by 1`)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var version, oldest, before int64
		require.NoError(t, rows.Scan(&version, &oldest, &before))
		if version == 0 {
			continue // goose's own row
		}
		require.Positive(t, oldest, "migration %d records nothing: insert into schema_compatibility (version, oldest)",
			version)
		if before > 0 { // the first file makes a new database, which no release runs on
			require.LessOrEqual(t, oldest, before, "migration %d does not keep the release before it working", version)
		}
	}
	require.NoError(t, rows.Err())
}

func TestMigrateReportsErrorsWithoutThePassword(t *testing.T) {
	t.Parallel()
	err := postgres.Migrate(t.Context(), "postgres://u:geheim@[::bad", nil)
	require.Equal(t, fault.Invalid, fault.KindOf(err))
	require.NotContains(t, err.Error(), "geheim")

	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	err = postgres.Migrate(ctx, "postgres://u:geheim@127.0.0.1:1/x", nil)
	require.Equal(t, fault.Unavailable, fault.KindOf(err))
	require.NotContains(t, err.Error(), "geheim")
}

func TestMigrationsGoDownAndUpAgain(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	cc, err := pgx.ParseConfig(url)
	require.NoError(t, err)
	conn := stdlib.OpenDB(*cc)
	defer func() { require.NoError(t, conn.Close()) }()
	p, err := goose.NewProvider(goose.DialectPostgres, conn, migrations.Files)
	require.NoError(t, err)
	_, err = p.DownTo(t.Context(), 0)
	require.NoError(t, err)
	var left []string
	rows, err := conn.QueryContext(t.Context(),
		`select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where n.nspname = 'public' and c.relname not like 'goose%'`)
	require.NoError(t, err)
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		left = append(left, name)
	}
	require.NoError(t, rows.Err())
	require.Empty(t, left)
	require.NoError(t, postgres.Migrate(t.Context(), url, nil))
}
