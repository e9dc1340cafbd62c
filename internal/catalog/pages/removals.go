package pages

import (
	"context"
	"net/http"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// routes returns the routes that delete objects. Without force=true, they refuse to delete an object that others use.
// /v0 and /api/v0 do not check this.
func (a removals) routes() []routing.Route {
	return []routing.Route{
		routing.Delete("/v1/teams/{team}", routing.Write, a.remove("team")),
		routing.Delete("/v1/users/{user}", routing.Write, a.remove("user")),
	}
}

// admit lets administrators delete any object, and people delete teams that they administer.
func (a removals) admit(ctx context.Context, actor auth.Actor, kind, name string) (err error) {
	refused := actor.MayAdminister()
	if refused == nil || kind == "user" || actor.ReadOnly || !wire.Storable(name) {
		return refused
	}
	may := false
	if actor.UserID != 0 {
		may, err = a.Removals.AdministersTeam(ctx, actor.UserID, name)
	}
	if err != nil {
		return err
	}
	if may {
		return nil
	}
	return refused
}

func (a removals) remove(kind string) routing.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		actor := wire.Actor(r.Context())
		name := wire.Param(r, kind)
		if err := a.admit(r.Context(), actor, kind, name); err != nil {
			return err
		}
		q := r.URL.Query()
		for parameter := range q {
			if parameter != "force" {
				return fault.Invalidf(parameter, "there is no parameter %.60q: only force is known", parameter)
			}
		}
		force := q.Get("force")
		if force != "" && force != "true" && force != "false" {
			return fault.Invalidf("force", "force must be true or false")
		}
		if !wire.Storable(name) {
			return fault.Newf(fault.NotFound, "there is no active %s of that name", kind)
		}
		if err := a.Removals.Remove(r.Context(), kind, name, force == "true", actor.String()); err != nil {
			return err
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
}
