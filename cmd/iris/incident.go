package main

import (
	"context"
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/operator"
)

type incidentCommand struct {
	Snooze   snoozeCommand   `cmd:"" help:"End the escalation of an incident for some time. Then its plan begins again."`
	Unsnooze unsnoozeCommand `cmd:"" help:"End a snooze now: the plan begins again."`
}

type snoozeCommand struct {
	ID  int64  `arg:"" help:"Number of the incident."`
	For string `required:"" help:"How long: 90m, 2h, 3d; at most 30d." placeholder:"PERIOD"`
}

// Run snoozes an incident.
func (c snoozeCommand) Run(ctx context.Context, e *env, o *operator.Operator) error {
	d, err := days(c.For)
	if err != nil {
		return err
	}
	until, err := o.Snooze(ctx, c.ID, d)
	if err != nil {
		return invalidIsUsage(err)
	}
	fmt.Fprintf(e.stdout, "incident %d is snoozed until %s\n", c.ID, until.UTC().Format(time.RFC3339))
	return nil
}

type unsnoozeCommand struct {
	ID int64 `arg:"" help:"Number of the incident."`
}

// Run ends a snooze.
func (c unsnoozeCommand) Run(ctx context.Context, e *env, o *operator.Operator) error {
	if err := o.EndSnooze(ctx, c.ID); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "incident %d escalates again\n", c.ID)
	return nil
}
