// This file builds what directories push people with: the SCIM edge, and the routes of /v1 about its connections and of
// the audit log.

package apiserver

import (
	"maps"
	"slices"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth/pages"
	"github.com/iris-oncall/iris/internal/auth/pg"
	"github.com/iris-oncall/iris/internal/auth/scim"
	"github.com/iris-oncall/iris/internal/auth/scimapi"
	"github.com/iris-oncall/iris/internal/auth/sso"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/server"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// newSCIM returns the SCIM edge. rules are the rules of each provider, by name.
func newSCIM(c config.API, s *server.Stores, rules map[string]sso.Rules, log *zap.Logger) *scimapi.API {
	kept, issuers := pg.NewSCIM(s.DB), config.Issuers(c.OIDC)
	return scimapi.New(scimapi.Deps{Connections: kept, Users: kept, Groups: kept, PublicURL: c.PublicURL,
		Errors: wire.NewErrors(log),
		Policy: func(of scim.Connection) scim.Policy {
			return scim.Policy{MostDeactivations: c.SCIM.MaxDeactivations, Rules: rules[of.Provider],
				Issuer: issuers[of.Provider], Region: s.Region}
		}})
}

// scimRoutes returns the routes of /v1 about connections, and of the audit log.
func scimRoutes(c config.API, s *server.Stores) []routing.Route {
	kept := pg.NewSCIM(s.DB)
	connections := pages.ConnectionDeps{Connections: kept, Changes: kept, Deactivations: kept, People: s.Users,
		Providers: slices.Sorted(maps.Keys(config.Issuers(c.OIDC)))}
	return slices.Concat(pages.ConnectionRoutes(connections),
		pages.AuditLogRoutes(pages.AuditLogAPIDeps{Read: s.Audit.List}))
}
