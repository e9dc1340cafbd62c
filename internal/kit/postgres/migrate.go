package postgres

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/migrations"
)

// Migrate applies the migrations of this binary and makes sure that the installation has its secret. Any number of
// processes may call it at once: one migrates, the others wait. It does not change a newer schema, and returns an error
// if this binary cannot run on that.
func Migrate(ctx context.Context, url string, log *zap.Logger) error {
	return migrate(ctx, url, log, migrations.Files)
}

func migrate(ctx context.Context, url string, log *zap.Logger, files fs.FS) error {
	if log == nil {
		log = zap.NewNop()
	}
	log = log.Named("migrate")
	cc, err := pgx.ParseConfig(url)
	if err != nil {
		return malformedURL(err)
	}
	configureSession(cc, url, "iris migrate", map[string]string{"statement_timeout": "0", "lock_timeout": "10000",
		"idle_in_transaction_session_timeout": "0"})
	if err := checkPooler(ctx, cc); err != nil {
		return err
	}
	conn := stdlib.OpenDB(*cc)
	defer func() { _ = conn.Close() }()
	if err := conn.PingContext(ctx); err != nil {
		return MapError(err)
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, conn, files, goose.WithSessionLocker(migrationLock{}))
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	if err := continueSquashed(ctx, conn, log); err != nil {
		return MapError(err)
	}
	results, err := provider.Up(ctx)
	for _, r := range results {
		log.Info("migration applied", zap.Int64("version", r.Source.Version), zap.Duration("took", r.Duration))
	}
	if err != nil {
		return migrationFault(err)
	}
	have, err := provider.GetDBVersion(ctx)
	if err != nil {
		return MapError(err)
	}
	if want := newestOf(files); have > want {
		fits := false
		if err := conn.QueryRowContext(ctx, newerSchemaFits, want).Scan(&fits); err != nil && SqlState(err) != undefinedTable {
			return MapError(err)
		}
		if !fits {
			return Schema{Have: have, Want: want}.tooNew(fault.Conflict)
		}
	}
	return createInstallation(ctx, cc)
}

const (
	migrationLockKey     = 0x69726973 // of this database only
	migrationLockEvery   = 100 * time.Millisecond
	migrationLockPatient = 10 * time.Minute
)

// migrationLock lets one process migrate at a time. It polls instead of waiting in the database, because a waiting
// statement is an open transaction that `create index concurrently` would wait for. goose's own lock polls only once a
// second, which would delay processes that start together.
type migrationLock struct{}

// SessionLock implements lock.SessionLocker.
func (migrationLock) SessionLock(ctx context.Context, conn *sql.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, migrationLockPatient)
	defer cancel()
	for {
		var got bool
		err := conn.QueryRowContext(ctx, "select pg_try_advisory_lock($1)", migrationLockKey).Scan(&got)
		if err != nil || got {
			return err
		}
		select {
		case <-ctx.Done():
			return fault.Wrap(fault.Unavailable, ctx.Err(),
				"another process has been migrating the database for too long")
		case <-time.After(migrationLockEvery):
		}
	}
}

// SessionUnlock implements lock.SessionLocker.
func (migrationLock) SessionUnlock(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, "select pg_advisory_unlock($1)", migrationLockKey)
	return err
}

// migrationFault names the migration that failed; the server's own text is the cause.
func migrationFault(err error) error {
	var partial *goose.PartialError
	if errors.As(err, &partial) && partial.Failed != nil {
		kind := fault.KindOf(MapError(partial.Err))
		return fault.Wrap(kind, err, fmt.Sprintf("migration %d did not succeed; what went before it is kept",
			partial.Failed.Source.Version))
	}
	return MapError(err)
}

// createInstallation writes the installation's name and secret once. The name labels the
// gossip of the cluster, so that two installations on one network do not mix.
func createInstallation(ctx context.Context, cc *pgx.ConnConfig) error {
	conn, err := pgx.ConnectConfig(ctx, cc)
	if err != nil {
		return MapError(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	secret := make([]byte, 32)
	label := make([]byte, 4)
	_, _ = rand.Read(secret) // crypto/rand never fails
	_, _ = rand.Read(label)
	return MapError(db.New(conn).CreateInstallation(ctx, db.CreateInstallationParams{
		Name: "iris-" + hex.EncodeToString(label), Secret: secret,
	}))
}

// newestOf returns the number of the newest migration.
func newestOf(files fs.FS) int64 {
	names, _ := fs.Glob(files, "*.sql")
	var newest int64
	for _, name := range names {
		digits, _, _ := strings.Cut(name, "_")
		if n, err := strconv.ParseInt(digits, 10, 64); err == nil {
			newest = max(newest, n)
		}
	}
	return newest
}

// Schema compares the database's schema with the one this binary carries.
type Schema struct {
	Have int64 // the newest migration in the database, 0 = empty database
	Want int64 // the newest migration of this binary
	// Fits reports whether this binary can run on the database: the schemas are the same, or the database's is newer
	// and every newer migration recorded that this release still works (table schema_compatibility).
	Fits bool
}

const undefinedTable = "42P01"

// newerSchemaFits reports whether every migration after $1 recorded that programs of schema $1 can run. sqlc does not
// know the table of goose, so this statement is not generated.
const newerSchemaFits = `-- name: NewerSchemaFits :one
select bool_and(coalesce(c.oldest <= $1, false))
from goose_db_version g left join schema_compatibility c on c.version = g.version_id
where g.is_applied and g.version_id > $1`

// SchemaState compares the schemas. Older (Have < Want): run `iris migrate`.
func (d *DB) SchemaState(ctx context.Context) (Schema, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	s := Schema{Want: newestOf(migrations.Files)}
	err := d.pool.QueryRow(ctx, `-- name: SchemaVersion :one
select coalesce(max(version_id), 0) from goose_db_version where is_applied`).Scan(&s.Have)
	switch {
	case SqlState(err) == undefinedTable:
		return s, nil
	case err != nil:
		return s, MapError(err)
	case s.Have > s.Want:
		err = d.pool.QueryRow(ctx, newerSchemaFits, s.Want).Scan(&s.Fits)
		if SqlState(err) == undefinedTable {
			return s, nil
		}
		return s, MapError(err)
	}
	s.Fits = s.Have == s.Want
	return s, nil
}

func (s Schema) tooNew(kind fault.Kind) error {
	return fault.Newf(kind, "the database has schema %d, and this program (schema %d) cannot run on it: use the newer release", s.Have, s.Want)
}

// CheckSchema returns nil when this binary can run on the database's schema, and otherwise a fault that says what to
// do.
func (d *DB) CheckSchema(ctx context.Context) error {
	s, err := d.SchemaState(ctx)
	switch {
	case err != nil:
		return err
	case s.Have < s.Want:
		return fault.Newf(fault.Unavailable, "the database has schema %d, this program needs %d: run: iris migrate",
			s.Have, s.Want)
	case !s.Fits:
		return s.tooNew(fault.Unavailable)
	}
	return nil
}
