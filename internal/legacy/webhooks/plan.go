package webhooks

import (
	"context"
	"net/http"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// planOwner says where the plan of an incident comes from.
type planOwner string

const (
	deliveryPlan    planOwner = "delivery"
	applicationPlan planOwner = "application"
	catchAllPlan    planOwner = "installation"
)

// choice is the plan of a new incident.
type choice struct {
	plan   escalation.PlanID
	name   string
	owner  planOwner
	reason error // why the plan of the delivery cannot be used; nil = it is used
}

// withPlan returns the delivery with a plan. none is the refusal if plan is empty, unknown the refusal if no plan can
// have this name.
func (d delivery) withPlan(plan string, none, unknown error) delivery {
	switch d.plan = firstOf(plan); {
	case d.plan == "":
		d.noPlan = none
	case !storable(d.plan):
		d.plan, d.noPlan = "", unknown
	}
	return d
}

// choose returns the plan of a firing delivery: the named plan, else the default plan of the application, else the
// catch-all plan. If none can be used, the refusal is about the named plan.
func (s *Webhooks) choose(ctx context.Context, app auth.Application, d delivery) (choice, error) {
	plan, refusal := s.namedPlan(ctx, d)
	if refusal == nil {
		return choice{plan.ID, plan.Name, deliveryPlan, nil}, nil
	}
	if !unusable(refusal) {
		return choice{}, refusal
	}
	for _, f := range s.fallbacks(app) {
		plan, err := s.usablePlan(ctx, f.name)
		switch {
		case err == nil:
			return choice{plan.ID, plan.Name, f.owner, refusal}, nil
		case !unusable(err):
			return choice{}, err
		}
		s.d.Log.Warn("the fallback plan for alerts without a usable plan cannot be used",
			zap.String("application", app.Name),
			zap.String("plan", f.name), zap.String("of", string(f.owner)), zap.String("reason", fault.Public(err)))
	}
	return choice{}, refusal
}

// unusable reports whether an error means that the plan cannot be used. Other errors mean that the plan could not be
// read.
func unusable(err error) bool { return fault.Is(err, fault.NotFound) || fault.Is(err, fault.Invalid) }

// fallbacks returns the plans for alerts without a usable plan, in the order of preference.
func (s *Webhooks) fallbacks(app auth.Application) []choice {
	var out []choice
	if app.DefaultPlan != "" {
		out = append(out, choice{name: app.DefaultPlan, owner: applicationPlan})
	}
	if s.d.CatchAll != "" {
		out = append(out, choice{name: s.d.CatchAll, owner: catchAllPlan})
	}
	return out
}

// namedPlan returns the plan that the delivery names, if it can be used.
func (s *Webhooks) namedPlan(ctx context.Context, d delivery) (escalation.PlanSteps, error) {
	if d.plan == "" {
		return escalation.PlanSteps{}, d.noPlan
	}
	plan, err := s.usablePlan(ctx, d.plan)
	if fault.Is(err, fault.NotFound) && d.unknownPlan != "" {
		err = fault.Invalidf("plan", "%s", d.unknownPlan)
	}
	return plan, err
}

// usablePlan finds an active plan and checks that a webhook can open an incident on it.
func (s *Webhooks) usablePlan(ctx context.Context, name string) (escalation.PlanSteps, error) {
	plan, err := s.d.Plans.Recent(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return plan, fault.Newf(fault.NotFound, "there is no active plan named %s", name)
	}
	if err != nil {
		return plan, err
	}
	for _, step := range plan.Steps {
		for _, n := range step.Notifications {
			if n.DynamicIndex != nil {
				return plan, fault.Invalidf("plan",
					"Invalid number of dynamic targets: plan %s needs targets that a webhook cannot give", plan.Name)
			}
		}
	}
	return plan, nil
}

// reportFallback counts and logs an incident that was opened on a fallback plan.
func (s *Webhooks) reportFallback(app auth.Application, d delivery, c choice, id incidents.ID) {
	if c.owner == deliveryPlan {
		return
	}
	s.metrics.fallbacks.WithLabelValues(string(c.owner)).Inc()
	s.d.Log.Warn("alert without a usable plan", zap.String("application", app.Name),
		zap.Int64("incident_id", int64(id)),
		zap.String("named", d.plan), zap.String("reason", fault.Public(c.reason)), zap.String("plan",
			c.name), zap.String("of", string(c.owner)))
}

// resolve resolves the open incident of the delivery, even if its plan is no longer active. If the delivery names no
// usable plan, resolve searches for the incident on the fallback plans.
func (s *Webhooks) resolve(w http.ResponseWriter, r *http.Request, app auth.Application, d delivery) {
	id, found, err := incidents.ID(0), false, error(nil)
	by := incidents.Change{Actor: "application " + app.Name, Via: incidents.ViaHook}
	if d.plan != "" {
		id, found, err = s.d.Incidents.ResolveByKey(r.Context(), d.request(app, 0), d.plan, by)
	}
	if err == nil && !found {
		_, err = s.namedPlan(r.Context(), d) // an unknown plan is an error, unless there is a fallback plan
		if others := s.fallbacks(app); unusable(err) && len(others) > 0 {
			err = nil
			for k := 0; k < len(others) && err == nil && !found; k++ {
				id, found, err = s.d.Incidents.ResolveByKey(r.Context(), d.request(app, 0), others[k].name, by)
			}
		}
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	switch {
	case found:
		s.d.Wake(r.Context(), buckets.Of(int(int64(id)%buckets.Count)))
		created(w, d, id)
	case d.emptyAnswer:
		created(w, d, 0)
	default:
		wire.JSON(w, http.StatusCreated, nil)
	}
}
