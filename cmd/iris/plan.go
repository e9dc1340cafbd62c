package main

import (
	"context"
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/operator"
)

type planCommand struct {
	Set    planSetCommand    `cmd:"" help:"Change settings of all versions of a plan."`
	Delete planDeleteCommand `cmd:"" help:"Delete a plan that is not in use. Its versions are kept as history."`
}

type planDeleteCommand struct{ deleteFlags }

// Run deletes a plan.
func (c planDeleteCommand) Run(ctx context.Context, e *env, o *operator.Operator) error {
	return c.remove(ctx, e, o, "plan", "deleted; it has no active version any more")
}

type templateCommand struct {
	Delete templateDeleteCommand `cmd:"" help:"Delete a template that is not in use. Its versions are kept as history."`
}

type templateDeleteCommand struct{ deleteFlags }

// Run deletes a template.
func (c templateDeleteCommand) Run(ctx context.Context, e *env, o *operator.Operator) error {
	return c.remove(ctx, e, o, "template", "deleted; it has no active version any more")
}

type planSetCommand struct {
	Name                   string         `arg:"" help:"Name."`
	RepageAfter            *time.Duration `help:"Time after which a repeated alert restarts an exhausted plan; 0 = never." placeholder:"DURATION"`
	AcknowledgementTimeout *time.Duration `help:"Time after an acknowledgement after which the plan begins again, unless the incident is resolved; 0 = never." placeholder:"DURATION"`
	Fallback               *string        `help:"Target that is paged when no recipient of a step can be reached; empty = none." placeholder:"ROLE:NAME"`
}

// Run changes a plan.
func (c planSetCommand) Run(ctx context.Context, e *env, o *operator.Operator) error {
	times := operator.PlanTimes{RepageAfter: c.RepageAfter, AcknowledgementTimeout: c.AcknowledgementTimeout}
	if times == (operator.PlanTimes{}) && c.Fallback == nil {
		return usagef("nothing to change: give at least one flag")
	}
	if times != (operator.PlanTimes{}) {
		if err := o.SetPlanTimes(ctx, c.Name, times); err != nil {
			return err
		}
	}
	if c.Fallback != nil {
		if err := o.SetPlanFallback(ctx, c.Name, *c.Fallback); err != nil {
			return err
		}
	}
	fmt.Fprintf(e.stderr, "plan %s changed\n", c.Name)
	return nil
}

// intakeFlags are the settings for the alerts of an application.
type intakeFlags struct {
	DefaultPlan *string        `help:"Plan for alerts of its webhooks that name no usable plan; empty = none." placeholder:"PLAN"`
	LateWithin  *time.Duration `help:"Time after a resolve during which a firing delivery of the same alerts counts as late, not as new; 0 = never." placeholder:"DURATION"`
	LateHold    *time.Duration `help:"How long a late firing delivery waits for its resolve before it escalates; 0 = it never waits." placeholder:"DURATION"`
}

func (f intakeFlags) given() bool {
	return f.DefaultPlan != nil || f.LateWithin != nil || f.LateHold != nil
}

func (f intakeFlags) set(ctx context.Context, o *operator.Operator, name string) error {
	if !f.given() {
		return nil
	}
	return o.SetIntake(ctx, name, operator.Intake{DefaultPlan: f.DefaultPlan, LateWithin: f.LateWithin, LateHold: f.LateHold})
}
