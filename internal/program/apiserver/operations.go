// This file builds the operations on the running system.

package apiserver

import (
	"context"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/server"
	"github.com/iris-oncall/iris/internal/system"
	changes "github.com/iris-oncall/iris/internal/system/pg"
)

// systemOf returns the operations on the running system. wake wakes the processors of changed buckets.
func systemOf(c config.API, s *server.Stores, wake func(context.Context, buckets.Set)) *system.System {
	settings := make([]system.Setting, len(c.InForce))
	for i, set := range c.InForce {
		settings[i] = system.Setting(set)
	}
	return system.New(system.Deps{Members: s.Cluster, Queues: s.Queues, Seen: changes.NewSystem(s.DB),
		Contacts: s.Contacts, Settings: settings, Version: server.Version(), Verbs: changes.New(s.DB), Counts: s.Statistics, Wake: wake})
}
