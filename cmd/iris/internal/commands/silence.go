package commands

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/iris-oncall/iris/cmd/iris/internal/remote"
	"github.com/iris-oncall/iris/cmd/iris/internal/text"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/program/client"
	"github.com/iris-oncall/iris/internal/silences"
)

// Silence is the group of commands about silences and maintenance windows.
type Silence struct {
	Add  silenceAdd  `cmd:"" help:"Add a silence, or with --repeat a maintenance window: matching incidents page nobody. Prints its number."`
	List silenceList `cmd:"" help:"List silences and maintenance windows."`
	Show silenceShow `cmd:"" help:"Show a silence and the incidents that it hides."`
	Set  silenceSet  `cmd:"" help:"Change a silence that is not over. What is not given stays; an empty value removes a condition."`
	End  silenceEnd  `cmd:"" help:"End a silence now. Its incidents escalate within two minutes if their source still reports them."`
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

// change returns a draft with what is given; the rest is that of the draft.
func (c silenceFlags) change(out silences.Draft) (silences.Draft, error) {
	for _, one := range []struct {
		given *string
		into  *operation.Text
	}{{c.Match, &out.Match}, {c.Application, &out.Application}, {c.Plan, &out.Plan}, {c.Team, &out.Team}, {c.Repeat, &out.Recurrence}, {c.Zone, &out.Zone}} {
		if one.given != nil {
			*one.into = operation.Text(*one.given)
		}
	}
	zone, err := time.LoadLocation(string(out.Zone))
	if err != nil {
		return out, remote.Usagef("--zone: %.60q is no time zone such as Europe/Berlin", out.Zone)
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
		d, err = remote.Period(c.For)
		seconds := int64(d / time.Second)
		out.To, out.EndsInSeconds = time.Time{}, &seconds
	}
	return out, err
}

type silenceAdd struct {
	remote.Flags
	silenceFlags
	Comment string `required:"" help:"Why."`
}

// Run adds a silence. Standard output has only its number.
func (c silenceAdd) Run(ctx context.Context, e remote.Env) error {
	if c.For == "" && c.Until == "" {
		return remote.Usagef("give either --for or --until")
	}
	in, err := c.change(silences.Draft{Content: silences.Content{Zone: "UTC", Comment: c.Comment}})
	if err != nil {
		return err
	}
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	made, err := client.Call(ctx, api, silences.Create, in)
	if err != nil {
		return err
	}
	fmt.Fprintf(e.Err, "silence added: it is %s and hides %d incidents now\n", made.State, made.Hidden)
	return e.Done(nil, "%d", made.ID)
}

// silenceNumber is the argument of commands about one silence.
type silenceNumber struct {
	remote.Flags
	ID int64 `arg:"" help:"Number of the silence."`
}

func (c silenceNumber) one() silences.One { return silences.One{ID: silences.ID(c.ID)} }

// read returns the silence and the client that read it.
func (c silenceNumber) read(ctx context.Context, e remote.Env) (api *client.Client, found silences.Silence, err error) {
	if api, err = c.API(ctx, e); err == nil {
		found, err = client.Call(ctx, api, silences.Get, c.one())
	}
	return api, found, err
}

type silenceSet struct {
	silenceNumber
	silenceFlags
	Comment *string `help:"Why."`
}

// Run changes a silence.
func (c silenceSet) Run(ctx context.Context, e remote.Env) error {
	api, found, err := c.read(ctx, e)
	if err != nil {
		return err
	}
	before := silences.Draft{Content: found.Content}
	if c.Comment != nil {
		before.Comment = *c.Comment
	}
	in, err := c.change(before)
	if err != nil {
		return err
	}
	made, err := client.Call(ctx, api, silences.Replace, silences.Edit{One: c.one(), Body: in})
	if err != nil {
		return err
	}
	fmt.Fprintf(e.Err, "silence %d changed: it is %s until %s and hides %d incidents now\n", c.ID, made.State,
		text.Moment(made.To), made.Hidden)
	return nil
}

// civil reads a time of day of a zone, or an instant with its own offset.
func civil(flag, text string, zone *time.Location) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	at, err := time.ParseInLocation("2006-01-02T15:04", text, zone)
	if err != nil {
		return at, remote.Usagef("%s: %.60q is not like 2026-01-31T22:00", flag, text)
	}
	return at, nil
}

type silenceList struct {
	remote.Flags
	Over bool `help:"List those that are over too."`
}

// mostSilences is how many silences are listed at most.
const mostSilences = 1000

// Run lists silences, newest first.
func (c silenceList) Run(ctx context.Context, e remote.Env) error {
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	where := map[string]string{"over": fmt.Sprint(c.Over)}
	return listObjects(ctx, api, e.Out, silences.Kind, where, mostSilences, "table")
}

type silenceShow struct{ silenceNumber }

// Run shows a silence.
func (c silenceShow) Run(ctx context.Context, e remote.Env) error {
	api, found, err := c.read(ctx, e)
	if err != nil {
		return err
	}
	path, _ := operation.Request(silences.Hidden, silences.Hiding{One: c.one(), Paging: operation.Paging{Limit: 500}})
	hidden, err := client.First[silences.HiddenIncident](ctx, api, path, mostSilences)
	if err != nil {
		return err
	}
	fmt.Fprint(e.Out, describe(found))
	for _, i := range hidden {
		fmt.Fprintf(e.Out, "hides: incident %d\n", i.ID)
	}
	return nil
}

// describe describes a silence in lines for people. Instants are in UTC.
func describe(s silences.Silence) string {
	out := fmt.Sprintf("silence: %d\nstate: %s\nincidents: %s\nfrom: %s\nto: %s\ncomment: %s\nadded: %s by %s\n", s.ID,
		s.State, s.Conditions(),
		text.Moment(s.From), text.Moment(s.To), s.Comment, text.Moment(s.CreatedAt), s.Author)
	if s.Recurrence != "" {
		out += fmt.Sprintf("repeat: %s in %s\n", s.Recurrence, cmp.Or(s.Zone, "UTC"))
		if s.NextFrom != nil && s.NextTo != nil {
			out += fmt.Sprintf("%s: %s to %s\n", map[bool]string{true: "now",
				false: "next"}[s.State == silences.Active], text.Moment(*s.NextFrom), text.Moment(*s.NextTo))
		}
	}
	if s.EndedAt != nil {
		out += fmt.Sprintf("ended: %s\n", text.Moment(*s.EndedAt))
	}
	return out
}

type silenceEnd struct{ silenceNumber }

// Run ends a silence.
func (c silenceEnd) Run(ctx context.Context, e remote.Env) error {
	api, err := c.API(ctx, e)
	if err == nil {
		_, err = client.Call(ctx, api, silences.End, c.one())
	}
	if err == nil {
		fmt.Fprintf(e.Err, "silence %d ended\n", c.ID)
	}
	return err
}
