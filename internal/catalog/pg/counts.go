package pg

import (
	"context"

	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/postgres"
)

var planCounts = map[string]string{"name": "p.name", "threshold_window": "p.threshold_window::text",
	"threshold_count": "p.threshold_count::text", "aggregation_window": "p.aggregation_window::text",
	"aggregation_reset": "p.aggregation_reset::text", "tracking_type": "p.tracking_type", "tracking_key": "p.tracking_key",
	"creator": "u.name", "active": "(pa.plan_id is not null)::int::text"}

var templateCounts = map[string]string{"name": "t.name", "creator": "u.name",
	"active": "(ta.template_id is not null)::int::text"}

// Count counts the plan versions that match, and per value of the fields.
func (p *Plans) Count(ctx context.Context, q filters.Query, fields []string) (filters.Tally, error) {
	c := postgres.Counting{Name: "CountPlans", Selection: planList, TagKind: "plan", ID: "p.id",
		Created: "p.created_at"}
	return c.Run(ctx, p.db, q, planColumns, fields, planCounts)
}

// Count counts the template versions that match, and per value of the fields.
func (t *Templates) Count(ctx context.Context, q filters.Query, fields []string) (filters.Tally, error) {
	c := postgres.Counting{Name: "CountTemplates", Selection: templateList, TagKind: "template", ID: "t.id",
		Created: "t.created_at"}
	return c.Run(ctx, t.db, q, templateColumns, fields, templateCounts)
}
