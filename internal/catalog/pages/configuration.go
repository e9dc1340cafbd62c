package pages

import "github.com/iris-oncall/iris/internal/web/routing"

// ConfigurationDeps are the parts that the routes work on. All are required.
type ConfigurationDeps struct {
	Simulator Simulator
}

type simulations struct{ ConfigurationDeps }

// SimulationRoutes returns the routes on the parts.
func SimulationRoutes(d ConfigurationDeps) []routing.Route { return simulations{d}.routes() }
