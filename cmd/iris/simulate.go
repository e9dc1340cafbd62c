package main

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/cmd/iris/internal/commands"
	"github.com/iris-oncall/iris/cmd/iris/internal/text"
	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/operator"
)

type simulateCommand struct {
	Plan        string   `required:"" help:"Name of the plan, or the number of one of its versions." placeholder:"PLAN"`
	At          string   `help:"When the incident is opened: now, +2h, +3d, '2026-11-22 02:00', 2026-11-22T02:00:00+01:00." default:"now" placeholder:"TIME"`
	Zone        string   `help:"Time zone of --at and of what is printed, such as Europe/Zurich; this machine's by default." placeholder:"ZONE"`
	Application string   `help:"Application that opens the incident. Without it, one that may use every mode." placeholder:"NAME"`
	Target      []string `help:"A dynamic target of the incident, such as oncall-primary:db. May be repeated." placeholder:"ROLE:NAME"`
	Assume      string   `help:"no-ack: nobody ever acknowledges. ack-after=5m: somebody does." default:"no-ack" placeholder:"WHAT"`
	commands.Output
}

// zone returns a time zone by name; "" = this machine's.
func zone(name string) (*time.Location, error) {
	if name == "" {
		return time.Local, nil
	}
	z, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, commands.Usagef("--zone: there is no time zone %q; names are like Europe/Zurich", name)
	}
	return z, nil
}

// Run prints who would be paged, when, how and why, until the plan ends. Nothing is sent.
func (c simulateCommand) Run(ctx context.Context, e *env) error {
	z, err := zone(c.Zone)
	if err != nil {
		return err
	}
	cfg, err := config.Load(e.config, e.environ)
	if err != nil {
		return err
	}
	o, err := e.operator(ctx)
	if err != nil {
		return err
	}
	sim, err := o.Simulate(ctx, operator.Question{
		Plan: c.Plan, Application: c.Application, At: c.At, Assume: c.Assume, Targets: c.Target, Zone: z,
	}, operator.SimulatorConfig{ListLimit: cfg.ListLimit(), PerDay: cfg.DailyLimit()})
	if err != nil {
		return invalidIsUsage(err)
	}
	report := sim.Report()
	switch c.Format {
	case "json":
		return commands.WriteJSON(e.stdout, report)
	case "plain":
		return text.PlainSimulation(e.stdout, report, z)
	}
	return text.Simulation(e.stdout, report, z)
}
