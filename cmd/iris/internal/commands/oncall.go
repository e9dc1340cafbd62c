package commands

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/iris-oncall/iris/cmd/iris/internal/text"
	"github.com/iris-oncall/iris/internal/client"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/oncall/who"
	"github.com/iris-oncall/iris/internal/users"
)

// OnCall prints who is on call.
type OnCall struct {
	serverFlags
	Team    string `arg:"" optional:"" help:"Name of the team."`
	Service string `help:"All teams that own the service, instead of one team." placeholder:"SERVICE"`
	Role    string `help:"Only this role; without it, all roles of the calendar." placeholder:"ROLE"`
	At      string `help:"When: now, +2h, +3d, '2026-11-22 02:00' on the team's clock, 2026-11-22T02:00:00+01:00." default:"now" placeholder:"TIME"`
	Next    bool   `help:"Print the next hand-offs, too."`
	Gaps    bool   `help:"Print the gaps, too: times that must be covered and in which nobody has a shift."`
	For     string `help:"Period of the hand-offs and gaps, such as 12h, 30d or 8w." default:"30d" placeholder:"TIME"`
	Output
}

// Help explains the exit codes.
func (OnCall) Help() string {
	return "Exit code 0: every printed role has somebody on call. 3: a role has nobody, or --gaps found a gap. 1: the command failed. 2: the command line is wrong."
}

// nobodyOnCall is the exit code if a role has nobody on call, or a gap was found.
const nobodyOnCall ExitCode = 3

// Run prints who is on call.
func (c OnCall) Run(ctx context.Context, e Env) error {
	switch {
	case c.Team == "" && c.Service == "":
		return Usagef("name a team, or a service with --service")
	case c.Team != "" && c.Service != "":
		return Usagef("name either a team or, with --service, a service, not both")
	}
	ahead, err := Period(c.For)
	if err != nil {
		return err
	}
	api, err := c.api(ctx, e)
	if err != nil {
		return err
	}
	query := url.Values{"at": {c.At}, "for": {ahead.String()}}
	for name, value := range map[string]string{"team": c.Team, "service": c.Service, "role": c.Role} {
		if value != "" {
			query.Set(name, value)
		}
	}
	teams, err := client.All[who.Team](ctx, api, "/v1/oncall?"+query.Encode())
	if err != nil {
		return err
	}
	switch c.Format {
	case "json":
		err = WriteJSON(e.Out, teams)
	case "plain":
		err = c.plain(e.Out, teams)
	default:
		err = c.table(e.Out, teams)
	}
	if err == nil && c.lacking(teams) {
		return nobodyOnCall
	}
	return err
}

// lacking reports whether a role has nobody on call, or --gaps found a gap. A time that is not populated yet is not a gap.
func (c OnCall) lacking(teams []who.Team) bool {
	for _, t := range teams {
		for _, r := range t.Roles {
			if len(r.People) == 0 || c.Gaps && len(ofKind(r.Gaps, scheduling.GapNobody)) > 0 {
				return true
			}
		}
	}
	return false
}

// ofKind returns the gaps of a kind.
func ofKind(gaps []who.Gap, kind scheduling.GapKind) []who.Gap {
	var out []who.Gap
	for _, g := range gaps {
		if g.Kind == kind {
			out = append(out, g)
		}
	}
	return out
}

