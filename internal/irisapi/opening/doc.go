// Package opening serves the route of /v0 on which applications open incidents. irisapi mounts it.
package opening

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

// Incidents opens incidents. Open returns when the incident is durable.
type Incidents interface {
	Open(ctx context.Context, n incidents.New) (incidents.Opened, error)
}

// Plans finds active plans.
type Plans interface {
	// Recent finds a plan by name. The result may be a second old. It returns a NotFound fault if there is none.
	Recent(ctx context.Context, name string) (escalation.PlanSteps, error)
	// HasText reports whether a template of the plan has content for the application.
	HasText(ctx context.Context, plan escalation.PlanID, applicationID int64) (bool, error)
}

// Applications finds applications, with the variables that they declared.
type Applications interface {
	ByName(ctx context.Context, name string) (auth.Application, error)
}

// Lookups finds the people that a role and a name mean. The result may be a second old.
type Lookups interface {
	Lookup(ctx context.Context, role, name string) (escalation.Lookup, error)
}

// Load limits the pending messages of an application, and counts accepted incidents.
type Load interface {
	// Overloaded returns how long the application must wait before it opens another incident; 0 = it need not wait.
	Overloaded(ctx context.Context, app auth.Application) (time.Duration, error)
	// Accepted counts n accepted incidents of an application.
	Accepted(applicationID int64, n int)
}

// Rates limits how many incidents an application opens on a plan version. A Throttled fault refuses one.
type Rates interface {
	Check(ctx context.Context, app auth.Application, plan int64) error
}

// Deps are the parts that the route works on. All but Rates are required.
type Deps struct {
	Incidents    Incidents
	Plans        Plans
	Applications Applications
	Lookups      Lookups
	Load         Load
	Rates        Rates `optional:"true"` // nil = any number of incidents
	// Refused counts an incident that Load refuses.
	Refused func()
	// Wake wakes the processors of changed buckets; it never blocks.
	Wake func(buckets.Set)
}

// incoming serves the route.
type incoming struct{ Deps }

// Routes returns the route on the parts.
func Routes(d Deps) []routing.Route {
	return []routing.Route{routing.Post("/v0/incidents", routing.Write, incoming{d}.open).ForRecent()}
}

// overloaded returns the Throttled fault of an application that must wait.
func overloaded(app auth.Application, wait time.Duration) error {
	return &fault.Error{Kind: fault.Throttled, RetryAfter: wait,
		Message: "Application " + app.Name + " has too many messages waiting",
		Detail:  "nothing was stored; send it again later"}
}
