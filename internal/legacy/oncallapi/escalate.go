package oncallapi

import (
	"context"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/oncall/requests"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// PlanStore finds plans by name for the escalate button.
type PlanStore interface {
	ByName(ctx context.Context, name string) (escalation.PlanSteps, error)
}

// Incidents opens incidents. Open returns when the incident is durable.
type Incidents interface {
	Open(ctx context.Context, n incidents.New) (incidents.Opened, error)
}

// Lookups finds the people that a role and a name mean.
type Lookups interface {
	Lookup(ctx context.Context, role, name string) (escalation.Lookup, error)
}

// Plan is a plan behind the escalate button.
type Plan struct {
	Name    string       // "" = the button does not offer this plan
	Targets []RoleTarget // one for each dynamic target of the plan, in order; the team is the target of those without a name
}

// Config is set by operators. The zero value is the default.
type Config struct {
	// Escalate is the application that the button opens incidents as; "" = there is no button.
	Escalate       string
	Urgent, Medium Plan
	PublicURL      string
}

// EscalateDeps are the parts that the routes work on. All are required.
type EscalateDeps struct {
	requests.Requests
	Plans        PlanStore
	Incidents    Incidents
	Lookups      Lookups
	Applications auth.Applications
	// Wake notifies the processors of changed buckets; it never blocks.
	Wake   func(context.Context, buckets.Set)
	Config Config
}

// EscalateRoutes returns the routes of this package.
func EscalateRoutes(d EscalateDeps) []routing.Route { return d.routes() }
