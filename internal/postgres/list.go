package postgres

import (
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
)

// listWithin is how long the query of a list may take: twice as long as other statements, because filters without an index
// read all rows.
const listWithin = 10 * time.Second

// List runs a query built with ListQuery and collects what scan makes of each row. A list that is too long is an Invalid
// fault. A query that takes longer than listWithin is an Unavailable fault that says how to narrow it.
func List[T any](ctx context.Context, d *DB, sql string, args []any, scan pgx.RowToFunc[T]) (out []T, err error) {
	err = d.DoRaw(ctx, func(ctx context.Context, conn db.DBTX) error {
		// One implicit transaction and one round trip.
		batch := &pgx.Batch{}
		batch.Queue("-- name: ListTimeout :exec\nselect set_config('statement_timeout', $1, true)", strconv.FormatInt(listWithin.Milliseconds(), 10))
		batch.Queue(sql, args...).Query(func(rows pgx.Rows) (err error) {
			out, err = pgx.CollectRows(rows, scan)
			return err
		})
		return conn.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		if SqlState(err) == queryCanceled {
			err = fault.Wrap(fault.Unavailable, err, "the query took longer than 10 s: add a filter, a shorter time range or a limit")
		}
		return nil, err
	}
	return out, TooBroad(len(out))
}
