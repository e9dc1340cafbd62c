package v0

import (
	"context"
	"maps"
	"slices"

	"github.com/iris-oncall/iris/internal/filters"
)

// TagStore stores texts that operators attach to objects. Kinds are incident, application, plan, template and target.
type TagStore interface {
	// Of returns the tags of objects of one kind, by number and name.
	Of(ctx context.Context, kind string, ids []int64) (map[int64]map[string][]string, error)
	// Set replaces the values of one tag; no values remove the tag. NotFound when there is no such object.
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

// Tagged adds the field tags to the columns of a list, if the request asks for it. id returns the number of an object.
func Tagged[T any](ctx context.Context, t Tags, cols Columns[T], fields []string, kind string, items []T, id func(T) int64) (Columns[T], error) {
	if len(t.Names) == 0 || len(fields) > 0 && !slices.Contains(fields, tagsField) {
		return cols, nil
	}
	ids := make([]int64, len(items))
	for i, item := range items {
		ids[i] = id(item)
	}
	found, err := t.Store.Of(ctx, kind, ids)
	if err != nil {
		return nil, err
	}
	return cols.With(tagsField, func(item T) any {
		shown := map[string][]string{}
		for name, values := range found[id(item)] {
			if slices.Contains(t.Names, name) {
				shown[name] = values
			}
		}
		return shown
	}), nil
}
