package postgres_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/migrations"
)

// catalog has one line for each fact of a schema. Names of tables and functions come with each fact, so that a
// difference can be read. Bodies of functions are compared without white space. The order of columns does not count.
const catalog = `
with mine as (select c.* from pg_class c where c.relnamespace = 'public'::regnamespace and c.relname not like 'goose\_db\_version%')
select format('%s %s persistence=%s options=%s partition=%s key=%s', c.relkind, c.relname, c.relpersistence, array(select unnest(c.reloptions) order by 1),
	pg_get_expr(c.relpartbound, c.oid), pg_get_partkeydef(c.oid)) from mine c
union all
select format('column %s.%s %s null=%s default=%s identity=%s generated=%s storage=%s collation=%s', c.relname, a.attname,
	format_type(a.atttypid, a.atttypmod), not a.attnotnull, pg_get_expr(d.adbin, d.adrelid), a.attidentity, a.attgenerated, a.attstorage,
	a.attcollation::regcollation)
from mine c join pg_attribute a on a.attrelid = c.oid left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
where a.attnum > 0 and not a.attisdropped and c.relkind in ('r', 'p', 'v')
union all
select format('constraint %s.%s %s', c.relname, k.conname, pg_get_constraintdef(k.oid)) from mine c join pg_constraint k on k.conrelid = c.oid
union all
select 'index ' || pg_get_indexdef(i.indexrelid) || case when i.indisvalid then '' else ' INVALID' end from mine c join pg_index i on i.indrelid = c.oid
union all
select format('trigger %s enabled=%s', pg_get_triggerdef(t.oid), t.tgenabled) from mine c join pg_trigger t on t.tgrelid = c.oid where not t.tgisinternal
union all
select format('view %s %s', c.relname, pg_get_viewdef(c.oid)) from mine c where c.relkind = 'v'
union all
select format('function %s(%s) returns %s %s %s strict=%s parallel=%s security=%s config=%s %s', p.proname, pg_get_function_arguments(p.oid),
	pg_get_function_result(p.oid), l.lanname, p.provolatile, p.proisstrict, p.proparallel, p.prosecdef, p.proconfig, regexp_replace(p.prosrc, '\s+', '', 'g'))
from pg_proc p join pg_language l on l.oid = p.prolang where p.pronamespace = 'public'::regnamespace
union all
select format('sequence %s type=%s start=%s increment=%s min=%s max=%s cycle=%s cache=%s', c.relname, s.seqtypid::regtype, s.seqstart,
	s.seqincrement, s.seqmin, s.seqmax, s.seqcycle, s.seqcache)
from mine c join pg_sequence s on s.seqrelid = c.oid
union all
select format('comment %s %s: %s', (pg_identify_object(d.classoid, d.objoid, d.objsubid)).type,
	(pg_identify_object(d.classoid, d.objoid, d.objsubid)).identity, d.description)
from pg_description d where d.classoid in ('pg_class'::regclass, 'pg_proc'::regclass, 'pg_constraint'::regclass, 'pg_trigger'::regclass)
	and (pg_identify_object(d.classoid, d.objoid, d.objsubid)).schema = 'public'
union all
select format('type %s %s', t.typname, t.typtype) from pg_type t where t.typnamespace = 'public'::regnamespace and t.typtype not in ('c', 'b')
union all
select format('extension %s', e.extname) from pg_extension e
order by 1`

// volatile are columns whose values differ between any two installations.
var volatile = []string{"created_at", "updated_at", "changed_at", "last_at", "since"}

func TestSquashedMigrationsMakeTheSchemaOfTheEarlierOnes(t *testing.T) {
	t.Parallel()
	before, after := schemaLines(t, beforeSquash(t, 0)), schemaLines(t, afterSquash(t))
	require.Greater(t, len(before), 1500, "the query reads the catalogs")
	// The comment names the package that reads the column, which was moved.
	require.Equal(t, []string{
		"- comment table column public.statistics_days.body: written and read by internal/postgres/statistics",
		"+ comment table column public.statistics_days.body: written and read by internal/system/pg",
	}, differences(before, after))
}

