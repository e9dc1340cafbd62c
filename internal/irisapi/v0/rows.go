package v0

import (
	"context"
	"net/http"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/filters"
)

// Rows describes a route that lists objects.
type Rows[T any] struct {
	// Query is the query of the route. Its columns are those of Columns.
	Query   List
	Columns Columns[T]
	// Kind and ID are for the tags of the objects; "" = the objects have no tags.
	Kind string
	ID   func(T) int64
	// TooBroad refuses a query without a condition and a limit; "" = the route answers it.
	TooBroad string
	// Derived adds columns that need several fields; nil = there are none.
	Derived func(c Columns[T], fields []string) Columns[T]
}

// Answer reads the query and answers with the objects, or with counts of them. count is nil if the route does not count.
func (l Rows[T]) Answer(w http.ResponseWriter, r *http.Request, tags Tags,
	read func(context.Context, filters.Query) ([]T, error), count Counter) error {
	query := l.Query
	query.Columns = l.Columns.Names()
	if l.Kind != "" {
		query = tags.List(query)
	}
	q, err := query.Read(w, r)
	if err != nil {
		return err
	}
	if l.TooBroad != "" && len(q.Conditions) == 0 && q.Limit == 0 {
		return fault.New(fault.Invalid, l.TooBroad)
	}
	if count != nil {
		if done, err := query.Counted(w, r, q, count); done || err != nil {
			return err
		}
	}
	found, err := read(r.Context(), q)
	if err != nil {
		return err
	}
	cols, err := taggedColumns(r.Context(), tags, l, q.Fields, found)
	if l.Derived != nil {
		cols = l.Derived(cols, q.Fields)
	}
	return Answer(w, cols.Records(found), err)
}

// Record returns one object with all columns.
func (l Rows[T]) Record(ctx context.Context, tags Tags, item T) (Record, error) {
	cols, err := taggedColumns(ctx, tags, l, nil, []T{item})
	return cols.Record(item), err
}
