package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/operator"
)

type incidentCommand struct {
	Snooze   snoozeCommand   `cmd:"" help:"End the escalation of an incident for some time. Then its plan begins again."`
	Unsnooze unsnoozeCommand `cmd:"" help:"End a snooze now: the plan begins again."`
	Page     pageCommand     `cmd:"" help:"Page further people on a running incident, in addition to its plan."`
	Reassign reassignCommand `cmd:"" help:"Give an acknowledged incident another owner, who is paged."`
	Merge    mergeCommand    `cmd:"" help:"Merge duplicates into one incident, which stands for them."`
	Unmerge  unmergeCommand  `cmd:"" help:"Undo the merge of an incident: its plan begins again."`
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
	if err := o.Incidents().EndSnooze(ctx, c.ID); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "incident %d escalates again\n", c.ID)
	return nil
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

type unmergeCommand struct {
	ID int64 `arg:"" help:"Number of the incident."`
}

// Run undoes a merge.
func (c unmergeCommand) Run(ctx context.Context, e *env, o *operator.Operator) error {
	if err := o.Incidents().Unmerge(ctx, c.ID); err != nil {
		return err
	}
	fmt.Fprintf(e.stdout, "incident %d is no longer merged\n", c.ID)
	return nil
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
	if err != nil {
		return invalidIsUsage(err)
	}
	fmt.Fprintf(e.stdout, "incident %d pages %s\n", c.ID, strings.Join(slices.Concat(c.User, c.Team, c.Oncall), ", "))
	return nil
}

type reassignCommand struct {
	ID    int64  `arg:"" help:"Number of the incident."`
	Owner string `arg:"" help:"Name of the new owner."`
}

// Run gives an incident another owner.
func (c reassignCommand) Run(ctx context.Context, e *env, o *operator.Operator) error {
	if err := o.Incidents().Reassign(ctx, c.ID, c.Owner); err != nil {
		return invalidIsUsage(err)
	}
	fmt.Fprintf(e.stdout, "incident %d belongs to %s\n", c.ID, c.Owner)
	return nil
}
