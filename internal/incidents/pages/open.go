package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/catalog"
	pagescatalog "github.com/iris-oncall/iris/internal/catalog/pages"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/opening"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/web/page"
)

// newView is the form that opens an incident by hand.
type newView struct {
	page.Frame
	page.Refusal
	Plan, Application, Heading, Text, Severity string
	Targets                                    []targetView // those that the plan leaves to the incident
	Plans, Applications                        []string     // suggestions
	Roles, Severities                          []page.Option
	Looked                                     bool // Pages and Notes are those of the typed plan
	Pages                                      []foreseen
	Notes                                      []string
	More                                       int    // further pages
	Simulation                                 string // address of the simulation on the page of the plan
}

// targetView is a target of the incident in the form.
type targetView struct{ Role, Name string }

// foreseen is a page that the incident would cause.
type foreseen struct {
	After                  string
	Target, Mode, Priority string
	Held                   bool
}

// maxForeseen is how many pages the form shows.
const maxForeseen = 10

// blank shows the form. The query may name the plan and the application.
func (h Handlers) blank(rw http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	v := newView{Plan: strings.TrimSpace(q.Get("plan")), Application: strings.TrimSpace(q.Get("application")),
		Severity: incidents.Error}
	if err := h.choices(r, &v); err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	if v.Plan != "" {
		v.Refusal = h.look(r, &v)
	}
	h.showForm(rw, r, http.StatusOK, v)
}

// open opens the incident, or shows first who would be paged.
func (h Handlers) open(rw http.ResponseWriter, r *http.Request) {
	form := page.Typed(r)
	v := newView{Plan: form.Get("plan"), Application: form.Get("application"), Heading: form.Get("title"),
		Text: form.Get("summary"), Severity: form.Get("severity")}
	roles, names := form["role"], form["target"]
	for k := range min(len(roles), len(names)) {
		v.Targets = append(v.Targets, targetView{roles[k], names[k]})
	}
	if err := h.choices(r, &v); err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	if r.PostFormValue("do") == "look" {
		v.Refusal = h.look(r, &v)
		h.showForm(rw, r, http.StatusOK, v)
		return
	}
	if v.Heading == "" {
		v.Refusal = page.Refusal{Status: http.StatusUnprocessableEntity, Field: "title",
			Text: "Enter a title: it is the first thing that people read."}
		h.showForm(rw, r, v.Status, v)
		return
	}
	in := opening.NewIncident{Plan: v.Plan, Application: v.Application, Title: v.Heading, Summary: v.Text,
		Severity: intake.Severity(v.Severity)}
	for _, t := range v.Targets {
		in.DynamicTargets = append(in.DynamicTargets, incidents.Target{Role: t.Role, Name: t.Name})
	}
	opened, err := h.Open.Do(r.Context(), page.Actor(r), in)
	if err != nil {
		refusal, ok := h.Pages.Refused(rw, r, err)
		if !ok {
			return
		}
		_ = h.look(r, &v) // for the targets of the plan
		v.Refusal = refusal
		h.showForm(rw, r, refusal.Status, v)
		return
	}
	http.Redirect(rw, r, fmt.Sprintf("/incidents/%d", opened.ID), http.StatusSeeOther)
}

// look finds out which targets the plan leaves to the incident, and who would be paged now. It returns why that is not
// known.
func (h Handlers) look(r *http.Request, v *newView) page.Refusal {
	plan, err := h.Plans.Get.Do(r.Context(), page.Actor(r), catalog.OnePlan{Plan: v.Plan})
	if err != nil {
		h.Pages.Note(r, err)
		if fault.Is(err, fault.NotFound) {
			return page.Refusal{Field: "plan", Text: fmt.Sprintf("There is no plan %.100q: choose one of the list.",
				v.Plan)}
		}
		return page.Refusal{Field: "plan", Text: fault.Public(err)}
	}
	v.Targets = resized(v.Targets, targets(plan))
	q, ask := url.Values{}, catalog.PlanQuestion{OnePlan: catalog.OnePlan{Plan: v.Plan},
		Assumptions: catalog.Assumptions{Application: v.Application}}
	if v.Application != "" {
		q.Set("application", v.Application)
	}
	for _, t := range v.Targets {
		if t.Name == "" {
			return page.Refusal{} // the person has to name them first
		}
		q.Add("target", t.Role+":"+t.Name)
		ask.Targets = append(ask.Targets, t.Role+":"+t.Name)
	}
	v.Simulation = page.Path("/plans/%s", v.Plan) + "?" + q.Encode() + "#simulation"
	s, err := h.Plans.Simulate.Do(r.Context(), page.Actor(r), ask)
	if err != nil {
		h.Pages.Note(r, err)
		return page.Refusal{Field: fault.FieldOf(err), Text: fault.Public(err)}
	}
	v.Looked, v.Notes, v.More = true, s.Notes, max(0, len(s.Pages)-maxForeseen)
	for _, p := range s.Pages[:min(len(s.Pages), maxForeseen)] {
		after := "at once"
		if p.After > 0 {
			after = "after " + humanize.Age(time.Duration(p.After)*time.Second)
		}
		v.Pages = append(v.Pages, foreseen{after, p.Target, p.Mode, p.Priority, p.HeldUntil != nil})
	}
	return page.Refusal{}
}

// targets returns how many targets a plan leaves to its incidents.
func targets(p catalog.Plan) (n int) {
	for _, step := range p.Steps {
		for _, notification := range step {
			if i := notification.DynamicIndex; i != nil {
				n = max(n, *i+1)
			}
		}
	}
	return n
}

// resized returns n targets: those that were typed, and then empty ones.
func resized(given []targetView, n int) []targetView {
	out := make([]targetView, n)
	for k := range out {
		out[k].Role = "user"
	}
	copy(out, given)
	return out
}

// choices reads the roles of targets, and suggests plans and applications. The only plan is filled in.
func (h Handlers) choices(r *http.Request, v *newView) (err error) {
	v.Plans, v.Applications = pagescatalog.PlanNames(r, h.Plans), pagescatalog.ApplicationNames(r, h.Applications)
	if v.Plan == "" && len(v.Plans) == 1 {
		v.Plan = v.Plans[0]
	}
	v.Roles, err = h.roles(r)
	return err
}

func (h Handlers) showForm(rw http.ResponseWriter, r *http.Request, status int, v newView) {
	v.Severities = page.Options(incidents.Severities...)
	v.Frame = h.Pages.Frame(r, "Open an incident", "incidents")
	h.Pages.Render(rw, r, status, "incident-new", v)
}
