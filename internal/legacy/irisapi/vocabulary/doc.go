// Package vocabulary serves the routes of /v0 that list the names for other requests: targets, roles, modes, priorities, time zones,
// categories and tags. irisapi mounts its routes.
package vocabulary

import (
	"context"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/legacy/irisapi/v0"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// Targets lists the targets that plans may name. Comparisons of names ignore case.
type Targets interface {
	Names(ctx context.Context, prefix string) ([]string, error)
	NamesOfKind(ctx context.Context, kind string, q filters.Query) ([]string, error)
	Exists(ctx context.Context, name string) (bool, error)
	// OnAnyList reports whether a person is a member of one of the mailing lists.
	OnAnyList(ctx context.Context, user string, lists []string) (bool, error)
}

// Roles lists the roles of targets and the default mode of every priority.
type Roles interface {
	Roles(ctx context.Context) ([]escalation.TargetRole, error)
	PriorityModes(ctx context.Context) (map[users.Priority]users.Mode, error)
}

// Categories lists the categories of applications, sorted by id.
type Categories interface {
	Categories(ctx context.Context, q filters.Query) ([]applications.Category, error)
}

// Tags shows and filters by the tags that the operator allows.
type Tags = v0.Tags

// Deps are the parts that the routes work on. All are required.
type Deps struct {
	Targets    Targets
	Roles      Roles
	Categories Categories
	Tags       v0.Tags
	// TimeZones are the time zones that people may choose.
	TimeZones []string
	// InternalApplications may use the routes below /v0/internal.
	InternalApplications []string
}

// The routes by resource.
type (
	targets    struct{ Deps }
	names      struct{ Deps }
	categories struct{ Deps }
	tags       struct{ Deps }
)

// Routes returns the routes on the parts.
func Routes(d Deps) []routing.Route {
	target, name, category, tag := targets{d}, names{d}, categories{d}, tags{d}
	routes := []routing.Route{
		routing.Get("/v0/targets", routing.Someone, target.list),
		routing.Get("/v0/targets/{kind}", routing.Someone, target.ofKind),
		routing.Get("/v0/targets/{name}/exists", routing.Someone, target.exists),
		routing.Get("/v0/users/{username}/in_lists", routing.Someone, target.inLists),
		routing.Get("/v0/target_roles", routing.Read, name.listRoles),
		routing.Get("/v0/modes", routing.Someone, name.listModes),
		routing.Get("/v0/priorities", routing.Someone, name.listPriorities),
		routing.Get("/v0/internal/priority_mode_map", routing.Read, name.priorityModes),
		routing.Get("/v0/timezones", routing.Read, name.listZones),
		routing.Get("/v0/categories", routing.Read, category.list),
		routing.Get("/v0/categories/{app}", routing.Read, category.list),
		routing.Get("/v0/allowed_metadata_tags", routing.Read, tag.allowed),
	}
	for _, kind := range []string{"incident", "application", "plan", "template", "target"} {
		routes = append(routes, routing.Put("/v0/internal/"+kind+"_tag", routing.Write, v0.Internal(d.InternalApplications, tag.set(kind))))
	}
	return routes
}
