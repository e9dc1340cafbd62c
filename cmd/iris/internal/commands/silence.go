package commands

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"text/tabwriter"
	"time"

	"github.com/iris-oncall/iris/cmd/iris/internal/remote"
	"github.com/iris-oncall/iris/cmd/iris/internal/text"
	"github.com/iris-oncall/iris/internal/client"
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

// lasts is how long the silence is to last; 0 = not given.
func (c silenceFlags) lasts() time.Duration {
	d, err := remote.Period(c.For)
	if err != nil {
		return 0 // change refuses it
	}
	return d
}

// change returns the content of a silence with what is given.
func (c silenceFlags) change(out silences.Content, now time.Time) (silences.Content, error) {
	for _, one := range []struct{ given, into *string }{{c.Match, &out.Match}, {c.Application, &out.Application}, {c.Plan, &out.Plan},
		{c.Team, &out.Team}, {c.Repeat, &out.Recurrence}, {c.Zone, &out.Zone}} {
		if one.given != nil {
			*one.into = *one.given
		}
	}
	zone, err := time.LoadLocation(out.Zone)
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
		out.To = out.EndAfter(d, now)
	}
	return out, err
}

// silence is a silence of an answer.
type silence struct {
	ID          int64     `json:"id"`
	Match       string    `json:"match"`
	Application string    `json:"application"`
	Plan        string    `json:"plan"`
	Team        string    `json:"team"`
	From        time.Time `json:"from"`
	To          time.Time `json:"to"`
	Recurrence  string    `json:"recurrence"`
	Zone        string    `json:"zone"`
	Comment     string    `json:"comment"`
	Author      string    `json:"author"`
	CreatedAt   time.Time `json:"created_at"`
	EndedAt     time.Time `json:"ended_at"`
	Hidden      int       `json:"hidden_incidents"`
	State       string    `json:"state"`
	// NextFrom and NextTo are the present occurrence, else the next one.
	NextFrom *time.Time `json:"next_from"`
	NextTo   *time.Time `json:"next_to"`
}

// stored returns the silence with its rules.
func (s silence) stored() silences.Silence {
	return silences.Silence{ID: silences.ID(s.ID), Author: s.Author, CreatedAt: s.CreatedAt, EndedAt: s.EndedAt, Hidden: s.Hidden, Content: silences.Content{Match: s.Match,
		Application: s.Application, Plan: s.Plan, Team: s.Team, From: s.From, To: s.To, Recurrence: s.Recurrence, Zone: cmp.Or(s.Zone, "UTC"), Comment: s.Comment}}
}

// body returns the body of a request that stores a silence. lasts replaces its end, by the clock of the database; 0 = it does not.
func body(c silences.Content, lasts time.Duration) map[string]any {
	out := map[string]any{"from": c.From.Format(time.RFC3339), "to": c.To.Format(time.RFC3339)}
	for name, value := range map[string]string{"match": c.Match, "application": c.Application, "plan": c.Plan, "team": c.Team, "recurrence": c.Recurrence,
		"zone": c.Zone, "comment": c.Comment} {
		if value != "" {
			out[name] = value
		}
	}
	if lasts != 0 {
		delete(out, "to")
		out["ends_in_seconds"] = int64(lasts / time.Second)
	}
	return out
}

type silenceAdd struct {
	remote.Flags
	silenceFlags
	Comment string `required:"" help:"Why."`
}

// Run adds a silence. Standard output has only its number.
func (c silenceAdd) Run(ctx context.Context, e remote.Env) error {
	now := time.Now().UTC().Truncate(time.Second)
	if c.For == "" && c.Until == "" {
		return remote.Usagef("give either --for or --until")
	}
	content, err := c.change(silences.Content{From: now, Zone: "UTC", Comment: c.Comment}, now)
	if err != nil {
		return err
	}
	api, err := c.API(ctx, e)
	if err != nil {
		return err
	}
	in := body(content, c.lasts())
	if c.From == "" {
		delete(in, "from") // now, by the clock of the database
	}
	var made silence
	if err := api.Do(ctx, http.MethodPost, "/v1/silences", in, &made); err != nil {
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

func (c silenceNumber) path() string { return fmt.Sprintf("/v1/silences/%d", c.ID) }

// read returns the silence and the client that read it.
func (c silenceNumber) read(ctx context.Context, e remote.Env) (api *client.Client, found silence, err error) {
	if api, err = c.API(ctx, e); err == nil {
		err = api.Do(ctx, http.MethodGet, c.path(), nil, &found)
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
	before := found.stored().Content
	if c.Comment != nil {
		before.Comment = *c.Comment
	}
	content, err := c.change(before, time.Now())
	if err != nil {
		return err
	}
	var made silence
	if err := api.Do(ctx, http.MethodPut, c.path(), body(content, c.lasts()), &made); err != nil {
		return err
	}
	fmt.Fprintf(e.Err, "silence %d changed: it is %s until %s and hides %d incidents now\n", c.ID, made.State, text.Moment(made.To), made.Hidden)
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
	all, err := client.First[silence](ctx, api, fmt.Sprintf("/v1/silences?limit=500&over=%t", c.Over), mostSilences)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(e.Out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tSTATE\tFROM\tTO\tREPEAT\tHIDES\tAUTHOR\tINCIDENTS\tCOMMENT")
	for _, found := range all {
		one := found.stored()
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\n", one.ID, found.State, text.Moment(one.From), text.Moment(one.To), one.Recurrence, one.Hidden, one.Author,
			one.Conditions(), one.Comment)
	}
	return w.Flush()
}

type silenceShow struct{ silenceNumber }

// Run shows a silence.
func (c silenceShow) Run(ctx context.Context, e remote.Env) error {
	api, found, err := c.read(ctx, e)
	if err != nil {
		return err
	}
	hidden, err := client.First[struct{ ID int64 }](ctx, api, c.path()+"/incidents?limit=500", mostSilences)
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
func describe(found silence) string {
	s := found.stored()
	out := fmt.Sprintf("silence: %d\nstate: %s\nincidents: %s\nfrom: %s\nto: %s\ncomment: %s\nadded: %s by %s\n", s.ID, found.State, s.Conditions(),
		text.Moment(s.From), text.Moment(s.To), s.Comment, text.Moment(s.CreatedAt), s.Author)
	if s.Recurrence != "" {
		out += fmt.Sprintf("repeat: %s in %s\n", s.Recurrence, s.Zone)
		if found.NextFrom != nil && found.NextTo != nil && s.EndedAt.IsZero() {
			out += fmt.Sprintf("%s: %s to %s\n", map[bool]string{true: "now", false: "next"}[found.State == "active"], text.Moment(*found.NextFrom), text.Moment(*found.NextTo))
		}
	}
	if !s.EndedAt.IsZero() {
		out += fmt.Sprintf("ended: %s\n", text.Moment(s.EndedAt))
	}
	return out
}

type silenceEnd struct{ silenceNumber }

// Run ends a silence.
func (c silenceEnd) Run(ctx context.Context, e remote.Env) error {
	api, err := c.API(ctx, e)
	if err == nil {
		err = api.Do(ctx, http.MethodDelete, c.path(), nil, nil)
	}
	if err == nil {
		fmt.Fprintf(e.Err, "silence %d ended\n", c.ID)
	}
	return err
}
