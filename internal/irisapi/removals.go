package irisapi

import (
	"context"
	"net/http"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

// Removals deletes objects by kind (team, user, plan, template) and name. What uses one is a Conflict fault that names it, unless
// forced; a NotFound fault when there is no active one.
type Removals interface {
	Remove(ctx context.Context, kind, name string, force bool, actor string) error
	// AdministersTeam reports whether a person administers a team.
	AdministersTeam(ctx context.Context, person users.ID, team string) (bool, error)
}

// removalRoutes delete what /v0 and /api/v0 delete without looking who uses it.
type removalRoutes struct{ removals Removals }

func (d removalRoutes) table() []route {
	return []route{
		{del, "/v1/teams/{team}", write, d.remove("team")},
		{del, "/v1/users/{user}", write, d.remove("user")},
		{del, "/v1/plans/{plan}", write, d.remove("plan")},
		{del, "/v1/templates/{template}", write, d.remove("template")},
	}
}

// may allows administrators to delete, and people to delete teams that they administer.
func (d removalRoutes) may(ctx context.Context, actor auth.Actor, kind, name string) error {
	refused := actor.MayAdminister()
	if refused == nil || kind != "team" || actor.UserID == 0 || actor.ReadOnly || !storable(name) {
		return refused
	}
	administers, err := d.removals.AdministersTeam(ctx, actor.UserID, name)
	if err != nil {
		return err
	}
	if administers {
		return nil
	}
	return refused
}

func (d removalRoutes) remove(kind string) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		actor := wire.Actor(r.Context())
		name := wire.Param(r, kind)
		if err := d.may(r.Context(), actor, kind, name); err != nil {
			return err
		}
		q := r.URL.Query()
		for parameter := range q {
			if parameter != "force" {
				return fault.Invalidf(parameter, "there is no parameter %.60q: force is known", parameter)
			}
		}
		force := q.Get("force")
		if force != "" && force != "true" && force != "false" {
			return fault.Invalidf("force", "force must be true or false")
		}
		if !storable(name) {
			return fault.Newf(fault.NotFound, "there is no active %s of that name", kind)
		}
		if err := d.removals.Remove(r.Context(), kind, name, force == "true", actor.String()); err != nil {
			return err
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
}
