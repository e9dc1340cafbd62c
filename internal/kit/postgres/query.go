package postgres

import (
	"context"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Query runs one generated statement with parameters, as Do does, and returns what it reads: a row, rows, or a number
// of rows.
func Query[P, R any](ctx context.Context, d *DB, statement func(*db.Queries, context.Context, P) (R, error), p P) (R, error) {
	return Get(ctx, d, func(ctx context.Context, q *db.Queries) (R, error) { return statement(q, ctx, p) })
}

// Read is Query for a statement without parameters.
func Read[R any](ctx context.Context, d *DB, statement func(*db.Queries, context.Context) (R, error)) (R, error) {
	return Get(ctx, d, func(ctx context.Context, q *db.Queries) (R, error) { return statement(q, ctx) })
}

// Exec is Query for a statement that returns nothing.
func Exec[P any](ctx context.Context, d *DB, statement func(*db.Queries, context.Context, P) error, p P) error {
	return d.Do(ctx, func(ctx context.Context, q *db.Queries) error { return statement(q, ctx, p) })
}

// Get is Do for an f that returns a value.
func Get[R any](ctx context.Context, d *DB, f func(context.Context, *db.Queries) (R, error)) (out R, err error) {
	err = d.Do(ctx, func(ctx context.Context, q *db.Queries) (err error) {
		out, err = f(ctx, q)
		return err
	})
	return out, err
}

// GetInTx is InTx for an f that returns a value.
func GetInTx[R any](ctx context.Context, d *DB, f func(context.Context, *db.Queries) (R, error)) (out R, err error) {
	err = d.InTx(ctx, func(ctx context.Context, q *db.Queries) (err error) {
		out, err = f(ctx, q)
		return err
	})
	return out, err
}

// Convert converts each row. The result is never nil.
func Convert[R, T any](rows []R, convert func(R) T) []T {
	out := make([]T, len(rows))
	for i, r := range rows {
		out[i] = convert(r)
	}
	return out
}

// First returns the first row of a list; a NotFound fault when there is none.
func First[T any](rows []T, err error) (row T, _ error) {
	if err != nil {
		return row, err
	}
	if len(rows) == 0 {
		return row, fault.New(fault.NotFound, "not found")
	}
	return rows[0], nil
}

// Named gives the NotFound fault of RequireRow or First a text that names what is missing.
func Named(err error, missing string) error {
	return fault.When(err, fault.NotFound, fault.New(fault.NotFound, missing))
}

// Numbers returns ids as SQL takes them. IDs is the reverse.
func Numbers[ID ~int64](ids []ID) []int64 {
	return Convert(ids, func(id ID) int64 { return int64(id) })
}

// IDs returns numbers of SQL as ids.
func IDs[ID ~int64](numbers []int64) []ID {
	return Convert(numbers, func(n int64) ID { return ID(n) })
}
