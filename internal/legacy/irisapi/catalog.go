package irisapi

import (
	"context"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Versions reads versions of plans or templates. V is a version without its content, D one with its content. A version
// that does not exist is a NotFound fault.
type Versions[V, D any, ID ~int64] interface {
	List(ctx context.Context, q filters.Query) ([]V, error)
	// Count counts the rows of List, and the rows for each value of the fields.
	Count(ctx context.Context, q filters.Query, fields []string) (filters.Tally, error)
	ByID(ctx context.Context, id ID) (D, error)
	// ByName finds the active version.
	ByName(ctx context.Context, name string) (D, error)
}

// Plans reads versions of plans.
type Plans interface {
	Versions[escalation.Plan, escalation.PlanSteps, escalation.PlanID]
	// Aggregation lists the active plans.
	Aggregation(ctx context.Context) ([]escalation.Plan, error)
}

// Templates reads versions of templates.
type Templates = Versions[messages.TemplateVersion, messages.TemplateDetails, messages.TemplateID]

// CatalogDeps are the parts that the routes work on. All are required.
type CatalogDeps struct {
	Plans              Plans
	PlanOperations     *catalog.Plans
	Templates          Templates
	TemplateOperations *catalog.Templates
	Authors            catalog.Authors
	Openings           auth.Openings
	Tags               Tags
}

// caller returns the caller of a request as operations see it.
func (d CatalogDeps) caller(ctx context.Context) operation.Actor {
	return wire.Actor(ctx).Caller(d.Openings)
}

// The routes by resource.
type (
	plans     struct{ CatalogDeps }
	templates struct{ CatalogDeps }
)

// CatalogRoutes returns the routes on the parts.
func CatalogRoutes(d CatalogDeps) []routing.Route {
	plan, template := plans{d}, templates{d}
	return []routing.Route{
		routing.Get("/v0/plans", routing.Read, plan.list),
		routing.Post("/v0/plans", routing.Write, plan.create),
		routing.Get("/v0/plans/{plan}", routing.Read, plan.get),
		routing.Post("/v0/plans/{plan}", routing.Write, plan.activate),
		routing.Delete("/v0/plans/{plan}", routing.Write, plan.remove),
		routing.Get("/v0/applications/{app}/plans", routing.Read, plan.ofApplication),
		routing.Get("/v0/internal/plan_aggregation_settings", routing.Read, plan.aggregation),
		routing.Get("/v0/templates", routing.Read, template.list),
		routing.Post("/v0/templates", routing.Write, template.create),
		routing.Get("/v0/templates/{template}", routing.Read, template.get),
		routing.Post("/v0/templates/{template}", routing.Write, template.activate),
	}
}
