// This file serves the list of plans, the page of a plan with its versions and their differences, and the editor, which
// previews what a plan would do. The pages call the operations, which check what the reader may do.

package pages

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/intake/integrations"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/notifications"
	"github.com/iris-oncall/iris/internal/oncall/teams"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
)

// Deps are the operations that the pages of plans, templates and applications call.
type Deps struct {
	Plans         *catalog.Plans
	Templates     *catalog.Templates
	Applications  *catalog.Applications
	Incidents     *incidents.Incidents
	Notifications *notifications.Notifications
	Integrations  *integrations.Integrations
	Teams         *teams.Teams
	People        *users.People
}

// Handlers serves the pages of plans. It is safe for concurrent use.
type Handlers struct {
	Deps
	Pages *page.Pages
}

// PlanNames returns names of active plans, for suggestions.
func PlanNames(r *http.Request, p *catalog.Plans) []string {
	return page.Suggest(r, p.List, catalog.Filter{Paging: operation.Paging{Limit: page.Longest}},
		func(p catalog.PlanRow) string { return p.Name })
}

// ApplicationNames returns names of applications, for suggestions.
func ApplicationNames(r *http.Request, a *catalog.Applications) []string {
	return page.Suggest(r, a.List, catalog.ApplicationFilter{Paging: operation.Paging{Limit: page.Longest}},
		func(a catalog.ApplicationRow) string { return a.Name })
}

// Routes mounts the pages.
func (h Handlers) Routes(r chi.Router) {
	page.Get(r, "/plans", h.list)
	page.Get(r, "/plans/new", h.create)
	page.Get(r, "/plans/{plan}", h.show)
	page.Get(r, "/plans/{plan}/edit", h.edit)
	page.Get(r, "/plans/{plan}/versions", h.objects().Compare(h.Pages))
	page.Get(r, "/plans/{plan}/test", h.askTest)
}

// ChangeRoutes mounts the forms. The caller must admit only people who may write.
func (h Handlers) ChangeRoutes(r chi.Router) {
	r.Post("/plans/new", h.edited)
	r.Post("/plans/{plan}/edit", h.edited)
	plans := h.objects()
	for name, change := range map[string]page.Change{"paused": h.pause, "retire": h.retire, "activate": plans.ToActive, "owner": plans.ToTeam} {
		r.Post("/plans/{plan}/"+name, plans.Submit(h.Pages, h.render, change))
	}
	r.Post("/plans/{plan}/test", plans.Submit(h.Pages, h.renderTest, h.test))
}

// plan is a version of a plan.
type plan struct{ catalog.Plan }

// row is a plan in the list.
type row struct{ catalog.PlanRow }

func one(name string) catalog.OnePlan { return catalog.OnePlan{Plan: name} }

// objects reads and changes versions of plans.
func (h Handlers) objects() page.Objects[plan] {
	return page.Objects[plan]{Section: "plans", Parameter: "plan", Text: plan.Text,
		Read: func(r *http.Request, name string) (plan, error) {
			p, err := h.Plans.Get.Do(r.Context(), page.Actor(r), one(name))
			return plan{p}, err
		},
		Head: func(p plan) page.Version { return Head(p.Version) },
		Versions: func(r *http.Request, name, cursor string, limit int) (out operation.Page[page.Version], err error) {
			found, err := h.Plans.List.Do(r.Context(), page.Actor(r),
				catalog.Filter{Paging: operation.Paging{Limit: limit, Cursor: cursor}, Name: name, Versions: "all"})
			for _, p := range found.Items {
				out.Items = append(out.Items, Head(p.Version))
			}
			out.Next = found.Next
			return out, err
		},
		Activate: func(r *http.Request, o page.Version) error {
			_, err := h.Plans.Activate.Do(r.Context(), page.Actor(r),
				catalog.Activation{OnePlan: one(o.Name), Version: o.ID})
			return err
		},
		Give: func(r *http.Request, o page.Version, team string) error {
			_, err := h.Plans.Give.Do(r.Context(), page.Actor(r),
				catalog.Giving{OnePlan: one(o.Name), Body: catalog.Owner{Team: operation.Text(team)}})
			return err
		},
	}
}

// Head is a version as pages show it.
func Head(v catalog.Version) page.Version {
	return page.Version{ID: v.ID, Name: v.Name, Active: v.Active, Creator: v.Creator, Team: string(v.Team),
		CreatedAt: v.CreatedAt, MayEdit: v.MayEdit != nil && *v.MayEdit}
}

// Path returns the address of the page of a version.
func (p plan) Path() string { return page.Path("/plans/%s", p.ID) }

// Path returns the address of the page of a version.
func (p row) Path() string { return page.Path("/plans/%s", p.ID) }

type listView struct {
	page.Index[row]
	Uses map[int64]catalog.Uses
}

// list shows the active plans, the newest first: those of the reader, or all.
func (h Handlers) list(rw http.ResponseWriter, r *http.Request) {
	found, err := page.ReadIndex(h.Pages, r, "Plans", "plans", h.search)
	view := listView{Index: found}
	if err == nil {
		view.Uses, err = h.uses(r, found.Items)
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Pages.Render(rw, r, http.StatusOK, "plans", view)
}

func (h Handlers) search(r *http.Request, s page.Search) (out operation.Page[row], err error) {
	found, err := h.Plans.List.Do(r.Context(), page.Actor(r), Filter(r, s))
	for _, p := range found.Items {
		out.Items = append(out.Items, row{p})
	}
	out.Next = found.Next
	return out, err
}

// Filter selects what a page of a list asks for.
func Filter(r *http.Request, s page.Search) catalog.Filter {
	f := catalog.Filter{Paging: operation.Paging{Limit: page.ListLength, Cursor: s.Cursor}, Search: s.Name,
		Team: s.Team}
	if s.Mine {
		f.Member = page.Reader(r).Name
	}
	return f
}

// uses reads how plans are used, by their number.
func (h Handlers) uses(r *http.Request, plans []row) (map[int64]catalog.Uses, error) {
	uses := map[int64]catalog.Uses{}
	if len(plans) == 0 {
		return uses, nil
	}
	var of catalog.UsesOf
	for _, p := range plans {
		of.IDs = append(of.IDs, p.ID)
	}
	found, err := h.Plans.UsesOf.Do(r.Context(), page.Actor(r), of)
	for _, u := range found.Items {
		uses[u.ID] = u
	}
	return uses, err
}
