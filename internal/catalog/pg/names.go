package pg

import (
	"context"
	"strconv"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Names implements simulation.Names: it finds plans, applications and targets by name. It is safe for concurrent use.
type Names struct {
	plans        *Plans
	applications *Applications
	targets      *Targets
}

// NewNames returns the adapter over d.
func NewNames(d *postgres.DB, apps *Applications) *Names {
	return &Names{NewPlans(d), apps, NewTargets(d)}
}

// PlanNumber implements simulation.Names.
func (n *Names) PlanNumber(ctx context.Context, nameOrNumber string) (escalation.PlanID, error) {
	if id, err := strconv.ParseInt(nameOrNumber, 10, 64); err == nil {
		return escalation.PlanID(id), nil
	}
	p, err := n.plans.ByName(ctx, nameOrNumber)
	if fault.Is(err, fault.NotFound) {
		err = fault.Wrap(fault.NotFound, err, "there is no active plan "+nameOrNumber)
	}
	return p.ID, err
}

// ApplicationNumber implements simulation.Names.
func (n *Names) ApplicationNumber(ctx context.Context, name string) (int64, error) {
	app, err := n.applications.ByName(ctx, name)
	if fault.Is(err, fault.NotFound) {
		err = fault.Wrap(fault.Invalid, err, "there is no application "+name)
	}
	return app.ID, err
}

// TargetNumber implements simulation.Names.
func (n *Names) TargetNumber(ctx context.Context, role, name string) (int64, error) {
	return n.targets.Resolve(ctx, role, name)
}

// Known returns the names of all active teams, services, active plans or applications; kind is team, service, plan or
// application.
func (n *Names) Known(ctx context.Context, kind string) ([]string, error) {
	return postgres.Query(ctx, n.targets.db, (*db.Queries).KnownNames, kind)
}
