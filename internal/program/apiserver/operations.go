// This file builds the routes of /v1 for operators: statistics, and the state of the system.

package apiserver

import (
	"context"
	"slices"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/server"
	pagessystem "github.com/iris-oncall/iris/internal/system/pages"
	changes "github.com/iris-oncall/iris/internal/system/pg"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// operatorRoutes returns the routes. own returns the application that the caller is confined to. wake wakes the
// processors of changed buckets.
func operatorRoutes(c config.API, s *server.Stores, own func(ctx context.Context) (int64, string), wake func(context.Context, buckets.Set)) []routing.Route {
	settings := make([]pagessystem.Setting, len(c.InForce))
	for i, set := range c.InForce {
		settings[i] = pagessystem.Setting(set)
	}
	seen, verbs := changes.NewSystem(s.DB), changes.New(s.DB)
	state := pagessystem.Deps{Members: s.Cluster, Queues: s.Queues, Sending: seen, Cluster: seen, Contacts: s.Contacts,
		Settings: settings, Version: server.Version(),
		Drains: verbs, Pauses: verbs, Messages: verbs, Own: own, Wake: wake}
	return slices.Concat(pagessystem.Routes(s.Statistics, own),
		pagessystem.APIRoutes(state))
}
