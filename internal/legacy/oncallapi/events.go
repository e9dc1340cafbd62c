package oncallapi

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// EventsDeps are the parts that the routes work on. All but Paid are required.
type EventsDeps struct {
	Requests
	// Edits makes the edits of shifts.
	Edits     operation.Op[calendaring.EventEditing, calendaring.EditAnswer]
	Calendars oncall.CalendarStore
	Teams     Teams
	Users     Users
	Names     Names
	Notices   Notices
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
