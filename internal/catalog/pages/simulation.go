package pages

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/web/page"
)

// simulationView is the simulation panel of a plan's page.
type simulationView struct {
	Self        string // address of the page
	Zone        string // zone of times in the form and in the result
	At          string // the time in the form, as it was typed
	Application string
	Assume      string
	Targets     []targetField
	Problem     string // why the form was refused; "" = it was not
	Opened      moment
	Rows        []simulatedRow
	Groups      []simulatedGroup // the rows, by instant
	Lines       []simulatedLine
	// EndBefore, EndAt and EndAfter are the sentence about the end.
	EndBefore, EndAfter string
	EndAt               moment
	Notes               []string
}

// moment is an instant formatted by the server. The browser formats it again in its own language.
type moment struct{ At, Text string }

// assumption is when somebody acknowledges the simulated incident.
type assumption struct{ Value, Label string }

func assumptions() []assumption {
	return []assumption{{"ack-after=5m", "after 5 min"}, {"ack-after=15m", "after 15 min"},
		{"ack-after=1h", "after 1 h"}}
}

type simulatedRow struct {
	After, Who, Mode, Note, Why string
	At                          moment
	Held                        *moment // when the digest with this page is sent; nil = the page is not held
	Step                        string
}

// simulatedGroup is what happens at one instant.
type simulatedGroup struct {
	After string
	At    moment
	Rows  []simulatedRow
}

type simulatedLine struct {
	At         moment
	Kind, Text string
}

// momentFormat has all parts of an instant, because a simulated incident may be far in the future.
const momentFormat = "Mon 2 Jan 2006 15:04:05 -07:00"

// simulate answers the form on the page of a plan. Errors in the form are part of the view.
func (h Handlers) simulate(r *http.Request, p plan, repeat int) (simulationView, error) {
	zone := page.Zone(r)
	v := r.URL.Query()
	view := simulationView{Self: p.Path(), Zone: zone.String(), At: v.Get("at"),
		Application: strings.TrimSpace(v.Get("application")), Assume: v.Get("assume")}
	q := catalog.PlanQuestion{OnePlan: one(p.Tag()), Assumptions: catalog.Assumptions{Assume: view.Assume,
		Application: page.Storable(view.Application)}}
	for i := range p.dynamicTargets() {
		f := targetField{Number: i}
		if given := v["target"]; i < len(given) {
			f.Value = strings.TrimSpace(given[i])
		}
		view.Targets = append(view.Targets, f)
		q.Targets = append(q.Targets, page.Storable(f.Value))
	}
	for n := len(q.Targets); n > 0 && q.Targets[n-1] == ""; n-- {
		q.Targets = q.Targets[:n-1] // empty targets at the end are not given
	}
	var err error
	if q.At, err = oncall.PassOn(view.At, zone, time.Now()); err != nil {
		view.Problem = fault.Public(err)
		return view, nil
	}
	report, err := h.Plans.Simulate.Do(r.Context(), page.Actor(r), q)
	switch {
	case fault.Is(err, fault.Invalid), fault.Is(err, fault.NotFound):
		view.Problem = fault.Public(err)
		return view, nil
	case err != nil:
		return view, err
	}
	if view.At == "" {
		view.At = report.At.In(zone).Format("2006-01-02T15:04:05")
	}
	view.fill(report, zone, len(p.Steps), repeat)
	return view, nil
}

// dynamicTargets returns how many targets an incident of the plan names.
func (p plan) dynamicTargets() int {
	n := 0
	for _, s := range p.Steps {
		for _, one := range s {
			if one.DynamicIndex != nil {
				n = max(n, *one.DynamicIndex+1)
			}
		}
	}
	return n
}

// round returns the step of the plan that a step of a simulation is, and the round after the first; the last step of
// all may be the fallback.
func round(step, steps, repeat int) string {
	switch {
	case step == 0:
		return "before step 1"
	case steps == 0 || step > steps*(repeat+1):
		return "after the last step"
	case step <= steps:
		return fmt.Sprintf("step %d", step)
	}
	return fmt.Sprintf("step %d in repeat %d", (step-1)%steps+1, (step-1)/steps)
}

// fill shows a report. steps and repeat are those of the plan.
func (v *simulationView) fill(r simulation.Report, zone *time.Location, steps, repeat int) {
	at := func(t time.Time) moment {
		return moment{t.UTC().Format(time.RFC3339), t.In(zone).Format(momentFormat)}
	}
	v.Opened, v.Notes = at(r.At), r.Notes
	for _, p := range r.Pages {
		row := simulatedRow{After: "+" + humanize.Duration(time.Duration(p.After)*time.Second), At: at(p.At),
			Who: p.Target, Mode: p.Mode, Why: p.Rule, Step: round(p.Step, steps, repeat)}
		if p.ModeRule != "" {
			row.Why += fmt.Sprintf("; %s: %s", p.Priority, p.ModeRule)
		}
		var notes []string
		if p.Repeat > 0 {
			notes = append(notes, "again")
		}
		if p.Purpose == "fallback" {
			notes = append(notes, "fallback")
		}
		if p.WantedMode != p.Mode {
			notes = append(notes, "instead of "+p.WantedMode)
		}
		if p.HeldUntil != nil {
			held := at(*p.HeldUntil)
			row.Held = &held
		}
		row.Note = strings.Join(notes, ", ")
		v.Rows = append(v.Rows, row)
		if n := len(v.Groups); n > 0 && v.Groups[n-1].At == row.At {
			v.Groups[n-1].Rows = append(v.Groups[n-1].Rows, row)
		} else {
			v.Groups = append(v.Groups, simulatedGroup{row.After, row.At, []simulatedRow{row}})
		}
	}
	for _, l := range r.Timeline {
		v.Lines = append(v.Lines, simulatedLine{at(l.At), l.Kind, l.Text})
	}
	v.EndAt = at(r.EndedAt)
	switch r.End {
	case simulation.EndAcknowledged:
		v.EndBefore, v.EndAfter = "Somebody acknowledges at", ", as assumed."
	case simulation.EndCut:
		v.EndBefore, v.EndAfter = "The plan continues after", "."
	default:
		v.EndBefore = "The plan is exhausted at"
		v.EndAfter = fmt.Sprintf(", %s after the incident was opened.",
			humanize.Duration(r.EndedAt.Sub(r.At)))
	}
}
