package irisapi

import (
	"context"
	"net/http"

	"github.com/iris-oncall/iris/internal/applications"
	"github.com/iris-oncall/iris/internal/filters"
	"github.com/iris-oncall/iris/internal/wire"
)

// Categories lists the categories of applications by number.
type Categories interface {
	Categories(ctx context.Context, q filters.Query) ([]applications.Category, error)
}

var categoryList = list{schema: filters.Schema{
	"id": filters.Text, "name": filters.Text, "application": filters.Text, "mode": filters.Text,
}}

var categoryColumns = columns[applications.Category]{
	{"id", func(c applications.Category) any { return c.ID }},
	{"name", func(c applications.Category) any { return c.Name }},
	{"application", func(c applications.Category) any { return c.Application }},
	{"description", func(c applications.Category) any { return c.Description }},
	{"mode", func(c applications.Category) any { return c.Mode }},
}

// listCategories answers with the categories of all applications, or of the one in the path; an unknown one has none.
func (v *vocabulary) listCategories(w http.ResponseWriter, r *http.Request) error {
	q, err := categoryList.read(w, r)
	if err != nil {
		return err
	}
	if app := appName(r); app != "" {
		q.Conditions = append(q.Conditions, filters.Condition{Field: "application", Op: filters.Eq, Values: []any{storableName(app)}})
	}
	found, err := v.categories.Categories(r.Context(), q)
	if err != nil {
		return err
	}
	wire.JSON(w, http.StatusOK, records(categoryColumns, found))
	return nil
}
