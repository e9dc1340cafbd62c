package catalog

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
)

// SetRepageAfter sets the time after which a repeated alert restarts an exhausted plan; 0 = never. It applies to every version
// of the plan, later ones included. Unknown: NotFound.
func (p *Plans) SetRepageAfter(ctx context.Context, name string, after time.Duration) error {
	return p.db.Do(ctx, func(ctx context.Context, q *db.Queries) error {
		n, err := q.SetPlanRepageAfter(ctx, db.SetPlanRepageAfterParams{Name: postgres.Storable(name), Seconds: postgres.ToSeconds(after)})
		if err == nil && n == 0 {
			err = fault.New(fault.NotFound, "there is no plan "+name)
		}
		return err
	})
}

// SetIntake stores how the alerts of an application are accepted: its default plan, and whether late deliveries wait.
func (a *Applications) SetIntake(ctx context.Context, app auth.Application) error {
	return a.db.Do(ctx, func(ctx context.Context, q *db.Queries) error {
		n, err := q.SetApplicationIntake(ctx, db.SetApplicationIntakeParams{ID: app.ID, DefaultPlan: postgres.Storable(app.DefaultPlan),
			LateWithin: postgres.ToSeconds(app.LateWithin), LateHold: postgres.ToSeconds(app.LateHold)})
		if err == nil && n == 0 {
			err = fault.New(fault.NotFound, "no such application")
		}
		return err
	})
}
