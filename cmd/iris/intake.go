package main

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/program/operator"
)

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
	return o.SetIntake(ctx, name, operator.Intake{DefaultPlan: f.DefaultPlan, LateWithin: f.LateWithin,
		LateHold: f.LateHold})
}
