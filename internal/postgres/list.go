package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/postgres/internal/db"
)

// List runs a query built with ListQuery and collects what scan makes of each row. A list that is too long is an Invalid
// fault.
func List[T any](ctx context.Context, d *DB, sql string, args []any, scan pgx.RowToFunc[T]) (out []T, err error) {
	err = d.DoRaw(ctx, func(ctx context.Context, conn db.DBTX) error {
		rows, err := conn.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(rows, scan)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, TooBroad(len(out))
}
