package operation

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
)

// Reached returns the error of a caller who asks for something of an application. err is the error of its read. A
// confined caller gets ErrNotReached for what another application has, and for what does not exist.
func (a Actor) Reached(application string, err error) error {
	if a.Application != 0 && (err == nil && application != a.ApplicationName || fault.Is(err, fault.NotFound)) {
		return ErrNotReached
	}
	return err
}

// Within returns a query that leaves out what a confined caller does not reach.
func (a Actor) Within(q filters.Query) filters.Query {
	if a.Application != 0 {
		q.Conditions = append(q.Conditions[:len(q.Conditions):len(q.Conditions)],
			filters.Equal("application_id", a.Application))
	}
	return q
}

// Period selects what was created in a time. Inputs of lists embed it.
type Period struct {
	CreatedAfter  time.Time `query:"created_after" json:"created_after,omitzero" doc:"Only objects that were created at this time or later, in RFC 3339."`
	CreatedBefore time.Time `query:"created_before" json:"created_before,omitzero" doc:"Only objects that were created before this time, in RFC 3339."`
}

// Add adds the conditions to a query.
func (p Period) Add(q *filters.Query) {
	q.Add("created", filters.Ge, p.CreatedAfter)
	q.Add("created", filters.Lt, p.CreatedBefore)
}

// Newest adds the size and the place of the page to a query of a list in the order of filters.Place.
func (p Paging) Newest(q *filters.Query) error {
	q.Limit = p.Size()
	if p.Cursor == "" {
		return nil
	}
	place, err := p.Place()
	if err != nil {
		return err
	}
	after, err := filters.ParsePlace(place)
	if err != nil {
		return errCursor
	}
	q.After = &after
	return nil
}

// PageTo returns a page of rows of a list in the order of filters.Place. next is the place of the next page; nil =
// there is none.
func PageTo[T, Row any](found []T, next *filters.Place, row func(T) Row) Page[Row] {
	out := Page[Row]{Items: make([]Row, len(found))}
	for i, one := range found {
		out.Items[i] = row(one)
	}
	if next != nil {
		out.Next = NextOf(next.String())
	}
	return out
}

// PageAfter returns a page of rows of a list in the order of keys. found has one row more than the page if there is a
// next page.
func PageAfter[T, Row any](p Paging, found []T, row func(T) Row, key func(T) string) Page[Row] {
	next := ""
	if len(found) > p.Size() {
		found = found[:p.Size()]
		next = key(found[len(found)-1])
	}
	out := PageTo(found, nil, row)
	out.Next = NextOf(next)
	return out
}

// OrNull returns nil for the zero value.
func OrNull[T comparable](v T) *T {
	if v == *new(T) {
		return nil
	}
	return &v
}

// Lines is the output of an operation that answers with a file of JSON lines, which is sent while it is read.
type Lines struct {
	File string // its name
	// Each calls write with each row. It returns the first error, its own or that of write.
	Each func(ctx context.Context, write func(row any) error) error `json:"-"`
}
