// This file serves the routes of /v1 that show and change which team owns an application. The integrations of an
// application belong to its team.

package pages

import (
	"context"
	"net/http"
	"strconv"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Store finds active teams and changes owners. A team or object that does not exist is a NotFound fault.
type Store interface {
	ByName(ctx context.Context, team string) (users.OwningTeam, error)
	// Give returns a Stale fault if from does not own the object. by is the actor of the audit log.
	Give(ctx context.Context, kind, name string, from, to users.OwningTeam, by string) error
}

// OwnersDeps are the parts that the routes work on. All are required. A name that does not exist is a NotFound fault.
type OwnersDeps struct {
	Store       Store
	Application func(ctx context.Context, name string) (applications.Application, error)
}

// owned is an object with its present owner.
type owned struct {
	name string
	team users.OwningTeam
	owns func(auth.Actor) bool // whether the actor is an owner without the team
}

// resource serves the owner of one kind of object.
type resource struct {
	kind, parameter string
	store           Store
	find            func(ctx context.Context, name string) (owned, error)
}

// OwnerRoutes returns the routes on the parts.
func OwnerRoutes(d OwnersDeps) []routing.Route {
	var out []routing.Route
	for _, a := range []resource{
		{"application", "app", d.Store, func(ctx context.Context, name string) (owned, error) {
			found, err := d.Application(ctx, name)
			return owned{found.Name, found.Team, func(a auth.Actor) bool {
				return a.Owning(found.ID, found.OwnerIDs, users.OwningTeam{}).MayEditApplication(found.ID) == nil
			}}, err
		}},
	} {
		path := "/v1/" + a.kind + "s/{" + a.parameter + "}/owner"
		out = append(out, routing.Get(path, routing.Someone, a.get), routing.Put(path, routing.Write, a.replace))
	}
	return out
}

func (a resource) named(r *http.Request) (owned, error) {
	name := wire.Param(r, a.parameter)
	missing := fault.Newf(fault.NotFound, "there is no active %s %.100q", a.kind, name)
	if !wire.Storable(name) {
		return owned{}, missing
	}
	found, err := a.find(r.Context(), name)
	return found, fault.When(err, fault.NotFound, missing)
}

func (a resource) get(w http.ResponseWriter, r *http.Request) error {
	found, err := a.named(r)
	if err != nil {
		return err
	}
	return ownersAnswer(w, found.team)
}

// replace gives the object to the team of the body, or to no team.
func (a resource) replace(w http.ResponseWriter, r *http.Request) error {
	found, err := a.named(r)
	if err != nil {
		return err
	}
	b, err := jsonbody.ReadKnown(w, r, "team")
	if err != nil {
		return err
	}
	if !b.Has("team") {
		return b.Missing("team")
	}
	name, err := b.Text("team")
	if err != nil {
		return err
	}
	var to users.OwningTeam
	if name != "" {
		to, err = a.store.ByName(r.Context(), name)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	actor := wire.Actor(r.Context())
	if refused := catalog.MayGive(actor.Caller(auth.Openings{}), found.owns(actor), found.team, to); refused != nil {
		return refused
	}
	if err != nil {
		return fault.Invalidf("team", "there is no active team %.100q", name)
	}
	if _, err := routing.CheckTag(r, tag(found.team)); err != nil {
		return err
	}
	if err := a.store.Give(r.Context(), a.kind, found.name, found.team, to, actor.String()); err != nil {
		return err
	}
	return ownersAnswer(w, to)
}

func ownersAnswer(w http.ResponseWriter, team users.OwningTeam) error {
	routing.ShowTag(w, tag(team))
	return routing.Answer(w, http.StatusOK, struct {
		Team *string `json:"team"`
	}{listing.OrNull(team.Name)})
}

func tag(t users.OwningTeam) string { return strconv.FormatInt(t.ID, 10) }
