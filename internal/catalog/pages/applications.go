// This file serves the pages of applications: the list, and the page of one with its keys, quota, categories, addresses
// and settings.

package pages

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/intake/integrations"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
	pagesusers "github.com/iris-oncall/iris/internal/users/pages"
	"github.com/iris-oncall/iris/internal/web/page"
)

// ApplicationPages serves the pages. It is safe for concurrent use.
type ApplicationPages struct {
	Deps
	Pages *page.Pages
}

// Routes mounts the pages. The caller must admit only people who have logged in.
func (h ApplicationPages) Routes(r chi.Router) {
	page.Get(r, "/applications", h.list)
	page.Get(r, "/applications/new", h.create)
	page.Get(r, "/applications/{app}", h.show)
	page.Get(r, "/applications/{app}/edit", h.edit)
}

// ChangeRoutes mounts the forms. The caller must admit only people who may write.
func (h ApplicationPages) ChangeRoutes(r chi.Router) {
	r.Post("/applications/new", h.saveNew)
	r.Post("/applications/{app}/edit", h.save)
	r.Post("/applications/{app}/key", h.showKey(h.Applications.Key, "The key."))
	r.Post("/applications/{app}/secondary", h.showKey(h.Applications.SecondaryKey, "The second key."))
	r.Post("/applications/{app}/second-key", h.showKey(h.Applications.AddSecondaryKey,
		"The new key. The old one is still valid."))
	applications := h.objects()
	for name, change := range map[string]page.Change{
		"rekey": h.rekey, "quota": h.setQuota, "quota/remove": h.removeQuota, "categories": h.setCategories, "addresses": h.setAddresses,
		"fallback": h.setFallback, "owner": applications.ToTeam, "rename": h.rename, "delete": h.remove,
	} {
		r.Post("/applications/{app}/"+name, applications.Submit(h.Pages, h.render, change))
	}
}

// objects reads applications, and changes which team owns one.
func (h ApplicationPages) objects() page.Objects[application] {
	return page.Objects[application]{Section: "applications", Parameter: "app",
		Read: func(r *http.Request, name string) (application, error) {
			a, err := h.Applications.Get.Do(r.Context(), page.Actor(r), applicationOne(name))
			return application{a}, err
		},
		Head: func(a application) page.Version {
			return page.Version{Name: a.Name, Team: string(a.Team), MayEdit: a.MayEdit}
		},
		Give: func(r *http.Request, o page.Version, team string) error {
			_, err := h.Applications.Give.Do(r.Context(), page.Actor(r), catalog.ApplicationGiving{
				OneApplication: applicationOne(o.Name), Body: catalog.Owner{Team: operation.Text(team)}})
			return err
		},
	}
}

func applicationOne(name string) catalog.OneApplication {
	return catalog.OneApplication{Application: name}
}

// application is an application as its pages show it.
type application struct{ catalog.Application }

// IsRequired reports whether senders should set the variable.
func (a application) IsRequired(name string) bool { return slices.Contains(a.RequiredVariables, name) }

// Sample is the sample context as people edit it; "" = none.
func (a application) Sample() string {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if len(a.SampleContext) == 0 || string(a.SampleContext) == "null" || enc.Encode(a.SampleContext) != nil {
		return ""
	}
	return strings.TrimSpace(out.String())
}

// list shows the applications by name: those of the reader, or all.
func (h ApplicationPages) list(rw http.ResponseWriter, r *http.Request) {
	v, err := page.ReadIndex(h.Pages, r, "Applications", "applications", func(r *http.Request, s page.Search) (operation.Page[catalog.ApplicationRow], error) {
		return h.Applications.List.Do(r.Context(), page.Actor(r), catalog.ApplicationFilter{
			Paging: operation.Paging{Limit: page.ListLength, Cursor: s.Cursor}, Search: s.Name, Team: s.Team, Mine: s.Mine})
	})
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Pages.Render(rw, r, http.StatusOK, "applications", v)
}

// quota is the quota of an application. The zero quota is none.
type quota struct{ catalog.Quota }

type category struct{ catalog.Category }

// Modes are the choices for the mode of the category.
func (c category) Modes() []page.Option { return page.Options(users.Modes...) }

// figure is a statistic of the last week.
type figure struct {
	Label string
	Value int64
}

