// Package operations builds the routes of /v1 for operators: owners, tokens, statistics, and the state of the system. Package resources calls it.
package operations

import (
	"context"
	"slices"

	"github.com/iris-oncall/iris/internal/api/owners"
	"github.com/iris-oncall/iris/internal/api/statistics"
	api "github.com/iris-oncall/iris/internal/api/system"
	"github.com/iris-oncall/iris/internal/api/tokens"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/postgres/system"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/server"
	changes "github.com/iris-oncall/iris/internal/system/pg"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// Routes returns the routes. own returns the application that the caller is confined to. wake wakes the processors of changed buckets.
func Routes(c config.API, s *server.Stores, own func(ctx context.Context) (int64, string), wake func(context.Context, buckets.Set)) []routing.Route {
	settings := make([]api.Setting, len(c.InForce))
	for i, set := range c.InForce {
		settings[i] = api.Setting(set)
	}
	owned := owners.Deps{Store: s.Owners, Application: s.Applications.Describe}
	keys := tokens.Deps{Tokens: s.Tokens, Services: tokens.Services{Store: s.Tokens, Teams: s.Teams, Most: c.Tokens.ServiceMaxLife}, Grants: s.Grants, Most: c.Tokens.PersonalMaxLife}
	seen, verbs := system.New(s.DB), changes.New(s.DB)
	state := api.Deps{Members: s.Cluster, Queues: s.Queues, Sending: seen, Cluster: seen, Contacts: s.Contacts, Settings: settings, Version: server.Version(),
		Drains: verbs, Pauses: verbs, Applications: verbs, Messages: verbs, Own: own, Wake: wake}
	return slices.Concat(owners.Routes(owned), tokens.Routes(keys), statistics.Routes(s.Statistics, own), api.Routes(state))
}
