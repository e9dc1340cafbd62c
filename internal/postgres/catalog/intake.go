package catalog

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
)

// SetTimes stores the times of a plan that are given. They apply to every version of the plan, later ones included. Unknown: NotFound.
func (p *Plans) SetTimes(ctx context.Context, name string, t escalation.Times) error {
	err := postgres.RequireRow(postgres.Query(ctx, p.db, (*db.Queries).SetPlanTimes, db.SetPlanTimesParams{
		Name: postgres.Storable(name), RepageAfter: seconds(t.RepageAfter), AcknowledgementTimeout: seconds(t.AcknowledgementTimeout),
	}))
	return postgres.Named(err, "there is no plan "+name)
}

// seconds returns whole seconds; nil for nil.
func seconds(d *time.Duration) *int32 {
	if d == nil {
		return nil
	}
	n := postgres.ToSeconds(*d)
	return &n
}

// SetIntake stores how the alerts of an application are accepted: its default plan, and whether late deliveries wait.
func (a *Applications) SetIntake(ctx context.Context, app auth.Application) error {
	err := postgres.RequireRow(postgres.Query(ctx, a.db, (*db.Queries).SetApplicationIntake, db.SetApplicationIntakeParams{
		ID: app.ID, DefaultPlan: postgres.Storable(app.DefaultPlan), LateWithin: postgres.ToSeconds(app.LateWithin),
		LateHold: postgres.ToSeconds(app.LateHold),
	}))
	return postgres.Named(err, "no such application")
}
