package plans

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/web/page"
)

type planView struct {
	page.Frame
	P        plan
	Line     []lineStep
	Use      use
	Warnings []page.Warning
	Versions []plan
	Facts    []string
	Self     string
	Sim      simulationView
	// Assumptions are the choices of the form in addition to "never".
	Assumptions []assumption
}

// shownVersions is how many versions the page of a plan lists.
const shownVersions = 10

// show shows a plan version as a time line, its use, the other versions, and the simulation.
func (h Handlers) show(rw http.ResponseWriter, r *http.Request) {
	p, err := h.find(r)
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
	s, err := h.settingsOf(r, p)
	view := planView{P: p, Self: p.Path(), Sim: sim, Assumptions: assumptions(), Facts: p.facts(s), Line: line(p, seconds(s.Delay))}
	if err == nil {
		err = h.Pages.API(r).Get(page.Path("/v1/plans/%s/uses", p.ID), &view.Use)
	}
	var versions page.Listed[plan]
	if err == nil {
		err = h.Pages.API(r).Get("/v1/plans?versions=all&limit=10&name="+url.QueryEscape(p.Name), &versions)
	}
	if err != nil && !fault.Is(err, fault.NotFound) {
		h.Pages.Fail(rw, r, err)
		return
	}
	view.Versions = versions.Items[:min(len(versions.Items), shownVersions)]
	if p.Active {
		for _, text := range view.Use.Warnings {
			view.Warnings = append(view.Warnings, page.Warning{Text: text})
		}
	} else if at := slices.IndexFunc(versions.Items, func(v plan) bool { return v.Active }); at >= 0 {
		view.Warnings = []page.Warning{{Text: "This is not the active version. New incidents use another one.", Href: versions.Items[at].Path(), Action: "Open the active version"}}
	} else {
		view.Warnings = []page.Warning{{Text: "This plan is retired: no incident can use it. Make a version active to use it again."}}
	}
	view.Frame = h.Pages.Frame(r, p.Name, "plans")
	status := http.StatusOK
	if sim.Problem != "" {
		status = http.StatusBadRequest
	}
	h.Pages.Render(rw, r, status, "plan", view)
}
