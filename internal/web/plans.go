package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/filters"
	"github.com/iris-oncall/iris/internal/humanize"
	"github.com/iris-oncall/iris/internal/wire"
)

// Plans reads versions of plans.
type Plans interface {
	List(ctx context.Context, q filters.Query) ([]escalation.Plan, error)
	ByID(ctx context.Context, id escalation.PlanID) (escalation.PlanSteps, error)
	ByName(ctx context.Context, name string) (escalation.PlanSteps, error)
}

// Simulator computes what would happen to an incident. It writes and sends nothing.
type Simulator interface {
	Ask(ctx context.Context, a simulation.Asked) (simulation.Simulation, error)
}

func (w *Web) planRoutes(r chi.Router, get func(chi.Router, string, http.HandlerFunc)) {
	for _, end := range []string{"", "/"} {
		get(r, "/plans"+end, w.listPlans)
		get(r, "/plans/{plan}"+end, w.showPlan)
	}
}

type plansPage struct {
	frame
	Name  string
	Plans []planRow
	Older string
}

type planRow struct {
	escalation.Plan
	Href string
}

// versionPath is the page of one version.
func versionPath(id escalation.PlanID) string { return "/plans/" + strconv.FormatInt(int64(id), 10) }

// listPlans shows the active plans, the newest first.
func (w *Web) listPlans(rw http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), requestTimeout)
	defer cancel()
	v := r.URL.Query()
	page := plansPage{frame: w.frame(r, "Plans", "plans"), Name: strings.TrimSpace(v.Get("name"))}
	q := filters.Query{Limit: listLength + 1, Conditions: []filters.Condition{{Field: "active", Op: filters.Eq, Values: []any{true}}}}
	if page.Name != "" {
		q.Conditions = append(q.Conditions, filters.Condition{Field: "name", Op: filters.Contains, Values: []any{printable(page.Name)}})
	}
	if before, err := strconv.ParseInt(v.Get("before"), 10, 64); err == nil {
		q.Conditions = append(q.Conditions, filters.Condition{Field: "id", Op: filters.Lt, Values: []any{before}})
	}
	found, err := w.d.Plans.List(ctx, q)
	if err != nil {
		w.fail(rw, r, err)
		return
	}
	if len(found) > listLength {
		found = found[:listLength]
		older := url.Values{"name": {page.Name}, "before": {strconv.FormatInt(int64(found[len(found)-1].ID), 10)}}
		page.Older = "/plans?" + older.Encode()
	}
	for _, p := range found {
		page.Plans = append(page.Plans, planRow{p, versionPath(p.ID)})
	}
	w.views.page(rw, r, w.d.Log, http.StatusOK, "plans", page)
}

type planPage struct {
	frame
	P        escalation.PlanSteps
	Steps    []stepView
	Versions []planRow
	Facts    []string
	Self     string
	Sim      simulationView
}

type stepView struct {
	Number int
	Says   []string
}

// maxVersions is how many versions of a plan are listed.
const maxVersions = 20

// showPlan shows a version of a plan as text, its other versions, and its simulation.
func (w *Web) showPlan(rw http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), requestTimeout)
	defer cancel()
	p, err := w.findPlan(ctx, wire.Param(r, "plan"))
	if err != nil {
		w.fail(rw, r, err)
		return
	}
	sim, err := w.simulate(ctx, r, p)
	if err != nil {
		w.fail(rw, r, err)
		return
	}
	if r.Header.Get("HX-Request") != "" {
		w.views.page(rw, r, w.d.Log, http.StatusOK, "plan-simulation", sim)
		return
	}
	versions, err := w.d.Plans.List(ctx, filters.Query{Limit: maxVersions,
		Conditions: []filters.Condition{{Field: "name", Op: filters.Eq, Values: []any{p.Name}}}})
	if err != nil {
		w.fail(rw, r, err)
		return
	}
	page := planPage{frame: w.frame(r, p.Name, "plans"), P: p, Steps: stepsInWords(p), Facts: planFacts(p.Plan), Self: versionPath(p.ID), Sim: sim}
	for _, v := range versions {
		page.Versions = append(page.Versions, planRow{v, versionPath(v.ID)})
	}
	status := http.StatusOK
	if sim.Problem != "" {
		status = http.StatusBadRequest
	}
	w.views.page(rw, r, w.d.Log, status, "plan", page)
}

// findPlan takes a number (any version) or a name (the active version, else the newest).
func (w *Web) findPlan(ctx context.Context, given string) (escalation.PlanSteps, error) {
	name := printable(given)
	if id, err := strconv.ParseInt(given, 10, 64); err == nil {
		return w.d.Plans.ByID(ctx, escalation.PlanID(id))
	}
	p, err := w.d.Plans.ByName(ctx, name)
	if !fault.Is(err, fault.NotFound) {
		return p, err
	}
	newest, err := w.d.Plans.List(ctx, filters.Query{Limit: 1,
		Conditions: []filters.Condition{{Field: "name", Op: filters.Eq, Values: []any{name}}}})
	if err != nil {
		return p, err
	}
	if len(newest) == 0 {
		return p, fault.New(fault.NotFound, "no such plan")
	}
	return w.d.Plans.ByID(ctx, newest[0].ID)
}

// stepsInWords describes each notification.
func stepsInWords(p escalation.PlanSteps) []stepView {
	out := make([]stepView, len(p.Steps))
	for i, s := range p.Steps {
		out[i].Number = i + 1
		for _, n := range s.Notifications {
			out[i].Says = append(out[i].Says, notificationInWords(n, p.Lost[n.Template]))
		}
		if len(s.Notifications) == 0 {
			out[i].Says = []string{"Nobody is paged; the next step follows at once."}
		}
	}
	return out
}

func notificationInWords(n escalation.Notification, lost bool) string {
	who := "nobody"
	switch {
	case n.DynamicIndex != nil:
		who = fmt.Sprintf("target number %d of the incident", *n.DynamicIndex)
	case n.Target != nil:
		who = n.Target.String()
	}
	text := fmt.Sprintf("Page %s, priority %s, with template %s", who, n.Priority, n.Template)
	if lost {
		text += " (which has no active version)"
	}
	text += "."
	if n.Repeat > 0 {
		text += fmt.Sprintf(" Again after %s, %s.", humanize.Duration(n.Wait), times(n.Repeat))
	}
	if n.Wait > 0 {
		text += fmt.Sprintf(" Then wait %s.", humanize.Duration(n.Wait))
	}
	if n.Optional {
		text += " Skipped if nobody can be reached."
	}
	return text
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// planFacts describes the other settings of the plan.
func planFacts(p escalation.Plan) []string {
	var out []string
	if p.Tracking != nil {
		out = append(out, fmt.Sprintf("Before step 1, a message goes to %s by %s.", p.Tracking.Key, p.Tracking.Mode))
	}
	if a, ok := p.Aggregation(); ok {
		out = append(out, fmt.Sprintf("More than %d pages to one person within %s are held and leave together every %s, until %s pass without one.",
			a.Threshold, humanize.Duration(a.Window), humanize.Duration(a.Every), humanize.Duration(a.Reset)))
	}
	if p.Fallback != nil {
		out = append(out, fmt.Sprintf("A person who cannot be reached is replaced by %s.", p.Fallback))
	}
	return out
}
