package irisapi

import (
	"context"
	"net/http"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/wire"
)

// PlanFallbacks stores who is paged when nobody of a step of a plan can be reached; nil = nobody in particular.
type PlanFallbacks interface {
	SetFallback(ctx context.Context, plan string, to *escalation.Target) error
}

// ApplicationFallbacks stores who is paged when the plan has no fallback; nil = nobody in particular.
type ApplicationFallbacks interface {
	SetFallback(ctx context.Context, application int64, to *escalation.Target) error
}

// fallbacks serve the fallbacks of plans and applications below /v1.
type fallbacks struct {
	api          *API
	applications *applicationRoutes
}

func (f fallbacks) table() []route {
	return []route{
		{get, "/v1/plans/{plan}/fallback", someone, f.ofPlan},
		{put, "/v1/plans/{plan}/fallback", write, f.setOfPlan},
		{del, "/v1/plans/{plan}/fallback", write, f.setOfPlan},
		{get, "/v1/applications/{app}/fallback", someone, f.ofApplication},
		{put, "/v1/applications/{app}/fallback", write, f.setOfApplication},
		{del, "/v1/applications/{app}/fallback", write, f.setOfApplication},
	}
}

// ofPlan answers with the fallback of the active version; a plan without one is a 404 that says so.
func (f fallbacks) ofPlan(w http.ResponseWriter, r *http.Request) error {
	p, err := f.plan(r)
	if err != nil {
		return err
	}
	return writeFallback(w, p.Fallback, "plan "+p.Name)
}

func (f fallbacks) setOfPlan(w http.ResponseWriter, r *http.Request) error {
	p, err := f.plan(r)
	if err != nil {
		return err
	}
	if !wire.Actor(r.Context()).MayChange(p.CreatorID, f.api.Config.Openings) {
		return fault.Newf(fault.Forbidden, "only %s or an admin may change the plan %s", p.Creator, p.Name)
	}
	return f.set(w, r, func(ctx context.Context, to *escalation.Target) error {
		return f.api.PlanFallbacks.SetFallback(ctx, p.Name, to)
	})
}

func (f fallbacks) plan(r *http.Request) (escalation.PlanSteps, error) {
	name := wire.Param(r, "plan")
	p, err := f.api.Plans.ByName(r.Context(), storableName(name))
	if fault.Is(err, fault.NotFound) {
		return p, fault.Newf(fault.NotFound, "there is no active plan %.100q", name)
	}
	return p, err
}

func (f fallbacks) ofApplication(w http.ResponseWriter, r *http.Request) error {
	found, err := f.applications.settings.Describe(r.Context(), appName(r))
	if fault.Is(err, fault.NotFound) {
		return fault.Newf(fault.NotFound, "there is no application %.100q", appName(r))
	}
	if err != nil {
		return err
	}
	all, err := f.api.Directory.Applications(r.Context(), []int64{found.ID})
	if err != nil {
		return err
	}
	return writeFallback(w, all[found.ID].Fallback, "application "+found.Name)
}

func (f fallbacks) setOfApplication(w http.ResponseWriter, r *http.Request) error {
	found, _, err := f.applications.owned(r, refusals{
		nobody:   "log in as an owner of the application or an admin",
		stranger: "only an admin or an owner of the application may change its fallback", unknown: "there is no application " + appName(r),
	})
	if err != nil {
		return err
	}
	return f.set(w, r, func(ctx context.Context, to *escalation.Target) error {
		return f.api.ApplicationFallbacks.SetFallback(ctx, found.ID, to)
	})
}

// set stores the fallback of the body, or none for a DELETE.
func (f fallbacks) set(w http.ResponseWriter, r *http.Request, store func(context.Context, *escalation.Target) error) error {
	if r.Method == http.MethodDelete {
		if err := store(r.Context(), nil); err != nil {
			return err
		}
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	b, err := readBody(w, r, "")
	if err != nil {
		return err
	}
	var to escalation.Target
	if to.Role, err = b.text("role"); err != nil {
		return err
	}
	if to.Name, err = b.text("target"); err != nil {
		return err
	}
	if err := store(r.Context(), &to); err != nil {
		return err
	}
	return writeFallback(w, &to, "")
}

func writeFallback(w http.ResponseWriter, to *escalation.Target, of string) error {
	if to == nil {
		return fault.Newf(fault.NotFound, "%s has no fallback", of)
	}
	wire.JSON(w, http.StatusOK, record{{"role", to.Role}, {"target", to.Name}})
	return nil
}
