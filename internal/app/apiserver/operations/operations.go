// Package operations builds the routes of /v1 for operators: statistics and the state of the system. Package apiserver mounts them.
package operations

import (
	"slices"

	"github.com/iris-oncall/iris/internal/api/statistics"
	api "github.com/iris-oncall/iris/internal/api/system"
	"github.com/iris-oncall/iris/internal/app/server"
	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/postgres/system"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

// With adds the routes to others.
func With[W any](c config.API, s *server.Stores, others func(W) []routing.Route) func(W) []routing.Route {
	settings := make([]api.Setting, len(c.InForce))
	for i, set := range c.InForce {
		settings[i] = api.Setting(set)
	}
	parts := api.Deps{Members: s.Cluster, Queues: s.Queues, Sending: system.New(s.DB), Settings: settings, Version: server.Version()}
	return func(wake W) []routing.Route {
		return slices.Concat(others(wake), statistics.Routes(s.Statistics), api.Routes(parts))
	}
}
