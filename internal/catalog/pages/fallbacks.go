package pages

import (
	"context"
	"net/http"
	"strings"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

func (a fallbacks) routes() []routing.Route {
	const application = "/v1/applications/{app}/fallback"
	return []routing.Route{
		routing.Get(application, routing.Someone, a.ofApplication),
		routing.Put(application, routing.Write, a.setOfApplication),
		routing.Delete(application, routing.Write, a.setOfApplication),
	}
}

func (a fallbacks) ofApplication(w http.ResponseWriter, r *http.Request) error {
	name := applicationName(r)
	found, err := a.Applications.Describe(r.Context(), name)
	if err != nil {
		return fault.When(err, fault.NotFound, fault.Newf(fault.NotFound, "there is no application %.100q", name))
	}
	all, err := a.Fallbacks.Applications(r.Context(), []int64{found.ID})
	if err != nil {
		return err
	}
	return answerFallback(w, all[found.ID].Fallback, "application "+found.Name)
}

// setOfApplication is for owners of the application and administrators. Others get the same refusal for an unknown application.
func (a fallbacks) setOfApplication(w http.ResponseWriter, r *http.Request) error {
	actor := wire.Actor(r.Context())
	if actor.Username == "" && actor.Service == "" {
		return fault.New(fault.Unauthenticated, "log in as an owner of the application or an admin")
	}
	name := applicationName(r)
	found, err := a.Applications.Describe(r.Context(), name)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return err
	}
	if actor.Owning(found.ID, found.OwnerIDs, found.Team).MayEditApplication(found.ID) != nil {
		return fault.New(fault.Forbidden, "only an admin or an owner of the application may change its fallback")
	}
	if err != nil {
		return fault.New(fault.Invalid, "there is no application "+name)
	}
	return set(w, r, func(ctx context.Context, to *escalation.Target) error {
		return a.Applications.SetFallback(ctx, found.ID, to)
	})
}

func applicationName(r *http.Request) string { return strings.TrimRight(wire.Param(r, "app"), " ") }

// set stores the fallback of the body, or removes the stored one for a DELETE.
func set(w http.ResponseWriter, r *http.Request, store func(context.Context, *escalation.Target) error) error {
	if r.Method == http.MethodDelete {
		if err := store(r.Context(), nil); err != nil {
			return err
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	b, err := jsonbody.ReadKnown(w, r, "role", "target")
	if err != nil {
		return err
	}
	var to escalation.Target
	if to.Role, err = b.Required("role"); err != nil {
		return err
	}
	if to.Name, err = b.Required("target"); err != nil {
		return err
	}
	if err := store(r.Context(), &to); err != nil {
		return err
	}
	return answerFallback(w, &to, "")
}

func answerFallback(w http.ResponseWriter, to *escalation.Target, of string) error {
	if to == nil {
		return fault.Newf(fault.NotFound, "%s has no fallback", of)
	}
	return routing.Answer(w, http.StatusOK, struct {
		Role   string `json:"role"`
		Target string `json:"target"`
	}{to.Role, to.Name})
}
