package configuration

import (
	"context"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/wire"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

// Simulator computes what would happen to an incident. It writes and sends nothing.
type Simulator interface {
	Ask(ctx context.Context, a simulation.TypedQuestion) (simulation.Simulation, error)
}

func (s simulations) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/v1/plans/{plan}/simulation", routing.Someone, s.simulate), routing.Post("/v1/plans/preview", routing.Someone, s.preview),
	}
}

// simulationTimeout limits the database time of one simulation.
const simulationTimeout = 10 * time.Second

func (s simulations) simulate(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	for name := range q {
		switch name {
		case "at", "assume", "application", "target":
		default:
			return fault.Invalidf(name, "there is no parameter %.60q: at, assume, application and target are known", name)
		}
	}
	plan := wire.Param(r, "plan")
	if !wire.Storable(plan) || !wire.Storable(q.Get("application")) {
		return fault.New(fault.NotFound, "no such plan or application")
	}
	ctx, cancel := context.WithTimeout(r.Context(), simulationTimeout)
	defer cancel()
	sim, err := s.Simulator.Ask(ctx, simulation.TypedQuestion{
		Plan: plan, Application: q.Get("application"), At: q.Get("at"), Assume: q.Get("assume"), Targets: q["target"], Zone: time.UTC,
	})
	if err != nil {
		return err
	}
	wire.JSON(w, http.StatusOK, sim.Report())
	return nil
}
