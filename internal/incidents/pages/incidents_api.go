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
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// APIDeps are the parts that the routes work on. All are required.
type APIDeps struct {
	Incidents  Store
	Responders Responders
	People     wire.People
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
	return slices.Concat(reads{d}.routes(), actions{d}.routes(), teamwork{d}.routes(), comments{d}.routes(),
		timelines{d}.routes())
}

// find reads the incident of the path. It returns a NotFound fault if there is none.
func (d APIDeps) find(r *http.Request) (incidents.Incident, error) {
	id, err := strconv.ParseInt(wire.Param(r, "id"), 10, 64)
	if err != nil || id <= 0 {
		return incidents.Incident{}, fault.New(fault.NotFound, "there is no such incident")
	}
	return d.Incidents.Get(r.Context(), incidents.ID(id))
}

// person returns the person who acts: the one that the body names, else the caller. It refuses a person for whom the
// caller may not act.
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
