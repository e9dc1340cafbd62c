package irisapi

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"github.com/iris-oncall/iris/internal/filters"
	"github.com/iris-oncall/iris/internal/wire"
)

// Tags stores words that operators attach to things. Kinds are incident, application, plan, template and target.
type Tags interface {
	// Of returns the tags of things of one kind, by number and name.
	Of(ctx context.Context, kind string, ids []int64) (map[int64]map[string][]string, error)
	// Set replaces the values of one tag; none removes it. NotFound when there is no such thing.
	Set(ctx context.Context, kind string, id int64, name string, values []string) error
}

// tagging shows and filters by the tags that the operator allows. Where there are none, nothing is read.
type tagging struct {
	names []string
	store Tags
}

const tagsField = "tags"

// list returns l with the field tags and a filter for each tag.
func (t tagging) list(l list) list {
	if len(t.names) == 0 {
		return l
	}
	l.schema = maps.Clone(l.schema)
	for _, name := range t.names {
		l.schema["tag_"+name] = filters.Text
	}
	l.columns = append(slices.Clip(l.columns), tagsField)
	if l.unique != nil {
		l.unique = append(slices.Clip(l.unique), tagsField)
	}
	return l
}

// tagged adds the field tags to the columns of a list, if it is asked for.
func tagged[T any](ctx context.Context, t tagging, cols columns[T], fields []string, kind string, items []T, id func(T) int64) (columns[T], error) {
	if len(t.names) == 0 || len(fields) > 0 && !slices.Contains(fields, tagsField) {
		return cols, nil
	}
	ids := make([]int64, len(items))
	for i, item := range items {
		ids[i] = id(item)
	}
	found, err := t.store.Of(ctx, kind, ids)
	if err != nil {
		return nil, err
	}
	return append(slices.Clip(cols), column[T]{tagsField, func(item T) any {
		shown := map[string][]string{}
		for name, values := range found[id(item)] {
			if slices.Contains(t.names, name) {
				shown[name] = values
			}
		}
		return shown
	}}), nil
}

// allowedTags lists the names of the tags that may be attached.
func (a *API) allowedTags(w http.ResponseWriter, _ *http.Request) error {
	wire.JSON(w, http.StatusOK, orEmpty(a.Config.Tags))
	return nil
}
