package operator

import (
	"context"

	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/postgres/catalog"
	"github.com/iris-oncall/iris/internal/spelling"
)

// Simulate foresees what would happen to an incident. It writes and sends nothing. listLimit is the size from which on a
// mailing list stands for nobody.
func (o *Operator) Simulate(ctx context.Context, a simulation.Asked, listLimit int) (simulation.Simulation, error) {
	s, err := NewSimulator(o.db, o.applications, listLimit, nil)
	if err != nil {
		return simulation.Simulation{}, err
	}
	sim, err := s.Ask(ctx, a)
	if err == nil {
		return sim, nil
	}
	names := catalog.NewNames(o.db, o.applications)
	if _, missing := names.PlanNumber(ctx, a.Plan); fault.Is(missing, fault.NotFound) {
		return sim, o.unknown(ctx, "there is no active plan ", "plan", a.Plan)
	}
	if a.Application != "" {
		if _, missing := names.ApplicationNumber(ctx, a.Application); fault.Is(missing, fault.Invalid) {
			return sim, o.unknown(ctx, "there is no application ", "application", a.Application)
		}
	}
	return sim, err
}

// unknown is the NotFound fault for a name that nothing of the kind has, with the name that may have been meant.
func (o *Operator) unknown(ctx context.Context, words, kind, name string) error {
	known, err := catalog.NewNames(o.db, o.applications).Known(ctx, kind)
	if err != nil {
		return err
	}
	return fault.New(fault.NotFound, words+name+spelling.DidYouMean(name, known))
}
