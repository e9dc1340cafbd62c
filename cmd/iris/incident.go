package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/operator"
	"github.com/iris-oncall/iris/internal/operator/senders"
)

type incidentCommand struct {
	Open     openCommand     `cmd:"" help:"Open an incident. Prints its number."`
	Snooze   snoozeCommand   `cmd:"" help:"End the escalation of an incident for some time. Then its plan begins again."`
	Unsnooze unsnoozeCommand `cmd:"" help:"End a snooze now: the plan begins again."`
	Page     pageCommand     `cmd:"" help:"Page further people on a running incident, in addition to its plan."`
	Reassign reassignCommand `cmd:"" help:"Give an acknowledged incident another owner, who is paged."`
	Merge    mergeCommand    `cmd:"" help:"Merge duplicates into one incident, which stands for them."`
	Unmerge  unmergeCommand  `cmd:"" help:"Undo the merge of an incident: its plan begins again."`
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
	id, known, err := s.OpenIncident(ctx, senders.NewIncident(c))
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
	until, err := o.Incidents().Snooze(ctx, c.ID, d)
	return e.done(err, "incident %d is snoozed until %s", c.ID, until.UTC().Format(time.RFC3339))
}

type unsnoozeCommand struct {
	ID int64 `arg:"" help:"Number of the incident."`
}

// Run ends a snooze.
func (c unsnoozeCommand) Run(ctx context.Context, e *env, o *operator.Operator) error {
	return e.done(o.Incidents().EndSnooze(ctx, c.ID), "incident %d escalates again", c.ID)
}

type mergeCommand struct {
	IDs     []int64 `arg:"" name:"child" help:"Numbers of the incidents that page nobody from now on."`
	Into    int64   `required:"" help:"Number of the incident that stands for them: they follow its acknowledgements and resolves." placeholder:"PARENT"`
	Comment string  `help:"Why; for the timelines."`
}

// Run merges incidents.
func (c mergeCommand) Run(ctx context.Context, e *env, o *operator.Operator) error {
	if err := o.Incidents().Merge(ctx, c.IDs, c.Into, c.Comment); err != nil {
		return invalidIsUsage(err)
	}
	for _, id := range c.IDs {
		fmt.Fprintf(e.stdout, "incident %d is merged into incident %d\n", id, c.Into)
	}
	return nil
}

type unmergeCommand unsnoozeCommand

// Run undoes a merge.
func (c unmergeCommand) Run(ctx context.Context, e *env, o *operator.Operator) error {
	return e.done(o.Incidents().Unmerge(ctx, c.ID), "incident %d is no longer merged", c.ID)
}

type pageCommand struct {
	ID       int64    `arg:"" help:"Number of the incident."`
	User     []string `help:"Person to page; may be repeated."`
	Team     []string `help:"Team whose people are all paged; may be repeated."`
	Oncall   []string `help:"Team whose primary on call is paged; may be repeated." placeholder:"TEAM"`
	Priority string   `help:"Decides the mode: urgent, high, medium or low." default:"high"`
	Template string   `help:"Template of the messages; that of the current step by default." placeholder:"NAME"`
}

// Run pages further people.
func (c pageCommand) Run(ctx context.Context, e *env, o *operator.Operator) error {
	if len(c.User)+len(c.Team)+len(c.Oncall) == 0 {
		return usagef("name at least one --user, --team or --oncall")
	}
	err := o.Incidents().Page(ctx, c.ID, operator.Paged{People: c.User, Teams: c.Team, OnCall: c.Oncall, Priority: c.Priority, Template: c.Template})
	return e.done(err, "incident %d pages %s", c.ID, strings.Join(slices.Concat(c.User, c.Team, c.Oncall), ", "))
}

type reassignCommand struct {
	ID    int64  `arg:"" help:"Number of the incident."`
	Owner string `arg:"" help:"Name of the new owner."`
}

// Run gives an incident another owner.
func (c reassignCommand) Run(ctx context.Context, e *env, o *operator.Operator) error {
	return e.done(o.Incidents().Reassign(ctx, c.ID, c.Owner), "incident %d belongs to %s", c.ID, c.Owner)
}
