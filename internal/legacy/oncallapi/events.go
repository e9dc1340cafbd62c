package oncallapi

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

// UserStore lists people.
type UserStore interface {
	All(ctx context.Context) ([]oncall.Person, error)
}

// ServiceStore finds services and their teams.
type ServiceStore interface {
	Service(ctx context.Context, name string) (oncall.Service, error)
	ServiceTeams(ctx context.Context, service int64) ([]oncall.TeamName, error)
}

// AuditStore reads the calendar's audit log.
type AuditStore interface {
	Audit(ctx context.Context, by oncall.AuditQuery) ([]oncall.AuditEntry, error)
}

// EventsDeps are the parts that the routes work on. All but Paid are required.
type EventsDeps struct {
	requests.Requests
	Calendars oncall.CalendarStore
	TeamNames TeamNames
	Users     UserStore
	Services  ServiceStore
	Audit     AuditStore
	// Paid fetches the list of paid roles by team; nil = there is no bonus route.
	Paid  func(ctx context.Context) (json.RawMessage, error) `optional:"true"`
	Bonus Bonus
}

// Each type serves the routes of one resource.
type (
	events   struct{ EventsDeps }
	lookups  struct{ EventsDeps }
	auditLog struct{ EventsDeps }
	bonuses  struct{ EventsDeps }
)

// EventsRoutes returns the routes of this package.
func EventsRoutes(d EventsDeps) []routing.Route {
	return slices.Concat(events{d}.routes(), lookups{d}.routes(), auditLog{d}.routes(), bonuses{d}.routes())
}
