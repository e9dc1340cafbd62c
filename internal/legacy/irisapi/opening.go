package irisapi

import (
	"context"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/intake/opening"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// Texts finds the templates of plans.
type Texts interface {
	// HasText reports whether a template of the plan has content for the application.
	HasText(ctx context.Context, plan escalation.PlanID, applicationID int64) (bool, error)
}

// OpeningDeps are the parts that the route works on. All are required.
type OpeningDeps struct {
	Opener opening.Opener
	Texts  Texts
	// Wake wakes the processors of changed buckets; it never blocks.
	Wake func(context.Context, buckets.Set)
}

// incoming serves the route.
type incoming struct{ OpeningDeps }

// OpeningRoutes returns the route on the parts.
func OpeningRoutes(d OpeningDeps) []routing.Route {
	return []routing.Route{routing.Post("/v0/incidents", routing.Write, incoming{d}.open).ForRecent()}
}
