package irisapi

import (
	"context"
	"net/http"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Incidents reads incidents. An incident that does not exist is a NotFound fault.
type Incidents interface {
	List(ctx context.Context, q filters.Query) ([]incidents.Incident, error)
	Get(ctx context.Context, id incidents.ID) (incidents.Incident, error)
	// Count counts the rows of List, and the rows for each value of the fields.
	Count(ctx context.Context, q filters.Query, fields []string) (filters.Tally, error)
}

// Transitions changes incidents. Each method returns when the change is durable.
type Transitions interface {
	Acknowledge(ctx context.Context, c incidents.Change, owner users.User) ([]incidents.Acknowledged, error)
	Reopen(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error)
	Resolve(ctx context.Context, c incidents.Change, resolved bool) ([]incidents.Acknowledged, error)
	// SetState sets the step of an incident and whether the incident escalates. A resolved incident is a Conflict fault.
	SetState(ctx context.Context, c incidents.Change, step int, active bool) ([]incidents.Acknowledged, error)
}

// Comments stores comments on incidents.
type Comments interface {
	AddComment(ctx context.Context, id incidents.ID, author users.User, content string) (int64, error)
	Comments(ctx context.Context, id incidents.ID) ([]incidents.Comment, error)
}

// Messages reads the messages of incidents.
type Messages interface {
	ByIncident(ctx context.Context, id incidents.ID) ([]messages.Message, error)
}

// IncidentsDeps are the parts that the routes work on. All are required.
type IncidentsDeps struct {
	Incidents   Incidents
	Transitions Transitions
	Comments    Comments
	Messages    Messages
	People      wire.People
	Tags        Tags
	Openings    auth.Openings
	// InternalApplications may use the routes below /v0/internal.
	InternalApplications []string
	// Wake wakes the processors of changed buckets; it never blocks.
	Wake func(context.Context, buckets.Set)
}

// The routes by resource.
type (
	incidentsReads struct{ IncidentsDeps }
	claims         struct{ IncidentsDeps }
	states         struct{ IncidentsDeps }
	comments       struct{ IncidentsDeps }
)

// IncidentsRoutes returns the routes on the parts.
func IncidentsRoutes(d IncidentsDeps) []routing.Route {
	read, claim, state, comment := incidentsReads{d}, claims{d}, states{d}, comments{d}
	return []routing.Route{
		routing.Get("/v0/incidents", routing.Read, read.list),
		routing.Get("/v0/incidents/{id}", routing.Read, WithID(invalidID, read.get)),
		routing.Post("/v0/incidents/claim", routing.Write, claim.many),
		routing.Post("/v0/incidents/{id}", routing.Write, WithID(invalidID, claim.one)),
		routing.Post("/v0/incidents/{id}/resolve", routing.Write, WithID(invalidID, claim.resolve)),
		routing.Post("/v0/internal/incident/{id}", routing.Write, Internal(state.InternalApplications, WithID(invalidID, state.set))),
		routing.Get("/v0/incidents/{id}/comments", routing.Read, WithID(invalidID, comment.list)),
		routing.Post("/v0/incidents/{id}/comments", routing.Write, WithID(invalidID, comment.add)),
	}
}

// noSuchIncident is the answer to a change of an incident that does not exist: 404 for callers that reach only the incidents of their
// application, since those of others do not exist for them either.
func (d IncidentsDeps) noSuchIncident(ctx context.Context) error {
	if wire.Actor(ctx).Confined(d.Openings) {
		return auth.ErrNotReached
	}
	return fault.New(fault.Invalid, "Invalid claim: no matching incident id")
}

const invalidID = "Invalid incident id"

// change returns a change of incidents by the caller.
func change(r *http.Request, ids ...incidents.ID) incidents.Change {
	return incidents.Change{IDs: ids, Actor: By(r), Via: incidents.ViaAPI}
}

// wake wakes the processors of changed incidents.
func (d IncidentsDeps) wake(ctx context.Context, done []incidents.Acknowledged) {
	var set buckets.Set
	for _, a := range done {
		if a.Found {
			set.Add(int(int64(a.ID) % buckets.Count))
		}
	}
	d.Wake(ctx, set)
}
