package pg

import (
	"context"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// SetFallback sets who is paged when nobody of a step of the plan can be reached; nil = nobody. It applies to every
// version of the plan, later ones included. An unknown plan is NotFound; a role or target that does not exist is
// Invalid.
func (p *Plans) SetFallback(ctx context.Context, name string, to *escalation.Target) error {
	role, target, err := resolveFallback(ctx, p.db, to)
	if err != nil {
		return err
	}
	name = postgres.Storable(name)
	return p.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		return auditedPlan.changing(ctx, q, audit.PlanFallbackChanged, name, "", func() error {
			n, err := q.SetPlanFallback(ctx, db.SetPlanFallbackParams{Name: name, Role: role, TargetID: target})
			return postgres.Named(postgres.RequireRow(n, err), "there is no plan "+name)
		})
	})
}

// SetFallback sets who is paged when nobody of a step can be reached and the plan has no fallback; nil = nobody. An
// unknown application is NotFound; a role or target that does not exist is Invalid.
func (a *Applications) SetFallback(ctx context.Context, id int64, to *escalation.Target) error {
	role, target, err := resolveFallback(ctx, a.db, to)
	if err != nil {
		return err
	}
	return a.changing(ctx, id, "", audit.ApplicationFallbackChanged, func(ctx context.Context, q *db.Queries, _ db.LockApplicationRow) error {
		return postgres.RequireRow(q.SetApplicationFallback(ctx,
			db.SetApplicationFallbackParams{ID: id, Role: role, TargetID: target}))
	})
}

func resolveFallback(ctx context.Context, d *postgres.DB, to *escalation.Target) (role *string, target *int64, err error) {
	if to == nil {
		return nil, nil, nil
	}
	id, err := NewTargets(d).Resolve(ctx, to.Role, to.Name)
	return &to.Role, &id, err
}
