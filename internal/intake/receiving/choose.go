package receiving

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/integrations"
	"github.com/iris-oncall/iris/internal/intake/routing"
)

// PlanOwner says where the plan of an incident comes from.
type PlanOwner string

// The owners, in the order of preference.
const (
	RulePlan        PlanOwner = "rule"
	SenderPlan      PlanOwner = "sender"
	IntegrationPlan PlanOwner = "integration"
	ApplicationPlan PlanOwner = "application"
	CatchAllPlan    PlanOwner = "installation"
)

// Choice is the route of an event.
type Choice struct {
	Plan       string // "" = the event opens no incident
	Owner      PlanOwner
	Rule       int  // the number of the rule that matched, from 1; 0 = none
	RecordOnly bool // the rule says that the event opens no incident
	Reason     string
	plan       escalation.PlanID
}

// byDefault reports whether nobody chose the plan for the integration.
func (c Choice) byDefault() bool { return c.Owner == ApplicationPlan || c.Owner == CatchAllPlan }

// Chooser chooses the plans of events. Intake, the preview and the command line use it. It is safe for concurrent use.
type Chooser struct {
	Plans Plans
	// CatchAll is the name of the plan for events without another usable plan; "" = none.
	CatchAll string
	Log      *zap.Logger
}

// Choose returns the plan of a firing event: that of the first rule that matches, else the first that the sender names, else the default
// plan of the integration, of the application, and of the installation. A plan that cannot be used is skipped. The error is a NotFound
// fault if no plan is left.
func (c Chooser) Choose(ctx context.Context, app auth.Application, from integrations.Integration, e intake.Event, now time.Time) (Choice, error) {
	e.Severity = severity(from, e)
	route := routing.Choose(from.Rules, e, now)
	out := Choice{Rule: route.Rule, RecordOnly: route.RecordOnly, Reason: route.Reason}
	if route.RecordOnly {
		return out, nil
	}
	refusal := error(fault.New(fault.NotFound, "no rule matches, and neither the integration, its application nor the installation has a default plan"))
	candidates := []candidate{{route.Plan, RulePlan}}
	for _, name := range e.Plans {
		candidates = append(candidates, candidate{name, SenderPlan})
	}
	candidates = append(candidates, candidate{from.DefaultPlan, IntegrationPlan}, candidate{app.DefaultPlan, ApplicationPlan},
		candidate{c.CatchAll, CatchAllPlan})
	for _, next := range candidates {
		if next.name == "" {
			continue
		}
		plan, err := c.Usable(ctx, next.name)
		if err == nil {
			out.Plan, out.Owner, out.plan = plan.Name, next.owner, plan.ID
			return out, nil
		}
		if !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Invalid) {
			return out, err // the plan could not be read
		}
		if next.owner == SenderPlan && fault.Is(err, fault.NotFound) {
			continue // a team or person of the sender
		}
		refusal = err
		c.Log.Warn("the plan for an event cannot be used", zap.String("integration", from.Name), zap.String("plan", next.name),
			zap.String("of", string(next.owner)), zap.String("reason", fault.Public(err)))
	}
	return out, fault.Newf(fault.NotFound, "no plan can take this event: %s", fault.Public(refusal))
}

// candidate is a plan that an event may use; "" = none.
type candidate struct {
	name  string
	owner PlanOwner
}

// Usable finds an active plan. It returns a NotFound fault if there is none, and an Invalid fault if an event cannot open an incident
// on it.
func (c Chooser) Usable(ctx context.Context, name string) (escalation.PlanSteps, error) {
	plan, err := c.Plans.Recent(ctx, name)
	if err != nil {
		return plan, fault.When(err, fault.NotFound, fault.Newf(fault.NotFound, "there is no active plan named %s", name))
	}
	for _, step := range plan.Steps {
		for _, n := range step.Notifications {
			if n.DynamicIndex != nil {
				return plan, fault.Invalidf("plan", "plan %s needs targets that an event cannot give", plan.Name)
			}
		}
	}
	return plan, nil
}

// CheckPlans returns an Invalid fault that names the field of a plan that cannot be used.
func (c Chooser) CheckPlans(ctx context.Context, content integrations.Content) error {
	if err := c.CheckPlan(ctx, "default_plan", content.DefaultPlan); err != nil {
		return err
	}
	for _, rule := range content.Rules {
		if err := c.CheckPlan(ctx, "rules", rule.Plan); err != nil {
			return err
		}
	}
	return nil
}

// CheckPlan returns an Invalid fault that names the field if the plan in the field cannot be used. An empty name is no plan.
func (c Chooser) CheckPlan(ctx context.Context, field, name string) error {
	if name == "" {
		return nil
	}
	_, err := c.Usable(ctx, name)
	if fault.Is(err, fault.NotFound) || fault.Is(err, fault.Invalid) {
		return fault.Invalidf(field, "%s", fault.Public(err))
	}
	return err
}

// checkLimits returns a Throttled fault if the application may not open an incident on the plan now.
func (r *Receiver) checkLimits(ctx context.Context, app auth.Application, c Choice) error {
	wait, err := r.d.Load.Overloaded(ctx, app)
	if err != nil {
		return err
	}
	if wait > 0 {
		return &fault.Error{Kind: fault.Throttled, Message: "too many messages of this application are waiting", RetryAfter: wait}
	}
	if err := r.d.Rates.Check(ctx, app, int64(c.plan)); err != nil {
		return err
	}
	if !c.byDefault() {
		return nil
	}
	return r.d.FallbackRates.Check(ctx, app, int64(c.plan))
}

// reportFallback counts and logs an incident that was opened on a plan that nobody chose for the integration.
func (r *Receiver) reportFallback(from integrations.Integration, c Choice, id incidents.ID) {
	if !c.byDefault() {
		return
	}
	r.metrics.fallbacks.WithLabelValues(string(c.Owner)).Inc()
	r.d.Log.Warn("event without a rule or a default plan of its integration", zap.String("integration", from.Name),
		zap.Int64("incident_id", int64(id)), zap.String("plan", c.Plan), zap.String("of", string(c.Owner)))
}
