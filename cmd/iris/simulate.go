package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/iris-oncall/iris/internal/config"
	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/operator"
)

type simulateCommand struct {
	Plan        string   `required:"" help:"Name of the plan, or the number of one of its versions." placeholder:"PLAN"`
	At          string   `help:"When the incident is opened: now, +2h, +3d, '2026-11-22 02:00', 2026-11-22T02:00:00+01:00." default:"now" placeholder:"TIME"`
	Zone        string   `help:"Time zone of --at and of what is printed, such as Europe/Zurich; this machine's by default." placeholder:"ZONE"`
	Application string   `help:"Application that opens the incident. Without it, one that may use every mode." placeholder:"NAME"`
	Target      []string `help:"A dynamic target of the incident, such as oncall-primary:db. May be repeated." placeholder:"ROLE:NAME"`
	Assume      string   `help:"no-ack: nobody ever acknowledges. ack-after=5m: somebody does." default:"no-ack" placeholder:"WHAT"`
	outputFlag
}

// outputFlag selects the output format.
type outputFlag struct {
	Output string `help:"table for people, json for programs, plain for scripts: lines of values separated by tabs." enum:"table,json,plain" default:"table" short:"o" placeholder:"table|json|plain"`
}

// zone returns a time zone by name; "" = this machine's.
func zone(name string) (*time.Location, error) {
	if name == "" {
		return time.Local, nil
	}
	z, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return nil, usagef("--zone: there is no time zone %q; names are like Europe/Zurich", name)
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
	sim, err := o.Simulate(ctx, simulation.TypedQuestion{
		Plan: c.Plan, Application: c.Application, At: c.At, Assume: c.Assume, Targets: c.Target, Zone: z,
	}, operator.SimulatorConfig{ListLimit: cfg.ListLimit(), PerDay: cfg.DailyLimit()})
	if err != nil {
		return invalidIsUsage(err)
	}
	report := sim.Report()
	switch c.Output {
	case "json":
		return writeJSON(e.stdout, report)
	case "plain":
		return plainSimulation(e.stdout, report, z)
	}
	return tableSimulation(e.stdout, report, z)
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// clock is the layout of times. It has the offset, so that the zone is clear.
const clock = "Mon 2006-01-02 15:04:05 -07:00"

func at(unix int64, z *time.Location) string { return time.Unix(unix, 0).In(z).Format(clock) }

// tabless removes tabs and newlines from a cell of a table.
var tabless = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")

// row prints cells with tabs between them.
func row(w io.Writer, cells ...string) error {
	for i := range cells {
		cells[i] = tabless.Replace(cells[i])
	}
	_, err := fmt.Fprintln(w, strings.Join(cells, "\t"))
	return err
}

func plainSimulation(w io.Writer, r simulation.Report, z *time.Location) error {
	for _, p := range r.Pages {
		err := row(w, time.Unix(p.At, 0).In(z).Format(time.RFC3339), fmt.Sprint(p.Step), fmt.Sprint(p.Notification), fmt.Sprint(p.Repeat),
			p.Target, p.Mode, p.Priority, p.Purpose, p.Rule, p.ModeRule)
		if err != nil {
			return err
		}
	}
	return nil
}

func tableSimulation(out io.Writer, r simulation.Report, z *time.Location) error {
	application := "any application"
	if r.Application != nil {
		application = "application " + *r.Application
	}
	fmt.Fprintf(out, "Plan %s (version %d), opened %s by %s. Nothing is sent.\n\n", r.Plan, r.PlanID, at(r.At, z), application)
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "AFTER\tWHEN\tSTEP\tWHO\tBY\tWHY")
	for _, p := range r.Pages {
		step := fmt.Sprint(p.Step)
		if p.Step == 0 {
			step = "-"
		} else if p.Repeat > 0 {
			step += fmt.Sprintf(" (repeat %d)", p.Repeat)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", "+"+span(p.After), at(p.At, z), step, tabless.Replace(p.Target), modeText(p, z), tabless.Replace(ruleText(p)))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out, "\nTimeline:")
	for _, l := range r.Timeline {
		fmt.Fprintf(out, "  %s  %s\n", at(l.At, z), l.Text)
	}
	fmt.Fprintf(out, "\n%s\n", endText(r, z))
	for _, n := range r.Notes {
		fmt.Fprintf(out, "Note: %s\n", n)
	}
	return nil
}

// span formats seconds: "1h2m0s".
func span(seconds int64) string { return (time.Duration(seconds) * time.Second).String() }

func modeText(p simulation.ReportPage, z *time.Location) string {
	text := p.Mode
	if p.WantedMode != p.Mode {
		text += " instead of " + p.WantedMode
	}
	if p.HeldUntil != nil {
		text += ", in a digest at " + time.Unix(*p.HeldUntil, 0).In(z).Format(time.TimeOnly)
	}
	return text
}

func ruleText(p simulation.ReportPage) string {
	if p.ModeRule == "" {
		return p.Rule
	}
	return fmt.Sprintf("%s; %s, %s", p.Rule, p.Priority, p.ModeRule)
}

func endText(r simulation.Report, z *time.Location) string {
	switch r.End {
	case simulation.EndAcknowledged:
		return fmt.Sprintf("Somebody acknowledges at %s, as assumed.", at(r.EndedAt, z))
	case simulation.EndCut:
		return fmt.Sprintf("Cut at %s: the plan continues.", at(r.EndedAt, z))
	}
	return fmt.Sprintf("The plan is exhausted at %s, %s after the incident was opened.", at(r.EndedAt, z), span(r.EndedAt-r.At))
}
