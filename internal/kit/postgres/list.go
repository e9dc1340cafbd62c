package postgres

import (
	"context"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// listWithin is how long the query of a list may take: twice as long as other statements, because filters without an
// index read all rows. If the context ends earlier, the server ends the query filters.Margin before that, so that the
// connection stays usable.
const listWithin = 10 * time.Second

// List runs a query built with ListQuery and collects what scan makes of each row. A list that is too long is an
// Invalid fault. A query that takes longer than listWithin is an Unavailable fault that says how to narrow it.
func List[T any](ctx context.Context, d *DB, sql string, args []any, scan pgx.RowToFunc[T]) (out []T, err error) {
	err = d.DoRaw(ctx, func(ctx context.Context, conn db.DBTX) error {
		// One implicit transaction and one round trip.
		batch := &pgx.Batch{}
		within := listWithin
		if end, ok := ctx.Deadline(); ok {
			within = min(within, max(time.Millisecond, time.Until(end)-filters.Margin))
		}
		// With the values of the filters the planner knows whether few or many rows match.
		batch.Queue("-- name: ListSettings :exec\nselect set_config('statement_timeout', $1, true), set_config('plan_cache_mode', 'force_custom_plan', true)",
			strconv.FormatInt(within.Milliseconds(), 10))
		batch.Queue(sql, args...).Query(func(rows pgx.Rows) (err error) {
			out, err = pgx.CollectRows(rows, scan)
			return err
		})
		return conn.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		if SqlState(err) == queryCanceled {
			err = fault.Wrap(fault.Unavailable, err,
				"the query took too long (10 s at most): add a filter, a shorter time range or a limit")
		}
		return nil, err
	}
	return out, TooBroad(len(out))
}
