package operator

import (
	"context"

	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/catalog"
	"github.com/iris-oncall/iris/internal/postgres/engine"
)

// Simulations answers questions as people type them. For a plan or application that does not exist, the error suggests a similar name.
type Simulations struct {
	simulator *simulation.Simulator
	names     *catalog.Names
	runner    *engine.Runner
}

// NewSimulations returns Simulations on the database.
func NewSimulations(s *simulation.Simulator, db *postgres.DB, apps *catalog.Applications) Simulations {
	return Simulations{s, catalog.NewNames(db, apps), engine.NewRunner(db)}
}

// Ask predicts what would happen to an incident. It stores and sends nothing.
func (s Simulations) Ask(ctx context.Context, a simulation.TypedQuestion) (simulation.Simulation, error) {
	sim, err := s.simulator.Ask(ctx, a)
	if err == nil {
		return sim, nil
	}
	if _, missing := s.names.PlanNumber(ctx, a.Plan); fault.Is(missing, fault.NotFound) {
		return sim, unknown(ctx, s.names, "there is no active plan ", "plan", a.Plan)
	}
	if a.Application != "" {
		if _, missing := s.names.ApplicationNumber(ctx, a.Application); fault.Is(missing, fault.Invalid) {
			err = unknown(ctx, s.names, "there is no application ", "application", a.Application)
			return sim, fault.When(err, fault.NotFound, fault.Invalidf("application", "%s", fault.Public(err)))
		}
	}
	return sim, err
}

// Next returns what happens next to an incident. It returns a NotFound fault if there is no such incident.
func (s Simulations) Next(ctx context.Context, id incidents.ID) (simulation.Next, error) {
	due, err := s.runner.Ahead(ctx, id)
	if err != nil || !due.Active {
		return simulation.Next{}, err
	}
	return s.simulator.Next(ctx, due)
}

// unknown returns a NotFound fault for a name that does not exist. It suggests the known name that is most similar.
func unknown(ctx context.Context, names *catalog.Names, text, kind, name string) error {
	known, err := names.Known(ctx, kind)
	if err != nil {
		return err
	}
	return fault.New(fault.NotFound, text+name+fault.DidYouMean(name, known))
}
