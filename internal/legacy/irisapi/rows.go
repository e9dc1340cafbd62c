package irisapi

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
)

// Rows describes a route that lists objects.
type Rows[T any] struct {
	// Query is the query of the route. Its columns are those of Columns.
	Query   List
	Columns Columns[T]
	// Kind and ID are for the tags of the objects; "" = the objects have no tags.
	Kind string
	ID   func(T) int64
	// TooBroad is the text that refuses a query with neither conditions nor a limit; "" = the route answers it.
	TooBroad string
	// Derived adds columns that need several fields; nil = there are none.
	Derived func(c Columns[T], fields []string) Columns[T]
}

// Answer reads the query and answers with the objects, or with counts of them. count is nil if the route does not
// count.
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

// TagStore stores texts that operators attach to objects. Kinds are incident, application, plan, template and target.
type TagStore interface {
	// Of returns the tags of objects of one kind, by number and name.
	Of(ctx context.Context, kind string, ids []int64) (map[int64]map[string][]string, error)
	// Set replaces the values of one tag; no values remove the tag. An object that does not exist is a NotFound fault.
	Set(ctx context.Context, kind string, id int64, name string, values []string) error
}

// Tags shows and filters by the tags whose names the operator allows. Without names it reads nothing.
type Tags struct {
	Names []string
	Store TagStore
}

const tagsField = "tags"

// List returns l with the field tags and a filter for each tag.
func (t Tags) List(l List) List {
	if len(t.Names) == 0 {
		return l
	}
	l.Schema = maps.Clone(l.Schema)
	for _, name := range t.Names {
		l.Schema["tag_"+name] = filters.Text
	}
	l.Columns = append(slices.Clip(l.Columns), tagsField)
	if l.Unique != nil {
		l.Unique = append(slices.Clip(l.Unique), tagsField)
	}
	return l
}

// taggedColumns adds the field tags to the columns of a list, if the request asks for it.
func taggedColumns[T any](ctx context.Context, t Tags, l Rows[T], fields []string, items []T) (Columns[T], error) {
	cols := l.Columns.Pick(fields)
	if l.Kind == "" || len(t.Names) == 0 || len(fields) > 0 && !slices.Contains(fields, tagsField) {
		return cols, nil
	}
	ids := make([]int64, len(items))
	for i, item := range items {
		ids[i] = l.ID(item)
	}
	found, err := t.Store.Of(ctx, l.Kind, ids)
	return cols.With(tagsField, func(item T) any {
		shown := map[string][]string{}
		for name, values := range found[l.ID(item)] {
			if slices.Contains(t.Names, name) {
				shown[name] = values
			}
		}
		return shown
	}), err
}
