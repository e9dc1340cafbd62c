package pg

import (
	"context"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/auditlog"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
	pgusers "github.com/iris-oncall/iris/internal/users/pg"
)

// PriorityModes returns the default mode of every priority.
func (t *Targets) PriorityModes(ctx context.Context) (map[users.Priority]users.Mode, error) {
	return pgusers.PriorityModes(ctx, t.db)
}

// SetPriorityMode changes the default mode of a priority; a NotFound fault when there is no such priority. Processes
// use it within about a second.
func (t *Targets) SetPriorityMode(ctx context.Context, p users.Priority, m users.Mode) error {
	return t.db.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		n, err := q.SetPriorityMode(ctx, db.SetPriorityModeParams{Name: p, Mode: m})
		if err := postgres.Named(postgres.RequireRow(n, err), "there is no priority "+string(p)); err != nil {
			return err
		}
		return auditlog.Write(ctx, q, audit.Entry{Action: audit.DefaultModeSet, Object: "priority " + string(p),
			Detail: "to " + string(m)})
	})
}
