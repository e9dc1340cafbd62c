package pages

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// APIIncidents reads incidents. An incident that does not exist is a NotFound fault; its list of alerts is empty.
type APIIncidents interface {
	List(ctx context.Context, q filters.Query) ([]incidents.Incident, error)
	Get(ctx context.Context, id incidents.ID) (incidents.Incident, error)
	Alerts(ctx context.Context, id incidents.ID, after string, most int) ([]incidents.Alert, error)
}

// APITransitions changes incidents. A method returns when the change is durable. A change that the incident's state does not allow
// is a Conflict fault.
type APITransitions interface {
	Acknowledge(ctx context.Context, c incidents.Change, owner users.User) ([]incidents.Acknowledged, error)
	Reopen(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error)
	Resolve(ctx context.Context, c incidents.Change, resolved bool) ([]incidents.Acknowledged, error)
	Escalate(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error)
	Restart(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error)
}

// APIResponders changes who works on an incident. A change that the incident's state does not allow is a Conflict fault.
type APIResponders interface {
	PageAlso(ctx context.Context, c incidents.Change, p incidents.AddedPage) error
	Reassign(ctx context.Context, c incidents.Change, owner string) error
}

// APISnoozes ends the escalation of incidents for some time. Its methods are like those of Transitions.
type APISnoozes interface {
	Snooze(ctx context.Context, c incidents.Change, end incidents.SnoozeEnd) ([]incidents.Acknowledged, error)
	EndSnooze(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error)
}

// APIMerges makes one incident stand for others. Its methods are like those of Transitions. A parent that does not permit the merge is an
// Invalid fault.
type APIMerges interface {
	Merge(ctx context.Context, c incidents.Change, into incidents.ID, comment string) ([]incidents.Acknowledged, error)
	Unmerge(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error)
}

// Comments stores comments on incidents.
type Comments interface {
	AddComment(ctx context.Context, id incidents.ID, author users.User, content string) (int64, error)
	Comments(ctx context.Context, id incidents.ID) ([]incidents.Comment, error)
}

// Timelines reads the entries of timelines, oldest first.
type Timelines interface {
	Timeline(ctx context.Context, id incidents.ID) ([]incidents.Entry, error)
}

// APIDeps are the parts that the routes work on. All are required.
type APIDeps struct {
	Incidents   APIIncidents
	Transitions APITransitions
	Snoozes     APISnoozes
	Merges      APIMerges
	Responders  APIResponders
	Comments    Comments
	Timelines   Timelines
	People      wire.People
	// Wake wakes the processors of changed buckets; it never blocks.
	Wake func(context.Context, buckets.Set)
}

// The routes by resource.
type (
	reads     struct{ APIDeps }
	actions   struct{ APIDeps }
	teamwork  struct{ APIDeps }
	comments  struct{ APIDeps }
	timelines struct{ APIDeps }
)

// Routes returns the routes on the parts.
func Routes(d APIDeps) []routing.Route {
	return slices.Concat(reads{d}.routes(), actions{d}.routes(), teamwork{d}.routes(), comments{d}.routes(), timelines{d}.routes())
}

// find reads the incident of the path. It returns a NotFound fault if there is none.
func (d APIDeps) find(r *http.Request) (incidents.Incident, error) {
	id, err := strconv.ParseInt(wire.Param(r, "id"), 10, 64)
	if err != nil || id <= 0 {
		return incidents.Incident{}, fault.New(fault.NotFound, "there is no such incident")
	}
	return d.Incidents.Get(r.Context(), incidents.ID(id))
}

// person returns the person who acts: the one that the body names, else the caller. It refuses a person for whom the caller may
// not act.
func (d APIDeps) person(ctx context.Context, field, name string) (users.User, error) {
	actor := wire.Actor(ctx)
	if name == "" {
		name = actor.Username
	}
	if name == "" {
		return users.User{}, fault.Invalidf(field, "%s is required: the caller is no person", field)
	}
	u, err := d.People.ByName(ctx, name)
	unknown := fault.Is(err, fault.NotFound)
	if err != nil && !unknown {
		return u, err
	}
	if unknown {
		u = users.User{Name: name}
	}
	switch {
	case !actor.MayActAs(u, auth.Openings{}):
		return u, auth.ErrNotThisUser
	case unknown || !u.Active:
		return u, fault.Invalidf(field, "there is no active user %.100q", name)
	}
	return u, nil
}