func TestSquashedMigrationsInsertTheRowsOfTheEarlierOnes(t *testing.T) {
	t.Parallel()
	require.Empty(t, differences(seedRows(t, beforeSquash(t, 0)), seedRows(t, afterSquash(t))))
}

// A database of each kind goes on with the migrations after the squash, and with one more than this binary has: one
// with the last schema before the squash, and a new one.
func TestDatabasesFromBeforeTheSquashContinue(t *testing.T) {
	t.Parallel()
	all := fstest.MapFS{}
	copyFiles(t, all, migrations.Files)
	newest, err := strconv.ParseInt(slices.Max(slices.Collect(maps.Keys(all)))[:4], 10, 64)
	require.NoError(t, err)
	next := maps.Clone(all)
	next[fmt.Sprintf("%04d_next.sql", newest+1)] = &fstest.MapFile{Data: fmt.Appendf(nil, "-- +goose Up\ncreate table made_later (id int);\n"+
		"insert into schema_compatibility (version, oldest) values (%d, %d);\n-- +goose Down\ndrop table made_later;\n", newest+1, newest)}
	for name, url := range map[string]string{"before the squash": beforeSquash(t, 0), "new": afterSquash(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := pgtest.Open(t, url, postgres.Config{})
			schema := schemaLines(t, url)
			require.NoError(t, postgres.MigrateFiles(t.Context(), url, squashed(t)))
			require.Equal(t, schema, schemaLines(t, url), "the squash changes no schema")
			var unfit int
			require.NoError(t, d.Pool().QueryRow(t.Context(),
				`select count(*) from goose_db_version g left join schema_compatibility c
				on c.version = g.version_id where g.version_id > 193 and c.oldest is distinct from 193`).Scan(&unfit))
			require.Zero(t, unfit, "programs of the oldest release that can run on the schema still run")

			require.NoError(t, postgres.Migrate(t.Context(), url, nil))
			state, err := d.SchemaState(t.Context())
			require.NoError(t, err)
			require.Equal(t, postgres.Schema{Have: newest, Want: newest, Fits: true}, state)

			require.NoError(t, postgres.MigrateFiles(t.Context(), url, next))
			require.NoError(t, postgres.MigrateFiles(t.Context(), url, next), "again")
			state, err = d.SchemaState(t.Context())
			require.NoError(t, err)
			require.Equal(t, postgres.Schema{Have: newest + 1, Want: newest, Fits: true}, state)
			require.NoError(t, postgres.Migrate(t.Context(), url, nil), "the release before that migration")
			var rows int
			require.NoError(t, d.Pool().QueryRow(t.Context(),
				"select count(*) from goose_db_version where version_id >= 276").Scan(&rows))
			require.Equal(t, len(next), rows)
		})
	}
}

// The schemas 1, 26 (before schema_compatibility), 240 and 275 lack migrations that only a build before the squash has.
func TestDatabasesOfAnOlderSchemaAreRefused(t *testing.T) {
	t.Parallel()
	for _, version := range []int64{1, 26, 240, 275} {
		t.Run(strconv.FormatInt(version, 10), func(t *testing.T) {
			t.Parallel()
			url := beforeSquash(t, version)
			schema := schemaLines(t, url)
			err := postgres.Migrate(t.Context(), url, nil)
			require.Equal(t, fault.Conflict, fault.KindOf(err))
			require.ErrorContains(t, err,
				fmt.Sprintf("nothing was migrated: the database has schema %d, and this release continues from schema 285 only: "+
					"run `iris migrate` of a build of commit f6a4e25c first", version))
			require.Equal(t, schema, schemaLines(t, url))
			require.ErrorContains(t, pgtest.Open(t, url, postgres.Config{}).CheckSchema(t.Context()),
				"run: iris migrate")

			// The build before the squash continues, and then this one.
			migrateBeforeSquash(t, url, 0)
			require.NoError(t, postgres.Migrate(t.Context(), url, nil))
			migrateBeforeSquash(t, url, 0) // still works
		})
	}
}

