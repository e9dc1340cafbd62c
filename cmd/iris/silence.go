package main

import (
	"context"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/iris-oncall/iris/internal/operator/senders"
)

type silenceCommand struct {
	Add  silenceAddCommand  `cmd:"" help:"Add a silence, or with --repeat a maintenance window: matching incidents page nobody. Prints its number."`
	List silenceListCommand `cmd:"" help:"List silences and maintenance windows."`
	Show silenceShowCommand `cmd:"" help:"Show a silence and the incidents that it hides."`
	End  silenceEndCommand  `cmd:"" help:"End a silence now. Its incidents escalate within two minutes if their source still reports them."`
}

type silenceAddCommand struct {
	Match       string `help:"Labels of the incidents, in the syntax of Alertmanager: team=\"db\", severity!=\"critical\"."`
	Application string `help:"Application of the incidents." placeholder:"NAME"`
	Plan        string `help:"Plan of the incidents." placeholder:"NAME"`
	Team        string `help:"Team that the plan of the incidents pages." placeholder:"NAME"`
	For         string `help:"How long it lasts: 90m, 2h, 3d. Either this or --until." placeholder:"PERIOD"`
	Until       string `help:"When it ends: 2026-01-31T22:00, in --zone." placeholder:"TIME"`
	From        string `help:"When it begins, in --zone; default: now." placeholder:"TIME"`
	Repeat      string `help:"RRULE by which it repeats, such as FREQ=WEEKLY;BYDAY=SU." placeholder:"RRULE"`
	Zone        string `help:"Time zone of the times and of the repetition." default:"UTC" placeholder:"ZONE"`
	Comment     string `required:"" help:"Why."`
}

// Run adds a silence. Standard output has only its number.
func (c silenceAddCommand) Run(ctx context.Context, e *env, s *senders.Senders) error {
	content, err := c.content(time.Now())
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

func (c silenceAddCommand) content(now time.Time) (out senders.SilenceContent, err error) {
	zone, err := time.LoadLocation(c.Zone)
	if err != nil {
		return out, usagef("--zone: %.60q is no time zone such as Europe/Berlin", c.Zone)
	}
	if (c.For == "") == (c.Until == "") {
		return out, usagef("give either --for or --until")
	}
	out = senders.SilenceContent{Match: c.Match, Application: c.Application, Plan: c.Plan, Team: c.Team, Recurrence: c.Repeat, Zone: c.Zone,
		Comment: c.Comment, From: now.UTC().Truncate(time.Second)}
	if c.From != "" {
		if out.From, err = civil("--from", c.From, zone); err != nil {
			return out, err
		}
	}
	if c.Until != "" {
		out.To, err = civil("--until", c.Until, zone)
		return out, err
	}
	d, err := days(c.For)
	out.To = out.From.Add(d)
	return out, err
}

// civil reads a time of day of a zone, or an instant with its own offset.
func civil(flag, text string, zone *time.Location) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	at, err := time.ParseInLocation("2006-01-02T15:04", text, zone)
	if err != nil {
		return at, usagef("%s: %.60q is not like 2026-01-31T22:00", flag, text)
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
	now := time.Now()
	fmt.Fprintf(e.stdout, "silence: %d\nstate: %s\nincidents: %s\nfrom: %s\nto: %s\ncomment: %s\nadded: %s by %s\n", one.ID, one.State(now), one.Conditions(),
		senders.Moment(one.From), senders.Moment(one.To), one.Comment, senders.Moment(one.CreatedAt), one.Author)
	if one.Recurrence != "" {
		fmt.Fprintf(e.stdout, "repeat: %s in %s\n", one.Recurrence, one.Zone)
		if span, ok := one.Next(now); ok && one.EndedAt.IsZero() {
			fmt.Fprintf(e.stdout, "next: %s to %s\n", senders.Moment(span.From), senders.Moment(span.To))
		}
	}
	if !one.EndedAt.IsZero() {
		fmt.Fprintf(e.stdout, "ended: %s\n", senders.Moment(one.EndedAt))
	}
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
