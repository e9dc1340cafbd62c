package text

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/kit/humanize"
)

// clock is the layout of times. It has the offset, so that the zone is clear.
const clock = "Mon 2006-01-02 15:04:05 -07:00"

// At formats an instant in a time zone.
func At(at time.Time, z *time.Location) string { return at.In(z).Format(clock) }

// SingleLine replaces tabs and line breaks with spaces.
var SingleLine = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")

// Short shortens a text that others wrote, such as the title of an alert, for a cell of a table.
func Short(s string) string { return humanize.Shorten(s, 100) }

// Row prints cells with tabs between them.
func Row(w io.Writer, cells ...string) error {
	for i := range cells {
		cells[i] = SingleLine.Replace(cells[i])
	}
	_, err := fmt.Fprintln(w, strings.Join(cells, "\t"))
	return err
}

// PlainSimulation prints a simulation for scripts: one line for each page, with tabs between the values.
func PlainSimulation(w io.Writer, r simulation.Report, z *time.Location) error {
	for _, p := range r.Pages {
		err := Row(w, p.At.In(z).Format(time.RFC3339), fmt.Sprint(p.Step), fmt.Sprint(p.Notification),
			fmt.Sprint(p.Repeat),
			p.Target, p.Mode, p.Priority, p.Purpose, p.Rule, p.ModeRule)
		if err != nil {
			return err
		}
	}
	return nil
}

// Simulation prints a simulation for people.
func Simulation(out io.Writer, r simulation.Report, z *time.Location) error {
	application := "any application"
	if r.Application != nil {
		application = "application " + *r.Application
	}
	fmt.Fprintf(out, "Plan %s (version %d), opened %s by %s. Nothing is sent.\n\n", r.Plan, r.PlanID, At(r.At, z),
		application)
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "AFTER\tWHEN\tSTEP\tWHO\tBY\tWHY")
	for _, p := range r.Pages {
		step := fmt.Sprint(p.Step)
		if p.Step == 0 {
			step = "-"
		} else if p.Repeat > 0 {
			step += fmt.Sprintf(" (repeat %d)", p.Repeat)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", "+"+Seconds(p.After), At(p.At, z), step, SingleLine.Replace(p.Target),
			modeText(p, z), SingleLine.Replace(ruleText(p)))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out, "\nTimeline:")
	for _, l := range r.Timeline {
		fmt.Fprintf(out, "  %s  %s\n", At(l.At, z), l.Text)
	}
	fmt.Fprintf(out, "\n%s\n", endText(r, z))
	for _, n := range r.Notes {
		fmt.Fprintf(out, "Note: %s\n", n)
	}
	return nil
}

func modeText(p simulation.ReportPage, z *time.Location) string {
	text := p.Mode
	if p.WantedMode != p.Mode {
		text += " instead of " + p.WantedMode
	}
	if p.HeldUntil != nil {
		text += ", in a digest at " + p.HeldUntil.In(z).Format(time.TimeOnly)
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
		return fmt.Sprintf("Somebody acknowledges at %s, as assumed.", At(r.EndedAt, z))
	case simulation.EndCut:
		return fmt.Sprintf("Cut at %s: the plan continues.", At(r.EndedAt, z))
	}
	return fmt.Sprintf("The plan is exhausted at %s, %s after the incident was opened.", At(r.EndedAt, z),
		Seconds(int64(r.EndedAt.Sub(r.At)/time.Second)))
}
