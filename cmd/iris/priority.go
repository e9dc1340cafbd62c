package main

import (
	"context"
	"fmt"

	"github.com/iris-oncall/iris/internal/program/operator"
	"github.com/iris-oncall/iris/internal/users"
)

type priorityCommand struct {
	List priorityListCommand `cmd:"" help:"Print every priority with its default mode. Needs the database."`
	Set  prioritySetCommand  `cmd:"" help:"Choose the default mode of a priority. Needs the database."`
}

type priorityListCommand struct{}

// Run prints the default modes.
func (priorityListCommand) Run(ctx context.Context, e *env, o *operator.Operator) error {
	modes, err := o.PriorityModes(ctx)
	if err != nil {
		return err
	}
	for _, p := range users.Priorities {
		fmt.Fprintf(e.stdout, "%-7s %s\n", p, modes[p])
	}
	return nil
}

type prioritySetCommand struct {
	Priority string `arg:"" help:"urgent, high, medium or low."`
	Mode     string `arg:"" help:"email, sms, call, slack, push or webhook."`
}

// Run chooses a default mode.
func (c prioritySetCommand) Run(ctx context.Context, e *env, o *operator.Operator) error {
	if err := o.SetPriorityMode(ctx, users.Priority(c.Priority), users.Mode(c.Mode)); err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "the default mode of priority %s is now %s\n", c.Priority, c.Mode)
	return nil
}
