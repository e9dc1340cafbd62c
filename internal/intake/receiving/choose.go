package receiving

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
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
	RecordOnly bool // the rule, or the event itself, says that it opens no incident
	Reason     string
	Targets    []intake.Target // of the dynamic steps of the plan
	plan       escalation.PlanID
	targets    []incidents.DynamicTarget
	threshold  *incidents.Threshold
	group      *incidents.Group
}

// byDefault reports whether nobody chose the plan for the integration.
func (c Choice) byDefault() bool { return c.Owner == ApplicationPlan || c.Owner == CatchAllPlan }

// Chooser chooses the plans of events. Intake, the preview and the command line use it. It is safe for concurrent use.
type Chooser struct {
	plans    Plans
	lookups  escalation.Lookups
	catchAll string
	router   *intake.Router
	log      *zap.Logger
}

// NewChooser returns a Chooser. catchAll is the name of the plan for events without another usable plan; "" = none.
func NewChooser(plans Plans, lookups escalation.Lookups, catchAll string, log *zap.Logger) Chooser {
	return Chooser{plans, lookups, catchAll, intake.NewRouter(), log}
}

// Choose returns the plan of a firing event: that of the first rule that matches, else the first that the sender names,
// else the default plan of the integration, of the application, and of the installation. A plan that cannot be used is
// skipped. The error is a NotFound fault if no plan is left.
func (c Chooser) Choose(ctx context.Context, app auth.Application, from intake.Integration, e intake.Event, now time.Time) (Choice, error) {
	if e.UpdateOnly {
		return Choice{RecordOnly: true, Reason: "the delivery only updates an incident that is open"}, nil
	}
	e.Severity = severity(from, e)
	route, err := c.router.Choose(ctx, from.Rules, e, now)
	if err != nil {
		return Choice{}, err
	}
	if route.Doubt {
		c.log.Warn("the expression of a rule was not run, because it is too large for the event",
			zap.String("integration", from.Name), zap.Int("rule", route.Rule))
	}
	out := Choice{Rule: route.Rule, RecordOnly: route.RecordOnly, Reason: route.Reason, threshold: route.Threshold, group: route.Group}
	if from.Type == intake.Heartbeat { // it sends one event when a program stops
		out.threshold, out.group = nil, nil
	}
	if route.RecordOnly {
		return out, nil
	}
	refusal := error(fault.New(fault.NotFound,
		"no rule matches, and neither the integration, its application nor the installation has a default plan"))
	candidates := []candidate{{route.Plan, RulePlan, route.Targets}}
	for _, name := range e.Plans {
		candidates = append(candidates, candidate{name: name, owner: SenderPlan})
	}
	candidates = append(candidates, candidate{name: from.DefaultPlan, owner: IntegrationPlan},
		candidate{name: app.DefaultPlan, owner: ApplicationPlan}, candidate{name: c.catchAll, owner: CatchAllPlan})
	for _, next := range candidates {
		if next.name == "" {
			continue
		}
		plan, targets, err := c.usable(ctx, next.name, next.targets)
		if err == nil {
			out.Plan, out.Owner, out.plan, out.targets = plan.Name, next.owner, plan.ID, targets
			if len(targets) > 0 {
				out.Targets = next.targets
			}
			return out, nil
		}
		if !fault.Is(err, fault.NotFound) && !fault.Is(err, fault.Invalid) {
			return out, err // the plan could not be read
		}
		if next.owner == SenderPlan && fault.Is(err, fault.NotFound) {
			continue // a team or person of the sender
		}
		refusal = err
		c.log.Warn("the plan for an event cannot be used", zap.String("integration", from.Name),
			zap.String("plan", next.name),
			zap.String("of", string(next.owner)), zap.String("reason", fault.Public(err)))
	}
	return out, fault.Newf(fault.NotFound, "no plan can take this event: %s", fault.Public(refusal))
}

// candidate is a plan that an event may use, with the targets of its dynamic steps; "" = none.
type candidate struct {
	name    string
	owner   PlanOwner
	targets []intake.Target
}

// usable finds an active plan and the targets of its dynamic steps. It returns a NotFound fault if there is no such
// plan, and an Invalid fault if its dynamic steps need other targets. A plan without dynamic steps ignores the targets.
func (c Chooser) usable(ctx context.Context, name string, targets []intake.Target) (escalation.PlanSteps, []incidents.DynamicTarget, error) {
	plan, err := c.plans.Recent(ctx, name)
	if err != nil {
		return plan, nil, fault.When(err, fault.NotFound, fault.Newf(fault.NotFound,
			"there is no active plan named %s", name))
	}
	want := plan.DynamicTargets()
	switch {
	case want == 0:
		return plan, nil, nil
	case len(targets) == 0:
		return plan, nil, fault.Invalidf("plan",
			"plan %s needs targets for its dynamic steps: only a rule can give them", plan.Name)
	case len(targets) != want:
		return plan, nil, fault.Invalidf("plan", "plan %s needs %d targets for its dynamic steps, not %d", plan.Name,
			want, len(targets))
	}
	given := make([]incidents.Target, want)
	for k, t := range targets {
		given[k] = incidents.Target(t)
	}
	found, unknown, err := escalation.FindTargets(ctx, c.lookups, given)
	if unknown != nil {
		return plan, nil, fault.Invalidf("plan", "there is no target with the role %s and the name %s", unknown.Role,
			unknown.Name)
	}
	return plan, found, err
}

// CheckPlans returns an Invalid fault that names the field of a plan that cannot be used.
func (c Chooser) CheckPlans(ctx context.Context, content intake.Content) error {
	if err := c.CheckPlan(ctx, "default_plan", content.DefaultPlan); err != nil {
		return err
	}
	for k, rule := range content.Rules {
		if err := c.check(ctx, "rules", rule.Plan, rule.Targets); err != nil {
			return fault.When(err, fault.Invalid, fault.Invalidf("rules", "rule %d: %s", k+1, fault.Public(err)))
		}
	}
	return nil
}

// CheckPlan returns an Invalid fault that names the field if the plan in the field cannot be used. An empty name is no
// plan.
func (c Chooser) CheckPlan(ctx context.Context, field, name string) error {
	return c.check(ctx, field, name, nil)
}

func (c Chooser) check(ctx context.Context, field, name string, targets []intake.Target) error {
	if name == "" {
		return nil
	}
	_, found, err := c.usable(ctx, name, targets)
	if err == nil && len(found) != len(targets) {
		return fault.Invalidf(field, "plan %s has no dynamic steps: remove the targets", name)
	}
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
		return &fault.Error{Kind: fault.Throttled, Message: "too many messages of this application are waiting",
			RetryAfter: wait}
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
func (r *Receiver) reportFallback(from intake.Integration, c Choice, id incidents.ID) {
	if !c.byDefault() {
		return
	}
	r.metrics.fallbacks.WithLabelValues(string(c.Owner)).Inc()
	r.d.Log.Warn("event without a rule or a default plan of its integration", zap.String("integration", from.Name),
		zap.Int64("incident_id", int64(id)), zap.String("plan", c.Plan), zap.String("of", string(c.Owner)))
}
