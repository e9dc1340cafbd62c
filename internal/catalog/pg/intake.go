package pg

import (
	"context"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// SetIntake stores how the alerts of an application are accepted: its default plan, and whether late deliveries wait.
func (a *Applications) SetIntake(ctx context.Context, app auth.Application) error {
	return a.setting(ctx, app.ID, func(ctx context.Context, q *db.Queries) (int64, error) {
		return q.SetApplicationIntake(ctx, db.SetApplicationIntakeParams{ID: app.ID,
			DefaultPlan: postgres.Storable(app.DefaultPlan),
			LateWithin:  postgres.ToSeconds(app.LateWithin), LateHold: postgres.ToSeconds(app.LateHold)})
	})
}
