package catalog

import (
	"maps"
	"net/http"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/filters"
	v0 "github.com/iris-oncall/iris/internal/irisapi/v0"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

// ofApplication lists the active plans whose templates have content for the application.
func (a plans) ofApplication(w http.ResponseWriter, r *http.Request) error {
	q, err := ofApplicationList.Read(w, r)
	if err != nil {
		return err
	}
	q.Conditions = append(q.Conditions,
		filters.Condition{Field: "active", Op: filters.Eq, Values: []any{true}},
		filters.Condition{Field: "application", Op: filters.Eq, Values: []any{v0.StorableName(v0.ApplicationName(r))}})
	found, err := a.Plans.List(r.Context(), q)
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, planColumns.Pick(q.Fields).Records(found))
}

// ofApplicationList reads no filter of active: the list has only active plans.
var ofApplicationList = v0.List{Schema: withoutActive(escalation.PlanFilters), Columns: planColumns.Names()}

func withoutActive(schema filters.Schema) filters.Schema {
	schema = maps.Clone(schema)
	delete(schema, "active")
	return schema
}

var aggregationColumns = planColumns.Pick([]string{"id", "name", "threshold_window", "threshold_count", "aggregation_window", "aggregation_reset"})

// aggregation lists the aggregation settings of active plans.
func (a plans) aggregation(w http.ResponseWriter, r *http.Request) error {
	found, err := a.Plans.Aggregation(r.Context())
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, aggregationColumns.Records(found))
}
