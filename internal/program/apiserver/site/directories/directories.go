// Package directories builds what directories push people with: the SCIM edge, and the routes of /v1 about its connections and of the audit log.
// Package providers calls it.
package directories

import (
	"maps"
	"slices"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/api/auditlog"
	api "github.com/iris-oncall/iris/internal/api/scim"
	"github.com/iris-oncall/iris/internal/auth/scim"
	"github.com/iris-oncall/iris/internal/auth/sso"
	store "github.com/iris-oncall/iris/internal/postgres/scim"
	"github.com/iris-oncall/iris/internal/program/config"
	"github.com/iris-oncall/iris/internal/program/server"
	"github.com/iris-oncall/iris/internal/scimapi"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// New returns the SCIM edge. rules are the rules of each provider, by name.
func New(c config.API, s *server.Stores, rules map[string]sso.Rules, log *zap.Logger) *scimapi.API {
	kept, issuers := store.New(s.DB), config.Issuers(c.OIDC)
	return scimapi.New(scimapi.Deps{Connections: kept, Users: kept, Groups: kept, PublicURL: c.PublicURL, Errors: wire.NewErrors(log),
		Policy: func(of scim.Connection) scim.Policy {
			return scim.Policy{MostDeactivations: c.SCIM.MaxDeactivations, Rules: rules[of.Provider], Issuer: issuers[of.Provider], Region: s.Region}
		}})
}

// Routes returns the routes of /v1 about connections, and of the audit log.
func Routes(c config.API, s *server.Stores) []routing.Route {
	kept := store.New(s.DB)
	connections := api.Deps{Connections: kept, Changes: kept, Deactivations: kept, People: s.Users, Providers: slices.Sorted(maps.Keys(config.Issuers(c.OIDC)))}
	return slices.Concat(api.Routes(connections), auditlog.Routes(auditlog.Deps{Read: s.Audit.List}))
}
