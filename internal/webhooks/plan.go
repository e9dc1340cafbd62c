package webhooks

import (
	"context"
	"net/http"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/wire"
)

// source is the origin of the plan of an incident.
type source string

const (
	named        source = "delivery"
	ofApp        source = "application"
	installation source = "installation"
)

// choice is the plan that a delivery's incident is opened on.
type choice struct {
	plan   escalation.PlanID
	name   string
	from   source
	reason error // why the delivery names no usable plan; nil = it does
}

// on gives the delivery its plan. none is the refusal where there is none, unknown where none can have this name.
func (d delivery) on(plan string, none, unknown error) delivery {
	switch d.plan = firstOf(plan); {
	case d.plan == "":
		d.noPlan = none
	case !storable(d.plan):
		d.plan, d.noPlan = "", unknown
	}
	return d
}

// choose returns the plan of a firing delivery: the one that it names, else the application's default plan, else the installation's
// catch-all plan. Where none of them can be used, the refusal is about the one that the delivery names.
func (s *Webhooks) choose(ctx context.Context, app auth.Application, d delivery) (choice, error) {
	plan, refusal := s.ofDelivery(ctx, d)
	if refusal == nil {
		return choice{plan.ID, plan.Name, named, nil}, nil
	}
	if !unusable(refusal) {
		return choice{}, refusal
	}
	for _, f := range s.fallbacks(app) {
		plan, err := s.usable(ctx, f.name)
		switch {
		case err == nil:
			return choice{plan.ID, plan.Name, f.from, refusal}, nil
		case !unusable(err):
			return choice{}, err
		}
		s.d.Log.Warn("the plan for alerts without a plan cannot be used", zap.String("application", app.Name),
			zap.String("plan", f.name), zap.String("of", string(f.from)), zap.String("reason", fault.Public(err)))
	}
	return choice{}, refusal
}

// unusable reports whether a plan cannot be used now or later, unlike one that could not be read.
func unusable(err error) bool { return fault.Is(err, fault.NotFound) || fault.Is(err, fault.Invalid) }

// fallbacks are the plans for alerts without a usable plan, best first.
func (s *Webhooks) fallbacks(app auth.Application) []choice {
	var out []choice
	if app.DefaultPlan != "" {
		out = append(out, choice{name: app.DefaultPlan, from: ofApp})
	}
	if s.d.CatchAll != "" {
		out = append(out, choice{name: s.d.CatchAll, from: installation})
	}
	return out
}

// ofDelivery returns the plan that the delivery names, if it can be used.
func (s *Webhooks) ofDelivery(ctx context.Context, d delivery) (escalation.PlanSteps, error) {
	if d.plan == "" {
		return escalation.PlanSteps{}, d.noPlan
	}
	plan, err := s.usable(ctx, d.plan)
	if fault.Is(err, fault.NotFound) && d.unknownPlan != "" {
		err = fault.Invalidf("plan", "%s", d.unknownPlan)
	}
	return plan, err
}

// usable finds an active plan and checks what must hold before an incident can be opened on it.
func (s *Webhooks) usable(ctx context.Context, name string) (escalation.PlanSteps, error) {
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
				return plan, fault.Invalidf("plan", "Invalid number of dynamic targets: plan %s needs targets that a webhook cannot give", plan.Name)
			}
		}
	}
	return plan, nil
}

// fellBack counts and logs an incident that was opened on a plan that its delivery does not name.
func (s *Webhooks) fellBack(app auth.Application, d delivery, c choice, id incidents.ID) {
	if c.from == named {
		return
	}
	s.metrics.fallbacks.WithLabelValues(string(c.from)).Inc()
	s.d.Log.Warn("alert without a usable plan", zap.String("application", app.Name), zap.Int64("incident_id", int64(id)),
		zap.String("named", d.plan), zap.String("reason", fault.Public(c.reason)), zap.String("plan", c.name), zap.String("of", string(c.from)))
}

// resolve ends the open incident of the delivery, even if its plan was deactivated meanwhile. No plan is chosen for a resolve: where
// the delivery names no usable plan, its incident is searched on the fallback plans of firing deliveries.
func (s *Webhooks) resolve(w http.ResponseWriter, r *http.Request, app auth.Application, d delivery) {
	id, found, err := incidents.ID(0), false, error(nil)
	by := incidents.Change{Actor: "application " + app.Name, Via: incidents.ViaHook}
	if d.plan != "" {
		id, found, err = s.d.Incidents.ResolveByKey(r.Context(), d.request(app, 0), d.plan, by)
	}
	if err == nil && !found {
		_, err = s.ofDelivery(r.Context(), d) // an unknown plan is an error, unless there is another one
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
		s.d.Wake(buckets.Of(int(int64(id) % buckets.Count)))
		created(w, d, id)
	case d.quiet:
		created(w, d, 0)
	default:
		wire.JSON(w, http.StatusCreated, nil)
	}
}
