package pages

import (
	"context"
	"slices"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// RemovableApplications reads applications and stores their fallbacks. A nil fallback removes the stored one. An application that does
// not exist is a NotFound fault.
type RemovableApplications interface {
	Describe(ctx context.Context, name string) (applications.Application, error)
	SetFallback(ctx context.Context, application int64, to *escalation.Target) error
}

// Fallbacks reads the fallbacks of applications, by number.
type Fallbacks interface {
	Applications(ctx context.Context, ids []int64) (map[int64]escalation.Application, error)
}

// Removals deletes objects by kind (team, user) and name. An object that others use is a Conflict fault that names them, unless force is set.
// An object that does not exist or is not active is a NotFound fault.
type Removals interface {
	Remove(ctx context.Context, kind, name string, force bool, actor string) error
	// AdministersTeam reports whether a person administers a team.
	AdministersTeam(ctx context.Context, person users.ID, team string) (bool, error)
}

// ConfigurationDeps are the parts that the routes work on. All are required.
type ConfigurationDeps struct {
	Applications RemovableApplications
	Fallbacks    Fallbacks
	Removals     Removals
	Simulator    Simulator
}

// The routes by resource.
type (
	fallbacks   struct{ ConfigurationDeps }
	removals    struct{ ConfigurationDeps }
	simulations struct{ ConfigurationDeps }
)

// RemovalRoutes returns the routes on the parts.
func RemovalRoutes(d ConfigurationDeps) []routing.Route {
	return slices.Concat(fallbacks{d}.routes(), removals{d}.routes(), simulations{d}.routes())
}
