package text

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
)

// OnCall prints who is on call.
type OnCall struct {
	Next bool // with the next hand-offs
	Gaps bool // with the gaps
}

// Lacking reports whether a role has nobody on call, or --gaps found a gap. A time that is not populated yet is not a
// gap.
func (c OnCall) Lacking(teams []scheduling.Team) bool {
	for _, t := range teams {
		for _, r := range t.Roles {
			if len(r.People) == 0 || c.Gaps && len(ofKind(r.Gaps, nobodyHas)) > 0 {
				return true
			}
		}
	}
	return false
}

// The kinds of gaps.
const (
	nobodyHas    = "nobody"
	notPopulated = "not-populated"
)

// ofKind returns the gaps of a kind.
func ofKind(gaps []scheduling.PersonGap, kind string) []scheduling.PersonGap {
	var out []scheduling.PersonGap
	for _, g := range gaps {
		if string(g.Kind) == kind {
			out = append(out, g)
		}
	}
	return out
}

// Plain prints one line for each fact: kind, team, role, time, and person or end. An empty name means nobody.
func (c OnCall) Plain(w io.Writer, teams []scheduling.Team) error {
	for _, t := range teams {
		when := func(at time.Time) string { return at.In(zoneOf(t)).Format(time.RFC3339) }
		for _, r := range t.Roles {
			people := r.People
			if len(people) == 0 {
				people = []scheduling.Person{{}} // an empty name
			}
			for _, p := range people {
				if err := Row(w, "on-call", t.Team, r.Role, when(t.At), p.Name); err != nil {
					return err
				}
			}
			for _, h := range r.Next {
				if !c.Next {
					break
				}
				if err := Row(w, "hand-off", t.Team, r.Role, when(h.At), strings.Join(h.To, ",")); err != nil {
					return err
				}
			}
			for _, g := range r.Gaps {
				if !c.Gaps {
					break
				}
				what := "gap"
				if string(g.Kind) == notPopulated {
					what = "not-populated"
				}
				if err := Row(w, what, t.Team, r.Role, when(g.Start), when(g.End)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// zoneOf returns the time zone of a team.
func zoneOf(t scheduling.Team) *time.Location {
	z, err := time.LoadLocation(t.Zone)
	if err != nil {
		return time.UTC
	}
	return z
}

// Table prints tables for people.
func (c OnCall) Table(out io.Writer, teams []scheduling.Team) error {
	for i, t := range teams {
		if i > 0 {
			fmt.Fprintln(out)
		}
		z := zoneOf(t)
		fmt.Fprintf(out, "Team %s at %s (%s)\n", t.Team, At(t.At, z), t.Zone)
		w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
		fmt.Fprintln(w, "ROLE\tWHO\tREACHED BY\tWHY")
		for _, r := range t.Roles {
			if len(r.People) == 0 {
				_ = Row(w, r.Role, "NOBODY", "", r.Rule) // Flush returns the error
			}
			for _, p := range r.People {
				_ = Row(w, r.Role, person(p), contactText(p), r.Rule)
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

func person(p scheduling.Person) string {
	if p.FullName == "" {
		return p.Name
	}
	return p.Name + " (" + p.FullName + ")"
}

// contactText lists the contacts of a person, the fastest first.
func contactText(p scheduling.Person) string {
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

func printNext(out io.Writer, t scheduling.Team, r scheduling.Role, z *time.Location) {
	if len(r.Next) == 0 {
		fmt.Fprintf(out, "No hand-off of %s until %s.\n", r.Role, At(t.Until, z))
		return
	}
	fmt.Fprintf(out, "Next hand-offs of %s:\n", r.Role)
	for _, h := range r.Next {
		fmt.Fprintf(out, "  %s  from %s to %s\n", At(h.At, z), namesText(h.From), namesText(h.To))
	}
}

func namesText(names []string) string {
	if len(names) == 0 {
		return "nobody"
	}
	return strings.Join(names, " and ")
}

func printGaps(out io.Writer, t scheduling.Team, r scheduling.Role, z *time.Location) {
	if len(r.Gaps) == 0 {
		fmt.Fprintf(out, "No gap in %s until %s.\n", r.Role, At(t.Until, z))
		return
	}
	list := func(kind string, format string) {
		gaps := ofKind(r.Gaps, kind)
		if len(gaps) == 0 {
			return
		}
		fmt.Fprintf(out, format, r.Role)
		for _, g := range gaps {
			fmt.Fprintf(out, "  %s  to  %s  (%s)\n", At(g.Start, z), At(g.End, z), length(g.End.Sub(g.Start)))
		}
	}
	list(nobodyHas, "Nobody has a shift as %s (pages go to the team's fixed order, or to the fallback):\n")
	list(notPopulated, "Not populated yet for %s; the schedule will fill these times:\n")
}

// length formats a duration as days, hours and minutes.
func length(d time.Duration) string {
	switch whole := d / (24 * time.Hour); {
	case whole > 0:
		return fmt.Sprintf("%d d %d h", whole, (d-whole*24*time.Hour)/time.Hour)
	case d >= time.Hour:
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	}
	return d.String()
}
