package pages

import (
	"context"

	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// Removals deletes objects by kind (team, user) and name. An object that others use is a Conflict fault that names
// them, unless force is set. An object that does not exist or is not active is a NotFound fault.
type Removals interface {
	Remove(ctx context.Context, kind, name string, force bool, actor string) error
	// AdministersTeam reports whether a person administers a team.
	AdministersTeam(ctx context.Context, person users.ID, team string) (bool, error)
}

// ConfigurationDeps are the parts that the routes work on. All are required.
type ConfigurationDeps struct{ Removals Removals }

// The routes by resource.
type removals struct{ ConfigurationDeps }

// RemovalRoutes returns the routes on the parts.
func RemovalRoutes(d ConfigurationDeps) []routing.Route { return removals{d}.routes() }
