package pg

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/legacy/imports"
	pgusers "github.com/iris-oncall/iris/internal/users/pg"
)

// Imports stores the data of a predecessor. One import is one transaction, however long it takes. The statements are
// built from the descriptions of tables, because sqlc does not know temporary tables (ADR 0018).
type Imports struct {
	db   *postgres.DB
	keys *auth.Keys
}

// New returns the adapter over d; keys seal the keys of applications.
func New(d *postgres.DB, keys *auth.Keys) *Imports { return &Imports{db: d, keys: keys} }

// errNotKept rolls back a transaction whose changes are not wanted.
var errNotKept = errors.New("rolled back as asked")

// Run calls f with a store and commits when f returns true. Otherwise nothing is stored. name identifies the source in
// the audit log and in later runs. A second import at the same time is a Conflict.
func (i *Imports) Run(ctx context.Context, name string, f func(*Store) (keep bool, err error)) error {
	conn, err := i.db.Pool().Acquire(ctx)
	if err != nil {
		return postgres.MapError(err)
	}
	defer conn.Release()
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		r := &Store{tx: tx, keys: i.keys, name: name, log: i.db.Log()}
		if err := r.begin(ctx); err != nil {
			return err
		}
		keep, err := f(r)
		switch {
		case err != nil:
			return err
		case !keep:
			return errNotKept
		case !r.finished: // no row is new
			return nil
		}
		_, conflicts, err := pgusers.FillCanonicalNames(ctx, postgresdb.New(tx))
		if err != nil {
			return err
		}
		pgusers.LogNameConflicts(i.db.Log(), conflicts)
		if err := r.moveNumbersOn(ctx); err != nil {
			return err
		}
		return r.exec(ctx, "delete from statistics_snapshots; delete from statistics_progress") // statistics include the imported rows
	})
	if errors.Is(err, errNotKept) {
		return nil
	}
	return postgres.MapError(err)
}

// Store is one import. It implements imports.IrisStore and imports.OnCallStore.
type Store struct {
	tx    pgx.Tx
	keys  *auth.Keys
	name  string
	first bool // nothing was imported under this name before
	log   *zap.Logger
	// finished: Finish was called.
	finished bool
	// aside are applications that are inserted again after those of Iris.
	aside []imports.ApplicationKeys
}

// begin removes the timeouts of statements for this transaction, locks out other imports, and reads whether this is the
// first one.
func (r *Store) begin(ctx context.Context) error {
	var alone bool
	err := r.tx.QueryRow(ctx, `-- name: BeginImport :one
select set_config('statement_timeout', '0', true) || set_config('idle_in_transaction_session_timeout', '0', true)
    || set_config('lock_timeout', '30s', true) || set_config('work_mem', '64MB', true) is not null
    and pg_try_advisory_xact_lock(hashtext('iris import')),
    not exists (select from audit_log where actor = $1 and action = $2)`, importActor, r.action()).Scan(&alone, &r.first)
	if err == nil && !alone {
		err = fault.New(fault.Conflict, "another import is running, or one that was killed has not ended yet: wait a minute and try again")
	}
	return err
}

// importActor is the actor of imports in the audit log.
const importActor = "iris command"

func (r *Store) action() audit.Action { return audit.Action("imported from " + r.name) }

// Load stores records. See imports.Loading.
func (r *Store) Load(ctx context.Context, t imports.Table, records imports.Records) (imports.Outcome, error) {
	switch t.Name {
	case "ical_keys":
		return r.loadFeedKeys(ctx, t, records)
	case "message_history":
		return r.loadMessages(ctx, t, records)
	}
	return r.loadTable(ctx, t, records)
}

func (r *Store) loadTable(ctx context.Context, t imports.Table, records imports.Records) (imports.Outcome, error) {
	var out imports.Outcome
	if err := r.stage(ctx, t, records, &out); err != nil {
		return out, err
	}
	if err := r.makeRoom(ctx, t); err != nil {
		return out, fmt.Errorf("make room in %s: %w", t.Name, err)
	}
	if err := r.exec(ctx, resolveSQL(t)); err != nil {
		return out, fmt.Errorf("resolve %s: %w", t.Name, err)
	}
	return out, r.finishLoad(ctx, t, &out)
}

