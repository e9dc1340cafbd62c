// Package plans serves the list of plans, and the page of one plan version with its simulation. The web site mounts it. Its pages
// change nothing and send nothing.
package plans

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
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/wire"
)

// Plans reads plan versions.
type Plans interface {
	List(ctx context.Context, q filters.Query) ([]escalation.Plan, error)
	ByID(ctx context.Context, id escalation.PlanID) (escalation.PlanSteps, error)
	ByName(ctx context.Context, name string) (escalation.PlanSteps, error)
}

// Simulator computes what would happen to an incident. It writes and sends nothing.
type Simulator interface {
	Ask(ctx context.Context, a simulation.TypedQuestion) (simulation.Simulation, error)
}

// Deps are the parts that the pages work on.
type Deps struct {
	Plans     Plans
	Simulator Simulator
}

// Handlers serves the pages. It is safe for concurrent use.
type Handlers struct {
	Deps
	Pages *page.Pages
}

// Routes mounts the pages.
func (h Handlers) Routes(r chi.Router) {
	page.Get(r, "/plans", h.list)
	page.Get(r, "/plans/{plan}", h.show)
}

type listView struct {
	page.Frame
	Name  string
	Plans []planRow
	Older string
}

type planRow struct {
	escalation.Plan
	Href string
}

// versionPath returns the address of the page of one version.
func versionPath(id escalation.PlanID) string { return "/plans/" + strconv.FormatInt(int64(id), 10) }

// list shows the active plans, the newest first.
func (h Handlers) list(rw http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	view := listView{Frame: h.Pages.Frame(r, "Plans", "plans"), Name: strings.TrimSpace(v.Get("name"))}
	q := filters.Query{Limit: page.ListLength + 1, Conditions: []filters.Condition{{Field: "active", Op: filters.Eq, Values: []any{true}}}}
	if view.Name != "" {
		q.Conditions = append(q.Conditions, filters.Condition{Field: "name", Op: filters.Contains, Values: []any{page.Storable(view.Name)}})
	}
	if before, err := strconv.ParseInt(v.Get("before"), 10, 64); err == nil {
		q.Conditions = append(q.Conditions, filters.Condition{Field: "id", Op: filters.Lt, Values: []any{before}})
	}
	found, err := h.Plans.List(r.Context(), q)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	if len(found) > page.ListLength {
		found = found[:page.ListLength]
		older := url.Values{"name": {view.Name}, "before": {strconv.FormatInt(int64(found[len(found)-1].ID), 10)}}
		view.Older = "/plans?" + older.Encode()
	}
	for _, p := range found {
		view.Plans = append(view.Plans, planRow{p, versionPath(p.ID)})
	}
	h.Pages.Render(rw, r, http.StatusOK, "plans", view)
}

type planView struct {
	page.Frame
	P        escalation.PlanSteps
	Steps    [][]string // texts of the notifications of each step
	Versions []planRow
	Facts    []string
	Self     string
	Sim      simulationView
	// Assumptions are the choices of the form in addition to "never".
	Assumptions []assumption
}

// maxVersions is how many versions of a plan are listed.
const maxVersions = 20

// show shows a plan version as text, the other versions, and the simulation.
func (h Handlers) show(rw http.ResponseWriter, r *http.Request) {
	p, err := h.find(r.Context(), wire.Param(r, "plan"))
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	sim, err := h.simulate(r, p)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	if page.IsRefresh(r) {
		h.Pages.Render(rw, r, http.StatusOK, "plan-simulation", sim)
		return
	}
	versions, err := h.Plans.List(r.Context(), filters.Query{Limit: maxVersions,
		Conditions: []filters.Condition{{Field: "name", Op: filters.Eq, Values: []any{p.Name}}}})
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	view := planView{Frame: h.Pages.Frame(r, p.Name, "plans"), P: p, Steps: describeSteps(p), Facts: planFacts(p.Plan), Self: versionPath(p.ID), Sim: sim, Assumptions: assumptions()}
	for _, v := range versions {
		view.Versions = append(view.Versions, planRow{v, versionPath(v.ID)})
	}
	status := http.StatusOK
	if sim.Problem != "" {
		status = http.StatusBadRequest
	}
	h.Pages.Render(rw, r, status, "plan", view)
}

// find returns a plan by its number (any version) or by its name (the active version, else the newest).
func (h Handlers) find(ctx context.Context, numberOrName string) (escalation.PlanSteps, error) {
	if id, err := strconv.ParseInt(numberOrName, 10, 64); err == nil {
		return h.Plans.ByID(ctx, escalation.PlanID(id))
	}
	name := page.Storable(numberOrName)
	p, err := h.Plans.ByName(ctx, name)
	if !fault.Is(err, fault.NotFound) {
		return p, err
	}
	newest, err := h.Plans.List(ctx, filters.Query{Limit: 1,
		Conditions: []filters.Condition{{Field: "name", Op: filters.Eq, Values: []any{name}}}})
	if err != nil {
		return p, err
	}
	if len(newest) == 0 {
		return p, fault.New(fault.NotFound, "no such plan")
	}
	return h.Plans.ByID(ctx, newest[0].ID)
}

// describeSteps describes the notifications of each step.
func describeSteps(p escalation.PlanSteps) [][]string {
	out := make([][]string, len(p.Steps))
	for i, s := range p.Steps {
		for _, n := range s.Notifications {
			out[i] = append(out[i], describeNotification(n, p.Lost[n.Template]))
		}
		if len(s.Notifications) == 0 {
			out[i] = []string{"Nobody is paged; the next step follows at once."}
		}
	}
	return out
}

func describeNotification(n escalation.Notification, noTemplate bool) string {
	who := "nobody"
	switch {
	case n.DynamicIndex != nil:
		who = fmt.Sprintf("target number %d of the incident", *n.DynamicIndex)
	case n.Target != nil:
		who = n.Target.String()
	}
	text := fmt.Sprintf("Page %s, priority %s, with template %s", who, n.Priority, n.Template)
	if noTemplate {
		text += " (which has no active version)"
	}
	text += "."
	if n.Repeat > 0 {
		text += fmt.Sprintf(" Again after %s, %s.", humanize.Duration(n.Wait), timesText(n.Repeat))
	}
	if n.Wait > 0 {
		text += fmt.Sprintf(" Then wait %s.", humanize.Duration(n.Wait))
	}
	if n.Optional {
		text += " Skipped if nobody can be reached."
	}
	return text
}

func timesText(n int) string {
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
		out = append(out, fmt.Sprintf("If one person gets more than %d pages within %s, further pages are held and sent together every %s. This ends after %s without a page.",
			a.Threshold, humanize.Duration(a.Window), humanize.Duration(a.Every), humanize.Duration(a.Reset)))
	}
	if p.Fallback != nil {
		out = append(out, fmt.Sprintf("A person who cannot be reached is replaced by %s.", p.Fallback))
	}
	return out
}
