package pg

import (
	"context"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Uses returns how versions of plans are used, by number. Numbers that do not exist are left out.
func (p *Plans) Uses(ctx context.Context, ids []escalation.PlanID) ([]applications.PlanUse, error) {
	rows, err := postgres.Query(ctx, p.db, (*db.Queries).PlanUses, postgres.Numbers(ids))
	return postgres.Convert(rows, func(r db.PlanUsesRow) applications.PlanUse {
		u := applications.PlanUse{ID: r.ID, Escalating: r.Escalating, Paused: r.Paused, HasFallback: r.HasFallback,
			Steps:         r.Steps,
			LostTemplates: r.LostTemplates, LostTargets: r.LostTargets, EmptyRoles: r.EmptyRoles}
		if r.UsedAt.Unix() != 0 {
			u.LastAt = r.UsedAt
		}
		return u
	}), err
}

// UsedBy returns what uses a plan; see Uses.OfPlan.
func (p *Plans) UsedBy(ctx context.Context, name string) ([]string, error) {
	return NewUses(p.db).OfPlan(ctx, name)
}
