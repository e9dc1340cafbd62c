// This file builds the routes of /v1 for operators: tokens, statistics, and the state of the system.

package apiserver

import (
	"context"
	"slices"

	pagesauth "github.com/iris-oncall/iris/internal/auth/pages"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/server"
	"github.com/iris-oncall/iris/internal/system"
	changes "github.com/iris-oncall/iris/internal/system/pg"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// operatorRoutes returns the routes. own returns the application that the caller is confined to.
func operatorRoutes(c config.API, s *server.Stores, own func(ctx context.Context) (int64, string)) []routing.Route {
	keys := pagesauth.TokenAPIDeps{Tokens: s.Tokens, Services: pagesauth.TokenServices{Store: s.Tokens,
		Owners: s.Owners, Teams: s.Teams, Most: c.Tokens.ServiceMaxLife}, Grants: s.Grants,
		Most: c.Tokens.PersonalMaxLife}
	return slices.Concat(pagesauth.TokenRoutes(keys))
}

// systemOf returns the operations on the running system. wake wakes the processors of changed buckets.
func systemOf(c config.API, s *server.Stores, wake func(context.Context, buckets.Set)) *system.System {
	settings := make([]system.Setting, len(c.InForce))
	for i, set := range c.InForce {
		settings[i] = system.Setting(set)
	}
	return system.New(system.Deps{Members: s.Cluster, Queues: s.Queues, Seen: changes.NewSystem(s.DB),
		Contacts: s.Contacts, Settings: settings, Version: server.Version(), Verbs: changes.New(s.DB), Counts: s.Statistics, Wake: wake})
}