// A new database whose first migration was interrupted is no database from before the squash.
func TestAnInterruptedFirstMigrationContinues(t *testing.T) {
	t.Parallel()
	url := pgtest.EmptyURL(t)
	first := fstest.MapFS{}
	copyFiles(t, first, migrations.Files)
	maps.DeleteFunc(first, func(name string, _ *fstest.MapFile) bool { return name > "0279" })
	require.NoError(t, migrateTo(t, url, first, 0))
	require.NoError(t, postgres.Migrate(t.Context(), url, nil))
	require.NoError(t, pgtest.Open(t, url, postgres.Config{}).CheckSchema(t.Context()))
}

// beforeSquash returns the URL of a database that a build before the squash migrated, up to a version if it is not 0.
func beforeSquash(t *testing.T, version int64) string {
	t.Helper()
	url := pgtest.EmptyURL(t)
	migrateBeforeSquash(t, url, version)
	return url
}

// afterSquash returns the URL of a new database with the squashed migrations, without the later ones.
func afterSquash(t *testing.T) string {
	t.Helper()
	url := pgtest.EmptyURL(t)
	require.NoError(t, postgres.MigrateFiles(t.Context(), url, squashed(t)))
	return url
}

// squashed returns the squashed migrations, without the later ones.
func squashed(t *testing.T) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	copyFiles(t, files, migrations.Files)
	maps.DeleteFunc(files, func(name string, _ *fstest.MapFile) bool { return name > "0286" })
	require.Len(t, files, 10)
	return files
}

func migrateBeforeSquash(t *testing.T, url string, version int64) {
	t.Helper()
	files := fstest.MapFS{}
	f, err := os.Open("testdata/migrations_before_squash.tar.gz")
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if h.Typeflag != tar.TypeReg {
			continue
		}
		text, err := io.ReadAll(r)
		require.NoError(t, err)
		files[h.Name] = &fstest.MapFile{Data: text}
	}
	require.Len(t, files, 95)
	require.NoError(t, migrateTo(t, url, files, version))
}

func migrateTo(t *testing.T, url string, files fs.FS, version int64) error {
	t.Helper()
	cc, err := pgx.ParseConfig(url)
	require.NoError(t, err)
	conn := stdlib.OpenDB(*cc)
	defer func() { require.NoError(t, conn.Close()) }()
	p, err := goose.NewProvider(goose.DialectPostgres, conn, files)
	require.NoError(t, err)
	if version == 0 {
		_, err = p.Up(t.Context())
	} else {
		_, err = p.UpTo(t.Context(), version)
	}
	return err
}

func copyFiles(t *testing.T, to fstest.MapFS, from fs.FS) {
	t.Helper()
	names, err := fs.Glob(from, "*.sql")
	require.NoError(t, err)
	for _, name := range names {
		text, err := fs.ReadFile(from, name)
		require.NoError(t, err)
		to[name] = &fstest.MapFile{Data: text}
	}
}

func schemaLines(t *testing.T, url string) []string {
	t.Helper()
	rows, err := pgtest.Open(t, url, postgres.Config{}).Pool().Query(t.Context(), catalog)
	require.NoError(t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return lines
}

// seedRows returns the rows of all tables, except the records of the migrations and what differs between any two
// installations.
func seedRows(t *testing.T, url string) []string {
	t.Helper()
	pool := pgtest.Open(t, url, postgres.Config{}).Pool()
	rows, err := pool.Query(t.Context(),
		`select relname from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
		and relname not in ('goose_db_version', 'schema_compatibility', 'installation')`)
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.NotEmpty(t, tables)
	var out []string
	for _, table := range tables {
		rows, err := pool.Query(t.Context(), "select $1::text || ' ' || (to_jsonb(r) - $2::text[]) from "+
			pgx.Identifier{table}.Sanitize()+" r", table, volatile)
		require.NoError(t, err)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		out = append(out, lines...)
	}
	require.Greater(t, len(out), 256, "at least the rows of the buckets")
	slices.Sort(out)
	return out
}

// differences returns the lines of one side only: "- line" of before, "+ line" of after.
func differences(before, after []string) []string {
	var out []string
	for _, line := range before {
		if !slices.Contains(after, line) {
			out = append(out, "- "+line)
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			out = append(out, "+ "+line)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return strings.Compare(a[2:], b[2:]) })
	return out
}
