// Package events serves the calendar in Oncall's API: shifts, which the wire calls events, edits of shifts, who is on call, and
// the audit log. oncallapi mounts its routes. Every authenticated caller may read. Members of a team may edit its shifts. An
// application of the on-call API may do everything.
package events

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/requests"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// TeamNames lists teams.
type TeamNames interface {
	Names(ctx context.Context, active bool) ([]oncall.TeamName, error)
}

// Users lists people.
type Users interface {
	All(ctx context.Context) ([]oncall.Person, error)
}

// Services finds services and their teams.
type Services interface {
	Service(ctx context.Context, name string) (oncall.Service, error)
	ServiceTeams(ctx context.Context, service int64) ([]oncall.TeamName, error)
}

// Audit reads the calendar's audit log.
type Audit interface {
	Audit(ctx context.Context, by oncall.AuditQuery) ([]oncall.AuditEntry, error)
}

// Deps are the parts that the routes work on. All but Paid are required.
type Deps struct {
	requests.Requests
	Calendars oncall.CalendarStore
	TeamNames TeamNames
	Users     Users
	Services  Services
	Audit     Audit
	// Paid fetches the list of paid roles by team; nil = there is no bonus route.
	Paid  func(ctx context.Context) (json.RawMessage, error) `optional:"true"`
	Bonus Bonus
}

// Each type serves the routes of one resource.
type (
	events   struct{ Deps }
	lookups  struct{ Deps }
	auditLog struct{ Deps }
	bonuses  struct{ Deps }
)

// Routes returns the routes of this package.
func Routes(d Deps) []routing.Route {
	return slices.Concat(events{d}.routes(), lookups{d}.routes(), auditLog{d}.routes(), bonuses{d}.routes())
}
