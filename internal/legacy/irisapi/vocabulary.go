package irisapi

import (
	"context"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/filters"
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
	Roles(ctx context.Context) ([]escalation.TargetRole, error)
	PriorityModes(ctx context.Context) (map[users.Priority]users.Mode, error)
}

// CategoryStore lists the categories of applications, sorted by id.
type CategoryStore interface {
	Categories(ctx context.Context, q filters.Query) ([]applications.Category, error)
}

// VocabularyDeps are the parts that the routes work on. All are required.
type VocabularyDeps struct {
	Targets    Targets
	Categories CategoryStore
	Tags       Tags
	// TimeZones are the time zones that people may choose.
	TimeZones []string
	// InternalApplications may use the routes below /v0/internal.
	InternalApplications []string
}

// The routes by resource.
type (
	vocabularyTargets    struct{ VocabularyDeps }
	names                struct{ VocabularyDeps }
	vocabularyCategories struct{ VocabularyDeps }
	tags                 struct{ VocabularyDeps }
)

// VocabularyRoutes returns the routes on the parts.
func VocabularyRoutes(d VocabularyDeps) []routing.Route {
	target, name, category, tag := vocabularyTargets{d}, names{d}, vocabularyCategories{d}, tags{d}
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
		routes = append(routes, routing.Put("/v0/internal/"+kind+"_tag", routing.Write,
			Internal(d.InternalApplications, tag.set(kind))))
	}
	return routes
}
