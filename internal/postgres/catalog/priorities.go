package catalog

import (
	"context"

	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
	"github.com/iris-oncall/iris/internal/users"
)

// PriorityModes returns the default mode of every priority.
func (t *Targets) PriorityModes(ctx context.Context) (map[users.Priority]users.Mode, error) {
	return postgres.PriorityModes(ctx, t.db)
}

// SetPriorityMode changes the default mode of a priority; a NotFound fault when there is no such priority. Processes use it
// within about a second.
func (t *Targets) SetPriorityMode(ctx context.Context, p users.Priority, m users.Mode) error {
	err := postgres.RequireRow(postgres.Query(ctx, t.db, (*db.Queries).SetPriorityMode, db.SetPriorityModeParams{
		Name: string(p), Mode: string(m),
	}))
	return postgres.Named(err, "there is no priority "+string(p))
}
