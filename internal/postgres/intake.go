package postgres

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
)

// SetRepageAfter sets after which time a repeated alert starts a plan again that is exhausted; 0 = never. It holds for every version
// of the plan, also for later ones. Unknown: NotFound.
func (p *Plans) SetRepageAfter(ctx context.Context, name string, after time.Duration) error {
	return p.db.Do(ctx, func(q *db.Queries) error {
		n, err := q.SetPlanRepageAfter(ctx, db.SetPlanRepageAfterParams{Name: storable(name), Seconds: seconds(after)})
		if err == nil && n == 0 {
			err = fault.New(fault.NotFound, "there is no plan "+name)
		}
		return err
	})
}

// SetIntake stores how the alerts of an application are taken: default plan and late deliveries.
func (a *Applications) SetIntake(ctx context.Context, app auth.Application) error {
	return a.db.Do(ctx, func(q *db.Queries) error {
		n, err := q.SetApplicationIntake(ctx, db.SetApplicationIntakeParams{ID: app.ID, DefaultPlan: storable(app.DefaultPlan),
			LateWithin: seconds(app.LateWithin), LateHold: seconds(app.LateHold)})
		if err == nil && n == 0 {
			err = fault.New(fault.NotFound, "no such application")
		}
		return err
	})
}
