package main

import (
	"context"
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/operator"
)

type planCommand struct {
	Set    planSetCommand    `cmd:"" help:"Change what holds for every version of a plan."`
	Delete planDeleteCommand `cmd:"" help:"Delete a plan that nothing uses. Its versions stay as history."`
}

type planDeleteCommand struct{ deleteFlags }

// Run deletes a plan.
func (c planDeleteCommand) Run(ctx context.Context, e *env) error {
	return c.remove(ctx, e, "plan", "deleted; it has no active version any more")
}

type templateCommand struct {
	Delete templateDeleteCommand `cmd:"" help:"Delete a template that nothing uses. Its versions stay as history."`
}

type templateDeleteCommand struct{ deleteFlags }

// Run deletes a template.
func (c templateDeleteCommand) Run(ctx context.Context, e *env) error {
	return c.remove(ctx, e, "template", "deleted; it has no active version any more")
}

type planSetCommand struct {
	Name        string         `arg:"" help:"Name."`
	RepageAfter *time.Duration `help:"Time after which a repeated alert starts the plan again if it is exhausted; 0 = never." placeholder:"DURATION"`
	Fallback    *string        `help:"Who is paged when nobody of a step can be reached; empty = nobody in particular." placeholder:"ROLE:NAME"`
}

// Run changes a plan.
func (c planSetCommand) Run(ctx context.Context, e *env) error {
	o, err := e.operator(ctx)
	if err != nil {
		return err
	}
	defer o.Close()
	if c.RepageAfter == nil && c.Fallback == nil {
		return usagef("nothing to change: give a flag")
	}
	if c.RepageAfter != nil {
		if err := o.SetRepageAfter(ctx, c.Name, *c.RepageAfter); err != nil {
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

// intakeFlags say how the alerts of an application are taken.
type intakeFlags struct {
	DefaultPlan *string        `help:"Plan for alerts of its webhooks that name no usable plan; empty = none." placeholder:"PLAN"`
	LateWithin  *time.Duration `help:"Time after a resolve in which a firing delivery of the same alerts is late, not new; 0 = never." placeholder:"DURATION"`
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
