package plans

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/humanize"
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
	return []assumption{{"ack-after=5m", "after 5 min"}, {"ack-after=15m", "after 15 min"}, {"ack-after=1h", "after 1 h"}}
}

// targetField is the field of a dynamic target.
type targetField struct {
	Number int
	Value  string
}

type simulatedRow struct {
	After, Who, Mode, Note, Why string
	At                          moment
	Held                        *moment // when the digest with this page is sent; nil = the page is not held
	Step                        string
}

type simulatedLine struct {
	At         moment
	Kind, Text string
}

// momentFormat has all parts of an instant, because a simulated incident may be far in the future.
const momentFormat = "Mon 2 Jan 2006 15:04:05 -07:00"

// simulate answers the form on the page of a plan. Errors in the form are part of the view.
func (h Handlers) simulate(r *http.Request, p escalation.PlanSteps) (simulationView, error) {
	zone := page.Zone(r)
	v := r.URL.Query()
	view := simulationView{Self: versionPath(p.ID), Zone: zone.String(), At: v.Get("at"), Application: strings.TrimSpace(v.Get("application")),
		Assume: v.Get("assume")}
	asked := simulation.TypedQuestion{Plan: fmt.Sprint(int64(p.ID)), Application: page.Storable(view.Application), At: view.At, Assume: view.Assume, Zone: zone}
	given := v["target"]
	for i := range p.DynamicTargets() {
		f := targetField{Number: i}
		if i < len(given) {
			f.Value = strings.TrimSpace(given[i])
		}
		view.Targets = append(view.Targets, f)
		asked.Targets = append(asked.Targets, page.Storable(f.Value))
	}
	for n := len(asked.Targets); n > 0 && asked.Targets[n-1] == ""; n-- {
		asked.Targets = asked.Targets[:n-1] // empty targets at the end are not given
	}
	sim, err := h.Simulator.Ask(r.Context(), asked)
	switch {
	case fault.Is(err, fault.Invalid), fault.Is(err, fault.NotFound):
		view.Problem = fault.Public(err)
		return view, nil
	case err != nil:
		return view, err
	}
	if view.At == "" {
		view.At = time.Unix(sim.Report().At, 0).In(zone).Format("2006-01-02T15:04:05")
	}
	view.fill(sim.Report(), zone)
	return view, nil
}

func (v *simulationView) fill(r simulation.Report, zone *time.Location) {
	at := func(unix int64) moment {
		t := time.Unix(unix, 0)
		return moment{t.UTC().Format(time.RFC3339), t.In(zone).Format(momentFormat)}
	}
	v.Opened, v.Notes = at(r.At), r.Notes
	for _, p := range r.Pages {
		row := simulatedRow{After: "+" + humanize.Duration(time.Duration(p.After)*time.Second), At: at(p.At), Who: p.Target, Mode: p.Mode, Why: p.Rule, Step: fmt.Sprint(p.Step)}
		if p.ModeRule != "" {
			row.Why += fmt.Sprintf("; %s: %s", p.Priority, p.ModeRule)
		}
		var notes []string
		if p.Step == 0 {
			row.Step = "before"
		}
		if p.Repeat > 0 {
			notes = append(notes, fmt.Sprintf("repeat %d", p.Repeat))
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
		v.EndAfter = fmt.Sprintf(", %s after the incident was opened.", humanize.Duration(time.Duration(r.EndedAt-r.At)*time.Second))
	}
}
