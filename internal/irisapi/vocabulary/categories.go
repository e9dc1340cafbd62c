package vocabulary

import (
	"net/http"

	"github.com/iris-oncall/iris/internal/applications"
	"github.com/iris-oncall/iris/internal/filters"
	v0 "github.com/iris-oncall/iris/internal/irisapi/v0"
)

var categoryList = v0.List{Schema: filters.Schema{
	"id": filters.Text, "name": filters.Text, "application": filters.Text, "mode": filters.Text,
}}

var categoryColumns = v0.Columns[applications.Category]{
	{"id", func(c applications.Category) any { return c.ID }},
	{"name", func(c applications.Category) any { return c.Name }},
	{"application", func(c applications.Category) any { return c.Application }},
	{"description", func(c applications.Category) any { return c.Description }},
	{"mode", func(c applications.Category) any { return c.Mode }},
}

// list answers with the categories of all applications, or of the one in the path. An unknown application has none.
func (v categories) list(w http.ResponseWriter, r *http.Request) error {
	q, err := categoryList.Read(w, r)
	if err != nil {
		return err
	}
	if app := v0.ApplicationName(r); app != "" {
		q.Conditions = append(q.Conditions, filters.Condition{Field: "application", Op: filters.Eq, Values: []any{v0.StorableName(app)}})
	}
	found, err := v.Categories.Categories(r.Context(), q)
	return v0.Answer(w, categoryColumns.Records(found), err)
}
