package catalog

import (
	"context"
	"maps"
	"net/http"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/filters"
	v0 "github.com/iris-oncall/iris/internal/irisapi/v0"
)

// ofApplication lists the active plans whose templates have content for the application.
func (a plans) ofApplication(w http.ResponseWriter, r *http.Request) error {
	return ofApplicationRows.Answer(w, r, a.Tags, func(ctx context.Context, q filters.Query) ([]escalation.Plan, error) {
		q.Conditions = append(q.Conditions,
			filters.Condition{Field: "active", Op: filters.Eq, Values: []any{true}},
			filters.Condition{Field: "application", Op: filters.Eq, Values: []any{v0.StorableName(v0.ApplicationName(r))}})
		return a.Plans.List(ctx, q)
	}, nil)
}

// ofApplicationRows has no filter of active: the list has only active plans.
var ofApplicationRows = v0.Rows[escalation.Plan]{Query: v0.List{Schema: withoutActive(escalation.PlanFilters)}, Columns: planColumns}

func withoutActive(schema filters.Schema) filters.Schema {
	schema = maps.Clone(schema)
	delete(schema, "active")
	return schema
}

var aggregationColumns = planColumns.Pick([]string{"id", "name", "threshold_window", "threshold_count", "aggregation_window", "aggregation_reset"})

// aggregation lists the aggregation settings of active plans.
func (a plans) aggregation(w http.ResponseWriter, r *http.Request) error {
	found, err := a.Plans.Aggregation(r.Context())
	return v0.Answer(w, aggregationColumns.Records(found), err)
}
