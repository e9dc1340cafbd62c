// This file serves the pages of applications: the list, and the page of one with its keys, quota, categories, addresses
// and settings. Everything is read and changed through /v1 and /v0.

package pages

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// ApplicationPages serves the pages. It is safe for concurrent use.
type ApplicationPages struct{ Pages *page.Pages }

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
	r.Post("/applications/{app}/key", h.showKey("key"))
	r.Post("/applications/{app}/secondary", h.showKey("secondary"))
	r.Post("/applications/{app}/second-key", h.addKey)
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
		Read: func(r *http.Request, name string) (a application, err error) {
			err = h.Pages.API(r).Get(page.Path("/v1/applications/%s", name), &a)
			return a, err
		},
		Head: func(a application) page.Version { return page.Version{Name: a.Name, Team: a.Team, MayEdit: a.MayEdit} },
		Give: func(r *http.Request, o page.Version, team string) error {
			return h.Pages.API(r).Send(http.MethodPut, page.Path("/v1/applications/%s/owner", o.Name),
				map[string]string{"team": team}, nil)
		},
	}
}

// application is an application as /v1 shows it.
type application struct {
	Name          string            `json:"name"`
	TitleVariable string            `json:"title_variable"`
	Variables     []string          `json:"variables"`
	Required      []string          `json:"required_variables"`
	Modes         []string          `json:"modes"`
	DefaultModes  map[string]string `json:"default_modes"`
	Owners        []string          `json:"owners"`
	Team          string            `json:"team"`
	SenderEmail   string            `json:"sender_email"`
	CreatedAt     time.Time         `json:"created_at"`
	SampleContext json.RawMessage   `json:"sample_context"`
	HasSecondKey  bool              `json:"has_second_key"`
	MayEdit       bool              `json:"may_edit"` // the reader
}

// IsRequired reports whether senders should set the variable.
func (a application) IsRequired(name string) bool { return slices.Contains(a.Required, name) }

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
	v, err := page.ReadIndex(h.Pages, r, "Applications", "applications", func(r *http.Request, s page.Search) (found page.Listed[application], err error) {
		err = h.Pages.API(r).Get(page.Query("/v1/applications", "limit", strconv.Itoa(page.ListLength), "search",
			s.Name, "team", s.Team, "cursor", s.Cursor,
			"mine", map[bool]string{true: "true"}[s.Mine]), &found)
		return found, err
	})
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Pages.Render(rw, r, http.StatusOK, "applications", v)
}

type quota struct {
	Hard         int    `json:"hard_threshold"`
	Soft         int    `json:"soft_threshold"`
	HardDuration int    `json:"hard_seconds"`
	SoftDuration int    `json:"soft_seconds"`
	HardUse      int    `json:"hard_use"` // messages in the last HardDuration
	SoftUse      int    `json:"soft_use"`
	Plan         string `json:"plan"`
	Wait         int    `json:"wait_seconds"`
	Target       string `json:"target"`
}

type category struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Mode        string `json:"mode"`
}

// Modes are the choices for the mode of the category.
func (c category) Modes() []page.Option { return page.Options(users.Modes...) }

type address struct{ Email, Plan string }

type target struct {
	Role   string `json:"role"`
	Target string `json:"target"`
}

// figure is a statistic of the last week.
type figure struct{ Label, Value string }

type applicationShowView struct {
	page.Frame
	page.Again
	A            application
	May          bool // the reader may change it
	Quota        quota
	Categories   []category
	Addresses    []address
	Fallback     target
	Plans        []page.Named
	Integrations []page.Named
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
			out = append(out, category{Name: row[0], Mode: row[1], Description: row[2]})
		}
	}
	return append(out, make([]category, moreRows)...)
}

// AddressRows are the rows of the form of addresses.
func (v applicationShowView) AddressRows() (out []address) {
	out = slices.Clone(v.Addresses)
	if v.Form == "addresses" {
		out = nil
		for _, row := range rows(v.Typed, "email", "plan") {
			out = append(out, address{row[0], row[1]})
		}
	}
	return append(out, make([]address, moreRows)...)
}

// Period is a duration of the quota as people type it; "" = there is no quota.
func (q quota) Period(seconds int) string {
	if q.Hard == 0 {
		return ""
	}
	return page.Period(int64(seconds))
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
	api, name := h.Pages.API(r), wire.Param(r, "app")
	if err := api.Get(page.Path("/v1/applications/%s", name), &v.A); err != nil {
		return err
	}
	name = v.A.Name
	var emails map[string]string
	var integrations page.Listed[page.Named]
	for _, read := range []struct {
		path string
		into any
	}{
		{page.Path("/v1/applications/%s/quota", name), &v.Quota}, {page.Path("/v0/categories/%s", name), &v.Categories},
		{page.Path("/v0/applications/%s/incident_emails", name),
			&emails}, {page.Path("/v1/applications/%s/fallback", name), &v.Fallback},
		{page.Path("/v0/applications/%s/plans?fields=name", name),
			&v.Plans}, {page.Query("/v1/integrations", "application", name, "limit", "500"), &integrations},
	} {
		if err := api.Get(read.path, read.into); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	for _, email := range slices.Sorted(maps.Keys(emails)) {
		v.Addresses = append(v.Addresses, address{email, emails[email]})
	}
	v.Integrations, v.Teams, v.May = integrations.Items, api.Teams(), v.A.MayEdit && !page.Reader(r).ReadOnly
	return h.figures(r, name, v)
}

// figures reads the statistics of the last week.
func (h ApplicationPages) figures(r *http.Request, name string, v *applicationShowView) error {
	var all map[string][]map[string]float64
	fields := []figure{{"incidents", "total_incidents_last_week"}, {"messages sent", "total_messages_sent_last_week"},
		{"incidents of high priority", "high_priority_incidents_last_week"}}
	err := h.Pages.API(r).Get(page.Path("/v0/applications/%s/stats?fields=total_incidents_last_week&fields=total_messages_sent_last_week&fields=high_priority_incidents_last_week", name), &all)
	if err != nil {
		return fault.When(err, fault.Unavailable, nil) // the figures are computed once an hour
	}
	for _, f := range fields {
		if points := all[f.Value]; len(points) > 0 {
			for _, n := range points[0] {
				v.Figures = append(v.Figures, figure{f.Label, fmt.Sprint(int64(n))})
			}
		}
	}
	return nil
}
