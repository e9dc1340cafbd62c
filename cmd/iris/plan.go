package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/iris-oncall/iris/cmd/iris/internal/commands"
	"github.com/iris-oncall/iris/internal/operator"
	"github.com/iris-oncall/iris/internal/users"
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
	Name                   string          `arg:"" help:"Name."`
	Repeat                 *int            `help:"How often the steps begin again after the last one; 0 to 10." placeholder:"N"`
	Delay                  *time.Duration  `help:"Time between the opening of an incident and step 1." placeholder:"DURATION"`
	WaitForOnCall          *bool           `help:"Whether a page to an on-call role that nobody holds waits until somebody does; otherwise the fallback is paged." negatable:""`
	RepageAfter            *time.Duration  `help:"Time after which a repeated alert restarts an exhausted plan; 0 = never." placeholder:"DURATION"`
	AcknowledgementTimeout *time.Duration  `help:"Time after an acknowledgement after which the plan begins again, unless the incident is resolved; 0 = never." placeholder:"DURATION"`
	NotifyOwner            *users.Mode     `help:"Mode by which the owner of an acknowledged incident gets news of it; empty = none." placeholder:"MODE"`
	ResolvedNotice         map[string]bool `help:"Modes with true or false: whether people who were paged get a notice of the resolve. Replaces the stored choices." placeholder:"MODE=BOOL"`
	Fallback               *string         `help:"Target that is paged when no recipient of a step can be reached, and when the plan ends without an acknowledgement; empty = none." placeholder:"ROLE:NAME"`
}

// Run changes a plan.
func (c planSetCommand) Run(ctx context.Context, e *env, o *operator.Operator) error {
	p := operator.PlanSettings{Repeat: c.Repeat, WaitForOnCall: c.WaitForOnCall, DelaySeconds: wholeSeconds(c.Delay),
		RepageAfterSeconds: wholeSeconds(c.RepageAfter), AcknowledgementTimeoutSeconds: wholeSeconds(c.AcknowledgementTimeout), NotifyOwner: c.NotifyOwner}
	for mode, on := range c.ResolvedNotice {
		if p.ResolvedNotice == nil {
			p.ResolvedNotice = map[users.Mode]bool{}
		}
		p.ResolvedNotice[users.Mode(mode)] = on
	}
	if p.Empty() && c.Fallback == nil {
		return commands.Usagef("nothing to change: give at least one flag")
	}
	if !p.Empty() {
		if err := o.SetPlanSettings(ctx, c.Name, p); err != nil {
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

// wholeSeconds rounds a duration up to seconds; nil for nil.
func wholeSeconds(d *time.Duration) *int64 {
	if d == nil {
		return nil
	}
	n := int64(math.Ceil(d.Seconds()))
	return &n
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
