package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/iris-oncall/iris/internal/operator"
	"github.com/iris-oncall/iris/internal/users"
)

type userQuietCommand struct {
	Name        string   `arg:"" help:"Log-in name."`
	PerDay      string   `help:"Calls and texts below urgent on one day, or default for the limit of the installation." placeholder:"N"`
	WorkingDays []string `help:"Priorities that are sent on working days only: medium, low, or none." placeholder:"PRIORITY"`
}

// Run sets the quiet-time limits that are given, and prints all of them.
func (c userQuietCommand) Run(ctx context.Context, e *env, o *operator.Operator) error {
	limits, err := o.QuietLimits(ctx, c.Name)
	if err != nil {
		return err
	}
	if c.PerDay == "default" {
		limits.PerDay = nil
	} else if c.PerDay != "" {
		n, err := strconv.Atoi(c.PerDay)
		if err != nil {
			return fmt.Errorf("--per-day: %.40q must be a number or default", c.PerDay)
		}
		limits.PerDay = &n
	}
	if len(c.WorkingDays) > 0 {
		limits.WorkingDays = nil
	}
	for _, p := range c.WorkingDays {
		if p != "none" {
			limits.WorkingDays = append(limits.WorkingDays, users.Priority(p))
		}
	}
	if c.PerDay != "" || len(c.WorkingDays) > 0 {
		if err := o.SetQuietLimits(ctx, c.Name, limits); err != nil {
			return err
		}
	}
	perDay := "default"
	if limits.PerDay != nil {
		perDay = strconv.Itoa(*limits.PerDay)
	}
	fmt.Fprintf(e.stdout, "calls and texts below urgent on one day: %s\nworking days only: %v\n", perDay, limits.WorkingDays)
	return nil
}
