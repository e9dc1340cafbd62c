// Package events serves the calendar itself in Oncall's API: its shifts, which the wire calls events, and their edits, who is
// on call, the audit log, and the escalate button. oncallapi mounts its routes.
package events

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/wire/calendars"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

// TeamNames lists teams.
type TeamNames interface {
	Names(ctx context.Context, active bool) ([]oncall.TeamName, error)
}

// Users lists people.
type Users interface {
	All(ctx context.Context) ([]oncall.Person, error)
}

// Services finds services and the teams that they belong to.
type Services interface {
	Service(ctx context.Context, name string) (oncall.Service, error)
	ServiceTeams(ctx context.Context, service int64) ([]oncall.TeamName, error)
}

// Audit reads the calendar's audit log.
type Audit interface {
	Audit(ctx context.Context, by oncall.AuditQuery) ([]oncall.AuditEntry, error)
}

// Plans finds plans by name for the escalate button.
type Plans interface {
	ByName(ctx context.Context, name string) (escalation.PlanSteps, error)
}

// Incidents opens incidents, durably.
type Incidents interface {
	Open(ctx context.Context, n incidents.New) (incidents.Opened, error)
}

// Lookups finds what a role and a name mean.
type Lookups interface {
	Lookup(ctx context.Context, role, name string) (escalation.Lookup, error)
}

// EscalatePlan is a plan behind the escalate button.
type EscalatePlan struct {
	Name    string       // "" = the button does not offer it
	Targets []RoleTarget // for the plan's dynamic targets, in order; without a target it is the team
}

// Config holds what operators can choose. The zero value is the default.
type Config struct {
	// Escalate is the application that the escalate button opens incidents as; "" = there is no button.
	Escalate       string
	Urgent, Medium EscalatePlan
	PublicURL      string
	Bonus          Bonus
}

// Deps are the parts that the routes work on. All but Paid are required.
type Deps struct {
	calendars.Requests
	Calendars    oncall.CalendarStore
	TeamNames    TeamNames
	Users        Users
	Services     Services
	Audit        Audit
	Plans        Plans
	Incidents    Incidents
	Lookups      Lookups
	Applications auth.Applications
	// Paid fetches the list of roles that are paid for, by team; nil = the bonus route does not exist.
	Paid func(ctx context.Context) (json.RawMessage, error) `optional:"true"`
	// Wake tells the processors of changed buckets; it never blocks.
	Wake   func(buckets.Set)
	Config Config
}

// The routes by resource.
type (
	events      struct{ Deps }
	lookups     struct{ Deps }
	escalations struct{ Deps }
	auditLog    struct{ Deps }
	bonuses     struct{ Deps }
)

// Routes returns the routes on the parts.
func Routes(d Deps) []routing.Route {
	return slices.Concat(events{d}.routes(), lookups{d}.routes(), escalations{d}.routes(), auditLog{d}.routes(), bonuses{d}.routes())
}
