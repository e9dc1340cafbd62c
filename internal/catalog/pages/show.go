package pages

import (
	"net/http"
	"slices"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	pagesusers "github.com/iris-oncall/iris/internal/users/pages"
	"github.com/iris-oncall/iris/internal/web/page"
)

type planView struct {
	page.Frame
	page.Again
	P        plan
	Head     page.Version
	Owns     bool
	Teams    []string
	Line     []lineStep
	Use      catalog.Uses
	Warnings []page.Warning
	Versions []page.Version
	Facts    []string
	Self     string
	Sim      simulationView
	// Assumptions are the choices of the form in addition to "never".
	Assumptions []assumption
}

// show shows a plan version as a time line, its use, the other versions, and the simulation.
func (h Handlers) show(rw http.ResponseWriter, r *http.Request) { h.render(rw, r, page.Again{}) }

func (h Handlers) render(rw http.ResponseWriter, r *http.Request, again page.Again) {
	p, err := h.objects().Find(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	settings, err := h.settingsOf(r, p)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	s := settings.Settings()
	sim, err := h.simulate(r, p, s.Repeat)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	if page.IsRefresh(r) {
		h.Pages.Render(rw, r, http.StatusOK, "plan-simulation", sim)
		return
	}
	view := planView{Again: again, P: p, Teams: pagesusers.TeamsOf(r, h.People), Self: p.Path(), Sim: sim, Assumptions: assumptions(),
		Facts: p.facts(s), Line: line(p, s.Delay),
		Head: Head(p.Version)}
	view.Owns = view.Head.MayEdit && !page.Reader(r).ReadOnly
	if versions, err := h.objects().Versions(r, p.Name, "", page.ShownVersions); err == nil { // the page can do without the other versions
		view.Versions = versions.Items
	}
	view.Use, err = h.Plans.Uses.Do(r.Context(), page.Actor(r), one(p.Tag()))
	if err != nil && !fault.Is(err, fault.NotFound) {
		h.Pages.Fail(rw, r, err)
		return
	}
	if p.Active {
		for _, text := range view.Use.Warnings {
			view.Warnings = append(view.Warnings, page.Warning{Text: humanize.Sentence(text)})
		}
	} else if at := slices.IndexFunc(view.Versions, func(v page.Version) bool { return v.Active }); at >= 0 {
		view.Warnings = []page.Warning{{Text: "This is not the active version. New incidents use another one.",
			Href: page.Path("/plans/%s", view.Versions[at].ID), Action: "Open the active version"}}
	} else {
		view.Warnings = []page.Warning{{Text: "This plan is retired: no incident can use it. Make a version active to use it again."}}
	}
	view.Frame = h.Pages.Frame(r, p.Name, "plans")
	status := again.Status()
	if sim.Problem != "" {
		status = http.StatusBadRequest
	}
	h.Pages.Render(rw, r, status, "plan", view)
}
