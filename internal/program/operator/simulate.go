package operator

import (
	"context"

	"github.com/iris-oncall/iris/internal/catalog/pg"
	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
)

// Simulations answers questions as people type them. For a plan or application that does not exist, the error suggests
// a similar name.
type Simulations struct {
	*simulation.Simulator
	names *pg.Names
}

// NewSimulations returns Simulations on the database.
func NewSimulations(s *simulation.Simulator, db *postgres.DB, apps *pg.Applications) Simulations {
	return Simulations{s, pg.NewNames(db, apps)}
}

// Ask predicts what would happen to an incident. It stores and sends nothing.
func (s Simulations) Ask(ctx context.Context, a simulation.TypedQuestion) (simulation.Simulation, error) {
	sim, err := s.Simulator.Ask(ctx, a)
	if err == nil {
		return sim, nil
	}
	if a.Draft == nil {
		if _, missing := s.names.PlanNumber(ctx, a.Plan); fault.Is(missing, fault.NotFound) {
			return sim, unknown(ctx, s.names, "there is no active plan ", "plan", a.Plan)
		}
	}
	if a.Application != "" {
		if _, missing := s.names.ApplicationNumber(ctx, a.Application); fault.Is(missing, fault.Invalid) {
			err = unknown(ctx, s.names, "there is no application ", "application", a.Application)
			return sim, fault.When(err, fault.NotFound, fault.Invalidf("application", "%s", fault.Public(err)))
		}
	}
	return sim, err
}

// unknown returns a NotFound fault for a name that does not exist. It suggests the known name that is most similar.
func unknown(ctx context.Context, names *pg.Names, text, kind, name string) error {
	known, err := names.Known(ctx, kind)
	if err != nil {
		return err
	}
	return fault.New(fault.NotFound, text+name+fault.DidYouMean(name, known))
}
