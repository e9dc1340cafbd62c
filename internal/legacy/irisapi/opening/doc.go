// Package opening serves the route of /v0 on which applications open incidents. irisapi mounts it. It reads the body and builds the
// context; package internal/opening opens the incident.
package opening

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

// Opener opens incidents.
type Opener = opening.Opener

// Deps are the parts that the route works on. All are required.
type Deps struct {
	Opener Opener
	Texts  Texts
	// Wake wakes the processors of changed buckets; it never blocks.
	Wake func(context.Context, buckets.Set)
}

// incoming serves the route.
type incoming struct{ Deps }

// Routes returns the route on the parts.
func Routes(d Deps) []routing.Route {
	return []routing.Route{routing.Post("/v0/incidents", routing.Write, incoming{d}.open).ForRecent()}
}
