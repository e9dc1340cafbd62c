package postgres

import (
	"context"
	"database/sql"
	"errors"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// The migrations before the first release were squashed into the files from firstSquashed to lastSquashed. Their schema
// is that of migration 285 before the squash, which was the last one. No migration before the squash has a number
// between the two.
const (
	firstSquashed = 276
	lastSquashed  = 285
	// lastBuildBefore is the last commit whose `iris migrate` has the migrations before the squash.
	lastBuildBefore = "f6a4e25c"
)

// continueSquashed lets a database from before the squash continue with the migrations after it: it records the
// squashed files as applied, in one transaction. The schema does not change, and the rows of the earlier migrations
// stay, so `iris migrate` of a build before the squash still works. It returns a Conflict fault if the database does
// not have all earlier migrations. It changes nothing in other databases. It holds the migration lock meanwhile, and
// comes before goose, which refuses gaps in the numbers.
func continueSquashed(ctx context.Context, db *sql.DB, log *zap.Logger) (err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := (migrationLock{}).SessionLock(ctx, conn); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, migrationLock{}.SessionUnlock(context.WithoutCancel(ctx), conn)) }()
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // without effect after the commit
	var newest int64
	var earlier, complete, recorded bool
	err = tx.QueryRowContext(ctx, `select coalesce(max(version_id), 0), coalesce(bool_or(version_id between 1 and $1 - 1), false),
		coalesce(bool_or(version_id = $2), false), coalesce(bool_or(version_id = $1), false)
		from goose_db_version where is_applied`, firstSquashed, lastSquashed).Scan(&newest, &earlier, &complete, &recorded)
	switch {
	case SqlState(err) == undefinedTable:
		return nil // an empty database
	case err != nil:
		return err
	case !earlier, complete && recorded:
		return nil
	case !complete:
		return fault.Newf(fault.Conflict,
			"nothing was migrated: the database has schema %d, and this release continues from schema %d only: "+
				"run `iris migrate` of a build of commit %s first", newest, lastSquashed, lastBuildBefore)
	}
	if _, err := tx.ExecContext(ctx, `with squashed as (
			insert into goose_db_version (version_id, is_applied) select v, true from generate_series($1::bigint, $2 - 1) v returning version_id
		)
		insert into schema_compatibility (version, oldest)
		select s.version_id, c.oldest from squashed s, schema_compatibility c where c.version = $2`, firstSquashed, lastSquashed); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	log.Info("the database is from before the squash of the migrations: it continues with the migrations after it")
	return nil
}
