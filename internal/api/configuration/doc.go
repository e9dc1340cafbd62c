// Package configuration serves the routes of /v1 that change the configuration or show who changed it: fallbacks of plans
// and applications, settings of plans, deletion of objects, and what a plan would do. api mounts its routes.
package configuration

import (
	"context"
	"slices"

	"github.com/iris-oncall/iris/internal/applications"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

// Plans reads active plans and stores their fallbacks and settings. A nil fallback removes the stored one. A plan that does not exist is a
// NotFound fault.
type Plans interface {
	ByName(ctx context.Context, name string) (escalation.PlanSteps, error)
	SetFallback(ctx context.Context, plan string, to *escalation.Target) error
	// SetSettings stores the settings that are given. by is the actor of the audit log.
	SetSettings(ctx context.Context, plan string, p escalation.SettingsPatch, by string) error
	// SetPaused pauses all versions of a plan, or lets them go on. by is the actor of the audit log.
	SetPaused(ctx context.Context, plan string, paused bool, by string) error
}

// Applications reads applications and stores their fallbacks. A nil fallback removes the stored one. An application that does
// not exist is a NotFound fault.
type Applications interface {
	Describe(ctx context.Context, name string) (applications.Application, error)
	SetFallback(ctx context.Context, application int64, to *escalation.Target) error
}

// Fallbacks reads the fallbacks of applications, by number.
type Fallbacks interface {
	Applications(ctx context.Context, ids []int64) (map[int64]escalation.Application, error)
}

// Removals deletes objects by kind (team, user, plan, template) and name. An object that others use is a Conflict fault that
// names them, unless force is set. An object that does not exist or is not active is a NotFound fault. A plan or template that has
// none of the tags of ifMatch is a Stale fault; nil = any tag.
type Removals interface {
	Remove(ctx context.Context, kind, name string, force bool, ifMatch []string, actor string) error
	// Owner returns the creator and the owning team of an active plan or template; 0 = there is none.
	Owner(ctx context.Context, kind, name string) (creator users.ID, team users.OwningTeam, err error)
	// AdministersTeam reports whether a person administers a team.
	AdministersTeam(ctx context.Context, person users.ID, team string) (bool, error)
}

// Deps are the parts that the routes work on. All are required.
type Deps struct {
	Plans        Plans
	Applications Applications
	Fallbacks    Fallbacks
	Removals     Removals
	Simulator    Simulator
	Drafts       Drafts
}

// The routes by resource.
type (
	fallbacks    struct{ Deps }
	planSettings struct{ Deps }
	removals     struct{ Deps }
	simulations  struct{ Deps }
)

// Routes returns the routes on the parts.
func Routes(d Deps) []routing.Route {
	return slices.Concat(fallbacks{d}.routes(), planSettings{d}.routes(), removals{d}.routes(), simulations{d}.routes())
}