type applicationShowView struct {
	page.Frame
	page.Again
	A            application
	May          bool // the reader may change it
	Quota        quota
	Categories   []category
	Addresses    []catalog.IncidentAddress
	Fallback     catalog.Fallback
	Plans        []catalog.PlanRow
	Integrations []integrations.Row
	Figures      []figure
	Teams        []string
	Roles        []page.Option
	// Secret is a key that is shown once, and what it is.
	Secret, What string
}

// moreRows is how many empty rows a table of fields has.
const moreRows = 2

// CategoryRows are the rows of the form of categories.
func (v applicationShowView) CategoryRows() (out []category) {
	out = slices.Clone(v.Categories)
	if v.Form == "categories" {
		out = nil
		for _, row := range rows(v.Typed, "name", "mode", "description") {
			out = append(out, category{catalog.Category{Name: row[0], Mode: users.Mode(row[1]), Description: row[2]}})
		}
	}
	return append(out, make([]category, moreRows)...)
}

// AddressRows are the rows of the form of addresses.
func (v applicationShowView) AddressRows() (out []catalog.IncidentAddress) {
	out = slices.Clone(v.Addresses)
	if v.Form == "addresses" {
		out = nil
		for _, row := range rows(v.Typed, "email", "plan") {
			out = append(out, catalog.IncidentAddress{Address: row[0], Plan: row[1]})
		}
	}
	return append(out, make([]catalog.IncidentAddress, moreRows)...)
}

// Period is a duration of the quota as people type it; "" = there is no quota.
func (q quota) Period(seconds int64) string {
	if q.Hard == 0 {
		return ""
	}
	return page.Period(seconds)
}

// show shows an application.
func (h ApplicationPages) show(rw http.ResponseWriter, r *http.Request) {
	h.render(rw, r, page.Again{})
}

// render shows the application of the address, with a refused form.
func (h ApplicationPages) render(rw http.ResponseWriter, r *http.Request, again page.Again) {
	h.renderSecret(rw, r, applicationShowView{Again: again})
}

// renderSecret shows the application of the address. v has a refused form or a secret.
func (h ApplicationPages) renderSecret(rw http.ResponseWriter, r *http.Request, v applicationShowView) {
	if err := h.read(r, &v); err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v.Frame = h.Pages.Frame(r, v.A.Name, "applications")
	v.Roles = page.Options("user", "team", "mailing-list")
	h.Pages.Render(rw, r, v.Status(), "application", v)
}

// read reads what the page shows.
func (h ApplicationPages) read(r *http.Request, v *applicationShowView) error {
	a, err := h.objects().Find(r)
	if err != nil {
		return err
	}
	ctx, by, one := r.Context(), page.Actor(r), applicationOne(a.Name)
	v.A, v.Teams, v.May = a, pagesusers.TeamsOf(r, h.People), a.MayEdit && !page.Reader(r).ReadOnly
	if v.Quota.Quota, err = h.Applications.Quota.Do(ctx, by, one); fault.When(err, fault.NotFound, nil) != nil {
		return err
	}
	if v.Fallback, err = h.Applications.Fallback.Do(ctx, by, one); fault.When(err, fault.NotFound, nil) != nil {
		return err
	}
	found, err := h.Integrations.List.Do(ctx, by,
		integrations.Filter{Paging: operation.Paging{Limit: page.Longest}, Application: a.Name})
	if err != nil {
		return err
	}
	v.Integrations = found.Items
	plans, err := h.Plans.List.Do(ctx, by,
		catalog.Filter{Paging: operation.Paging{Limit: page.Longest}, Application: a.Name})
	if err != nil {
		return err
	}
	v.Plans = plans.Items
	categories, err := h.Applications.Categories.Do(ctx, by, one)
	if err != nil {
		return err
	}
	for _, c := range categories.Categories {
		v.Categories = append(v.Categories, category{c})
	}
	addresses, err := h.Applications.Addresses.Do(ctx, by, one)
	if err != nil {
		return err
	}
	v.Addresses = addresses.Addresses
	figures, err := h.Applications.Statistics.Do(ctx, by, one)
	if err == nil {
		last := figures.Weeks[0]
		v.Figures = []figure{{"incidents", last.Incidents}, {"messages sent", last.Messages},
			{"incidents of high priority", last.HighPriority}}
	}
	return fault.When(err, fault.Unavailable, nil) // the figures are computed once an hour
}
