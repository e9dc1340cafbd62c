package commands

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/cmd/iris/internal/remote"
	"github.com/iris-oncall/iris/cmd/iris/internal/text"
	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/program/client"
)

// Simulate prints whom a plan would page.
type Simulate struct {
	remote.Flags
	Plan        string   `required:"" help:"Name of the plan, or the number of one of its versions." placeholder:"PLAN"`
	At          string   `help:"When the incident is opened: now, +2h, +3d, '2026-11-22 02:00', 2026-11-22T02:00:00+01:00." default:"now" placeholder:"TIME"`
	Zone        string   `help:"Time zone of --at and of what is printed, such as Europe/Zurich; this machine's by default." placeholder:"ZONE"`
	Application string   `help:"Application that opens the incident. Without it, one that may use every mode." placeholder:"NAME"`
	Target      []string `help:"A dynamic target of the incident, such as oncall-primary:db. May be repeated." placeholder:"ROLE:NAME"`
	Assume      string   `help:"no-ack: nobody ever acknowledges. ack-after=5m: somebody does." default:"no-ack" placeholder:"WHAT"`
	remote.Output
}

// zone returns a time zone by name; "" = this machine's.
func zone(name string) (*time.Location, error) {
	if name == "" {
		return time.Local, nil
	}
	z, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, remote.Usagef("--zone: there is no time zone %q; names are like Europe/Zurich", name)
	}
	return z, nil
}

// Run prints who would be paged, when, how and why, until the plan ends. Nothing is sent.
func (c Simulate) Run(ctx context.Context, e remote.Env) error {
	z, err := zone(c.Zone)
	if err != nil {
		return err
	}
	at, err := oncall.PassOn(c.At, z, time.Now())
	if err != nil {
		return remote.Usage(err)
	}
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	report, err := client.Call(ctx, api, catalog.SimulatePlan,
		catalog.PlanQuestion{OnePlan: catalog.OnePlan{Plan: c.Plan}, Targets: c.Target,
			Assumptions: catalog.Assumptions{At: at, Assume: c.Assume, Application: c.Application}})
	if err != nil {
		return err
	}
	switch c.Format {
	case "json":
		return remote.WriteJSON(e.Out, report)
	case "plain":
		return text.PlainSimulation(e.Out, report, z)
	}
	return text.Simulation(e.Out, report, z)
}