// finishLoad merges the resolved rows, makes the rows that depend on new ones, and drops the temporary tables.
func (r *Store) finishLoad(ctx context.Context, t imports.Table, out *imports.Outcome) error {
	if err := r.merge(ctx, t, out); err != nil {
		return err
	}
	for _, sql := range append(followUps[t.Name], "drop table staged, resolved, fresh") {
		if err := r.exec(ctx, sql); err != nil {
			return fmt.Errorf("what follows from new rows of %s: %w", t.Name, err)
		}
	}
	return nil
}

// stage copies the records into a temporary table.
func (r *Store) stage(ctx context.Context, t imports.Table, records imports.Records, out *imports.Outcome) error {
	if err := r.exec(ctx, stageSQL(t)); err != nil {
		return fmt.Errorf("stage %s: %w", t.Name, err)
	}
	names := []string{"ord", "label"}
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	next, stop := iter.Pull2(records)
	defer stop()
	n, err := r.tx.CopyFrom(ctx, pgx.Identifier{"staged"}, names, pgx.CopyFromFunc(func() ([]any, error) {
		record, err, ok := next()
		if !ok || err != nil {
			return nil, err
		}
		out.Read++
		return append([]any{out.Read, record.Label}, record.Values...), nil
	}))
	if err != nil {
		return fmt.Errorf("copy %s: %w", t.Name, err)
	}
	if n != out.Read {
		return fault.Newf(fault.Internal, "%d of %d rows of %s arrived", n, out.Read, t.Name)
	}
	return r.exec(ctx, "analyze staged")
}

// merge compares the resolved rows with existing ones and inserts the new ones.
func (r *Store) merge(ctx context.Context, t imports.Table, out *imports.Outcome) error {
	if err := r.exec(ctx, "analyze resolved"); err != nil {
		return err
	}
	for _, c := range checks(t, r.first) {
		if err := r.reasons(ctx, c, out); err != nil {
			return fmt.Errorf("compare %s: %w", t.Name, err)
		}
	}
	if err := r.tx.QueryRow(ctx, sameSQL(t)).Scan(&out.Same); err != nil {
		return fmt.Errorf("count the equal rows of %s: %w", t.Name, err)
	}
	if err := r.exec(ctx, freshSQL(t)); err != nil {
		return fmt.Errorf("search for new rows of %s: %w", t.Name, err)
	}
	return r.insert(ctx, t, out)
}

// insert stores the new rows. If the database refuses one in spite of the checks, that is a conflict, and none is
// stored. The import continues, to report more conflicts.
func (r *Store) insert(ctx context.Context, t imports.Table, out *imports.Outcome) error {
	err := pgx.BeginFunc(ctx, r.tx, func(tx pgx.Tx) error {
		tag, err := tx.Exec(ctx, insertSQL(t))
		out.Taken = tag.RowsAffected()
		return err
	})
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "23505" {
		return err
	}
	out.Taken = 0
	out.Reasons = append(out.Reasons, imports.Reason{Kind: imports.Conflict, Rows: 1, Whole: true,
		Text: "the rows of " + t.Name + " contradict one that is here (" + refused.ConstraintName + ")"})
	return r.exec(ctx, "delete from fresh") // they have no follow-ups
}

// reasons runs a check.
func (r *Store) reasons(ctx context.Context, c check, out *imports.Outcome) error {
	rows, err := r.tx.Query(ctx, c.sql)
	if err != nil {
		return err
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (imports.Reason, error) {
		reason := imports.Reason{Kind: c.kind, Whole: c.whole}
		err := row.Scan(&reason.Text, &reason.Rows, &reason.Examples)
		return reason, err
	})
	out.Reasons = append(out.Reasons, found...)
	return err
}

func (r *Store) exec(ctx context.Context, sql string) error {
	_, err := r.tx.Exec(ctx, sql)
	return err
}
