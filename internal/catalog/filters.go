package catalog

import (
	"github.com/iris-oncall/iris/internal/kit/filters"
)

// PlanFilters names the filter fields of GET /v0/plans.
var PlanFilters = filters.Schema{
	"id": filters.Int, "name": filters.Text, "threshold_window": filters.Int, "threshold_count": filters.Int,
	"aggregation_window": filters.Int, "aggregation_reset": filters.Int, "description": filters.Text,
	"created": filters.Time, "creator": filters.Text, "active": filters.Bool, "target": filters.Text,
}
