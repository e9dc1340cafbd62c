package operator

import (
	"context"

	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/postgres/catalog"
)

// Question is the question of a simulation, as people type it.
type Question = simulation.TypedQuestion

// Simulate predicts what would happen to an incident. It stores and sends nothing.
func (o *Operator) Simulate(ctx context.Context, a Question, c SimulatorConfig) (simulation.Simulation, error) {
	s, err := NewSimulator(o.db, o.applications, c)
	if err != nil {
		return simulation.Simulation{}, err
	}
	sim, err := s.Ask(ctx, a)
	if err == nil {
		return sim, nil
	}
	names := catalog.NewNames(o.db, o.applications)
	if _, missing := names.PlanNumber(ctx, a.Plan); fault.Is(missing, fault.NotFound) {
		return sim, unknown(ctx, names, "there is no active plan ", "plan", a.Plan)
	}
	if a.Application != "" {
		if _, missing := names.ApplicationNumber(ctx, a.Application); fault.Is(missing, fault.Invalid) {
			return sim, unknown(ctx, names, "there is no application ", "application", a.Application)
		}
	}
	return sim, err
}

// unknown returns a NotFound fault for a name that does not exist. It suggests the known name that is most similar.
func unknown(ctx context.Context, names *catalog.Names, text, kind, name string) error {
	known, err := names.Known(ctx, kind)
	if err != nil {
		return err
	}
	return fault.New(fault.NotFound, text+name+fault.DidYouMean(name, known))
}
