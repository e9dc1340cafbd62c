package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/iris-oncall/iris/cmd/iris/internal/commands"
	"github.com/iris-oncall/iris/internal/operator/senders"
)

type silenceCommand struct {
	Add  silenceAddCommand  `cmd:"" help:"Add a silence, or with --repeat a maintenance window: matching incidents page nobody. Prints its number."`
	List silenceListCommand `cmd:"" help:"List silences and maintenance windows."`
	Show silenceShowCommand `cmd:"" help:"Show a silence and the incidents that it hides."`
	Set  silenceSetCommand  `cmd:"" help:"Change a silence that is not over. What is not given stays; an empty value removes a condition."`
	End  silenceEndCommand  `cmd:"" help:"End a silence now. Its incidents escalate within two minutes if their source still reports them."`
}

// silenceFlags are the content of a silence. What is not given stays as it is.
type silenceFlags struct {
	Match       *string `help:"Labels of the incidents, in the syntax of Alertmanager: team=\"db\", severity!=\"critical\"."`
	Application *string `help:"Application of the incidents." placeholder:"NAME"`
	Plan        *string `help:"Plan of the incidents." placeholder:"NAME"`
	Team        *string `help:"Team that the plan of the incidents pages." placeholder:"NAME"`
	For         string  `help:"How long it lasts: 90m, 2h, 3d; from now, or from its beginning if it repeats or begins later. Either this or --until." placeholder:"PERIOD" xor:"end"`
	Until       string  `help:"When it ends: 2026-01-31T22:00, in --zone." placeholder:"TIME" xor:"end"`
	From        string  `help:"When it begins, in --zone; a new one begins now." placeholder:"TIME"`
	Repeat      *string `help:"RRULE by which it repeats, such as FREQ=WEEKLY;BYDAY=SU." placeholder:"RRULE"`
	Zone        *string `help:"Time zone of the times and of the repetition; of a new one: UTC." placeholder:"ZONE"`
}

// change returns the content of a silence with what is given.
func (c silenceFlags) change(out senders.SilenceContent, now time.Time) (senders.SilenceContent, error) {
	for _, one := range []struct{ given, into *string }{{c.Match, &out.Match}, {c.Application, &out.Application}, {c.Plan, &out.Plan},
		{c.Team, &out.Team}, {c.Repeat, &out.Recurrence}, {c.Zone, &out.Zone}} {
		if one.given != nil {
			*one.into = *one.given
		}
	}
	zone, err := time.LoadLocation(out.Zone)
	if err != nil {
		return out, commands.Usagef("--zone: %.60q is no time zone such as Europe/Berlin", out.Zone)
	}
	if c.From != "" {
		if out.From, err = civil("--from", c.From, zone); err != nil {
			return out, err
		}
	}
	switch {
	case c.Until != "":
		out.To, err = civil("--until", c.Until, zone)
	case c.For != "":
		var d time.Duration
		d, err = commands.Period(c.For)
		out.To = out.EndAfter(d, now)
	}
	return out, err
}

type silenceAddCommand struct {
	silenceFlags
	Comment string `required:"" help:"Why."`
}

// Run adds a silence. Standard output has only its number.
func (c silenceAddCommand) Run(ctx context.Context, e *env, s *senders.Senders) error {
	now := time.Now().UTC().Truncate(time.Second)
	if c.For == "" && c.Until == "" {
		return commands.Usagef("give either --for or --until")
	}
	content, err := c.change(senders.SilenceContent{From: now, Zone: "UTC", Comment: c.Comment}, now)
	if err != nil {
		return err
	}
	made, err := s.AddSilence(ctx, content)
	if err != nil {
		return invalidIsUsage(err)
	}
	fmt.Fprintf(e.stderr, "silence added: it is %s and hides %d incidents now\n", made.State(time.Now()), made.Hidden)
	fmt.Fprintln(e.stdout, made.ID)
	return nil
}

type silenceSetCommand struct {
	ID int64 `arg:"" help:"Number of the silence."`
	silenceFlags
	Comment *string `help:"Why."`
}

// Run changes a silence.
func (c silenceSetCommand) Run(ctx context.Context, e *env, s *senders.Senders) error {
	before, _, err := s.Silence(ctx, c.ID)
	if err != nil {
		return err
	}
	if c.Comment != nil {
		before.Comment = *c.Comment
	}
	content, err := c.change(before.Content, time.Now())
	if err != nil {
		return err
	}
	made, err := s.SetSilence(ctx, c.ID, content)
	if err != nil {
		return invalidIsUsage(err)
	}
	fmt.Fprintf(e.stderr, "silence %d changed: it is %s until %s and hides %d incidents now\n", c.ID, made.State(time.Now()), senders.Moment(made.To), made.Hidden)
	return nil
}

// civil reads a time of day of a zone, or an instant with its own offset.
func civil(flag, text string, zone *time.Location) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	at, err := time.ParseInLocation("2006-01-02T15:04", text, zone)
	if err != nil {
		return at, commands.Usagef("%s: %.60q is not like 2026-01-31T22:00", flag, text)
	}
	return at, nil
}

type silenceListCommand struct {
	Over bool `help:"List those that are over too."`
}

// Run lists silences, newest first.
func (c silenceListCommand) Run(ctx context.Context, e *env, s *senders.Senders) error {
	all, err := s.Silences(ctx, c.Over)
	if err != nil {
		return err
	}
	now := time.Now()
	w := tabwriter.NewWriter(e.stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSTATE\tFROM\tTO\tREPEAT\tHIDES\tAUTHOR\tINCIDENTS\tCOMMENT")
	for _, one := range all {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", one.ID, one.State(now), senders.Moment(one.From), senders.Moment(one.To), one.Recurrence, one.Hidden, one.Author,
			one.Conditions(), one.Comment)
	}
	return w.Flush()
}

type silenceShowCommand struct {
	ID int64 `arg:"" help:"Number of the silence."`
}

// Run shows a silence.
func (c silenceShowCommand) Run(ctx context.Context, e *env, s *senders.Senders) error {
	one, hidden, err := s.Silence(ctx, c.ID)
	if err != nil {
		return err
	}
	fmt.Fprint(e.stdout, senders.Describe(one, time.Now()))
	for _, id := range hidden {
		fmt.Fprintf(e.stdout, "hides: incident %d\n", id)
	}
	return nil
}

type silenceEndCommand struct {
	ID int64 `arg:"" help:"Number of the silence."`
}

// Run ends a silence.
func (c silenceEndCommand) Run(ctx context.Context, e *env, s *senders.Senders) error {
	if err := s.EndSilence(ctx, c.ID); err != nil {
		return err
	}
	fmt.Fprintf(e.stderr, "silence %d ended\n", c.ID)
	return nil
}
