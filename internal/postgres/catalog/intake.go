package catalog

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
)

// SetRepageAfter sets the time after which a repeated alert restarts an exhausted plan; 0 = never. It applies to every version
// of the plan, later ones included. Unknown: NotFound.
func (p *Plans) SetRepageAfter(ctx context.Context, name string, after time.Duration) error {
	err := postgres.RequireRow(postgres.Query(ctx, p.db, (*db.Queries).SetPlanRepageAfter, db.SetPlanRepageAfterParams{
		Name: postgres.Storable(name), Seconds: postgres.ToSeconds(after),
	}))
	return postgres.Named(err, "there is no plan "+name)
}

// SetIntake stores how the alerts of an application are accepted: its default plan, and whether late deliveries wait.
func (a *Applications) SetIntake(ctx context.Context, app auth.Application) error {
	err := postgres.RequireRow(postgres.Query(ctx, a.db, (*db.Queries).SetApplicationIntake, db.SetApplicationIntakeParams{
		ID: app.ID, DefaultPlan: postgres.Storable(app.DefaultPlan), LateWithin: postgres.ToSeconds(app.LateWithin),
		LateHold: postgres.ToSeconds(app.LateHold),
	}))
	return postgres.Named(err, "no such application")
}
