// This file builds what directories push people with: the SCIM edge, and the operations on its connections.

package apiserver

import (
	"maps"
	"slices"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth/pg"
	"github.com/iris-oncall/iris/internal/auth/scim"
	"github.com/iris-oncall/iris/internal/auth/scimapi"
	"github.com/iris-oncall/iris/internal/auth/sso"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/server"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// newSCIM returns the SCIM edge. rules are the rules of each provider, by name.
func newSCIM(c config.API, s *server.Stores, rules map[string]sso.Rules, log *zap.Logger) *scimapi.API {
	kept, issuers := pg.NewSCIM(s.DB), config.Issuers(c.OIDC)
	return scimapi.New(scimapi.Deps{Connections: kept, Users: kept, Groups: kept, PublicURL: c.PublicURL,
		Errors: wire.NewErrors(log),
		Policy: func(of scim.Connection) scim.Policy {
			return scim.Policy{MostDeactivations: c.SCIM.MaxDeactivations, Rules: rules[string(of.Provider)],
				Issuer: issuers[string(of.Provider)], Region: s.Region}
		}})
}

// connections returns the operations on connections.
func connections(c config.API, s *server.Stores) *scim.Connections {
	return scim.NewConnections(pg.NewSCIM(s.DB), s.Users, slices.Sorted(maps.Keys(config.Issuers(c.OIDC))))
}
