package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// list runs a query built with listQuery and collects what scan makes of each row. A list that is too long is an Invalid
// fault.
func list[T any](ctx context.Context, d *DB, sql string, args []any, scan pgx.RowToFunc[T]) (out []T, err error) {
	ctx, cancel := d.bounded(ctx)
	defer cancel()
	err = d.retry(ctx, func() error {
		rows, err := d.pool.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(rows, scan)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, tooBroad(len(out))
}