// plain prints one line for each fact: kind, team, role, time, and person or end. An empty name means nobody.
func (c OnCall) plain(w io.Writer, teams []who.Team) error {
	for _, t := range teams {
		when := func(unix int64) string { return time.Unix(unix, 0).In(zoneOf(t)).Format(time.RFC3339) }
		for _, r := range t.Roles {
			people := r.People
			if len(people) == 0 {
				people = []who.Person{{}} // an empty name
			}
			for _, p := range people {
				if err := text.Row(w, "on-call", t.Team, r.Role, when(t.At), p.Name); err != nil {
					return err
				}
			}
			for _, h := range r.Next {
				if !c.Next {
					break
				}
				if err := text.Row(w, "hand-off", t.Team, r.Role, when(h.At), strings.Join(h.To, ",")); err != nil {
					return err
				}
			}
			for _, g := range r.Gaps {
				if !c.Gaps {
					break
				}
				what := "gap"
				if g.Kind == scheduling.GapNotPopulated {
					what = "not-populated"
				}
				if err := text.Row(w, what, t.Team, r.Role, when(g.Start), when(g.End)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// zoneOf returns the time zone of a team.
func zoneOf(t who.Team) *time.Location {
	z, err := time.LoadLocation(t.Zone)
	if err != nil {
		return time.UTC
	}
	return z
}

func (c OnCall) table(out io.Writer, teams []who.Team) error {
	for i, t := range teams {
		if i > 0 {
			fmt.Fprintln(out)
		}
		z := zoneOf(t)
		fmt.Fprintf(out, "Team %s at %s (%s)\n", t.Team, text.At(t.At, z), t.Zone)
		w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
		fmt.Fprintln(w, "ROLE\tWHO\tREACHED BY\tWHY")
		for _, r := range t.Roles {
			if len(r.People) == 0 {
				_ = text.Row(w, r.Role, "NOBODY", "", r.Rule) // Flush returns the error
			}
			for _, p := range r.People {
				_ = text.Row(w, r.Role, person(p), contactText(p), r.Rule)
			}
		}
		if err := w.Flush(); err != nil {
			return err
		}
		for _, r := range t.Roles {
			if c.Next {
				printNext(out, t, r, z)
			}
			if c.Gaps {
				printGaps(out, t, r, z)
			}
		}
	}
	return nil
}

func person(p who.Person) string {
	if p.FullName == "" {
		return p.Name
	}
	return p.Name + " (" + p.FullName + ")"
}

// contactText lists the contacts of a person, the fastest first.
func contactText(p who.Person) string {
	var parts []string
	for _, m := range []users.Mode{users.Call, users.SMS, users.Push, users.Slack, users.Email} {
		if to := p.Contacts[m]; to != "" && (m != users.SMS || to != p.Contacts[users.Call]) {
			parts = append(parts, string(m)+" "+to)
		}
	}
	if len(parts) == 0 {
		return "NO CONTACT"
	}
	return strings.Join(parts, ", ")
}

func printNext(out io.Writer, t who.Team, r who.Role, z *time.Location) {
	if len(r.Next) == 0 {
		fmt.Fprintf(out, "No hand-off of %s until %s.\n", r.Role, text.At(t.Until, z))
		return
	}
	fmt.Fprintf(out, "Next hand-offs of %s:\n", r.Role)
	for _, h := range r.Next {
		fmt.Fprintf(out, "  %s  from %s to %s\n", text.At(h.At, z), namesText(h.From), namesText(h.To))
	}
}

func namesText(names []string) string {
	if len(names) == 0 {
		return "nobody"
	}
	return strings.Join(names, " and ")
}

func printGaps(out io.Writer, t who.Team, r who.Role, z *time.Location) {
	if len(r.Gaps) == 0 {
		fmt.Fprintf(out, "No gap in %s until %s.\n", r.Role, text.At(t.Until, z))
		return
	}
	list := func(kind scheduling.GapKind, format string) {
		gaps := ofKind(r.Gaps, kind)
		if len(gaps) == 0 {
			return
		}
		fmt.Fprintf(out, format, r.Role)
		for _, g := range gaps {
			fmt.Fprintf(out, "  %s  to  %s  (%s)\n", text.At(g.Start, z), text.At(g.End, z), length(g.End-g.Start))
		}
	}
	list(scheduling.GapNobody, "Nobody has a shift as %s (pages go to the team's fixed order, or to the fallback):\n")
	list(scheduling.GapNotPopulated, "Not populated yet for %s; the schedule will fill these times:\n")
}

// length formats seconds as days, hours and minutes.
func length(seconds int64) string {
	d := time.Duration(seconds) * time.Second
	switch whole := d / (24 * time.Hour); {
	case whole > 0:
		return fmt.Sprintf("%d d %d h", whole, (d-whole*24*time.Hour)/time.Hour)
	case d >= time.Hour:
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	}
	return d.String()
}
