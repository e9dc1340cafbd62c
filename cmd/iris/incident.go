package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/operator"
	"github.com/iris-oncall/iris/internal/operator/senders"
)

type incidentCommand struct {
	Open     openCommand     `cmd:"" help:"Open an incident. Prints its number."`
	Snooze   snoozeCommand   `cmd:"" help:"End the escalation of an incident for some time. Then its plan begins again."`
	Unsnooze unsnoozeCommand `cmd:"" help:"End a snooze now: the plan begins again."`
}

type openCommand struct {
	Plan        string            `required:"" help:"Plan that the incident follows." placeholder:"NAME"`
	Application string            `required:"" help:"Application of the incident." placeholder:"NAME"`
	Title       string            `required:"" help:"What is wrong, in a line."`
	Summary     string            `help:"More about it."`
	Severity    string            `help:"critical, error, warning or info."`
	Label       map[string]string `help:"A label, for silences and templates. May be repeated." placeholder:"NAME=VALUE"`
	Context     string            `help:"Further variables for templates: a JSON object." placeholder:"JSON"`
	Target      []string          `help:"Whom a dynamic target of the plan means, such as user:ann. May be repeated, in the order of the plan." placeholder:"ROLE:NAME"`
	DedupKey    string            `help:"If an incident of the application and plan is open with this key, none is opened." placeholder:"KEY"`
}

// Run opens an incident. Standard output has only its number.
func (c openCommand) Run(ctx context.Context, e *env, s *senders.Senders) error {
	to := senders.NewIncident{Plan: c.Plan, Application: c.Application}
	for _, text := range c.Target {
		role, name, ok := strings.Cut(text, ":")
		if !ok {
			return usagef("--target: %.60q must be a role and a name, such as user:ann", text)
		}
		to = to.With(role, name)
	}
	content := senders.IncidentContent{Title: c.Title, Summary: c.Summary, Labels: c.Label, DedupKey: c.DedupKey}
	if c.Context != "" {
		var members map[string]any
		if json.Unmarshal([]byte(c.Context), &members) != nil || members == nil {
			return usagef("--context must be a JSON object")
		}
		content.Context = json.RawMessage(c.Context)
	}
	id, known, err := s.OpenIncident(ctx, to, content, c.Severity)
	if err != nil {
		return invalidIsUsage(err)
	}
	if known {
		fmt.Fprintln(e.stderr, "an incident with this key is open already: none was opened")
	}
	fmt.Fprintln(e.stdout, id)
	return nil
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
