// Package plans serves the list of plans, the page of a plan with its versions and their differences, and the editor, which previews what a
// plan would do. The web site mounts it. The pages read and change plans through the APIs, which check what the reader may do.
package plans

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/wire"
)

// Handlers serves the pages. It is safe for concurrent use.
type Handlers struct{ Pages *page.Pages }

// Routes mounts the pages.
func (h Handlers) Routes(r chi.Router) {
	page.Get(r, "/plans", h.list)
	page.Get(r, "/plans/new", h.create)
	page.Get(r, "/plans/{plan}", h.show)
	page.Get(r, "/plans/{plan}/edit", h.edit)
	page.Get(r, "/plans/{plan}/versions", h.versions)
	page.Get(r, "/plans/{plan}/test", h.askTest)
}

// ChangeRoutes mounts the forms. The caller must admit only people who may write.
func (h Handlers) ChangeRoutes(r chi.Router) {
	r.Post("/plans/new", h.edited)
	r.Post("/plans/{plan}/edit", h.edited)
	r.Post("/plans/{plan}/paused", h.pause)
	r.Post("/plans/{plan}/retire", h.retire)
	r.Post("/plans/{plan}/activate", h.activate)
	r.Post("/plans/{plan}/test", h.test)
}

// plan is a version of a plan as /v1 shows it. Lists leave the steps and what follows them out.
type plan struct {
	ID          int64            `json:"id"`
	Name        string           `json:"name"`
	Active      bool             `json:"active"`
	Creator     string           `json:"creator"`
	Team        string           `json:"team"`
	CreatedAt   time.Time        `json:"created_at"`
	Description string           `json:"description"`
	Paused      bool             `json:"paused"`
	Steps       [][]notification `json:"steps"`
	Conditions  []condition      `json:"conditions"`
	Flood       flood            `json:"flood"`
	Fallback    *target          `json:"fallback"`
	Tracking    *tracking        `json:"tracking"`
}

// use is how a plan is used.
type use struct {
	ID         int64     `json:"id"`
	LastUsedAt time.Time `json:"last_used_at"`
	Escalating int       `json:"escalating_incidents"`
	Warnings   []string  `json:"warnings"`
	UsedBy     []string  `json:"used_by"`
}

// Path returns the address of the page of a version.
func (p plan) Path() string { return versionPath(p.ID) }

func versionPath(id int64) string { return "/plans/" + strconv.FormatInt(id, 10) }

type listView struct {
	page.Frame
	Search, Team string
	Mine         bool
	Tabs         []page.Tab
	Plans        []planRow
	Next         string
}

type planRow struct {
	plan
	Use use
}

// list shows the active plans, the newest first: those of the reader, or all.
func (h Handlers) list(rw http.ResponseWriter, r *http.Request) {
	v := r.URL.Query()
	view := listView{Frame: h.Pages.Frame(r, "Plans", "plans"), Search: strings.TrimSpace(page.Storable(v.Get("name"))), Team: strings.TrimSpace(page.Storable(v.Get("team")))}
	// Without a choice, the reader's plans are shown if there are any.
	view.Mine = v.Get("show") == "mine" || v.Get("show") == "" && len(v) == 0
	found, err := h.plansOf(r, view, v.Get("cursor"))
	if err == nil && view.Mine && v.Get("show") == "" && len(found.Items) == 0 {
		view.Mine = false
		found, err = h.plansOf(r, view, "")
	}
	if err == nil {
		view.Plans, err = h.withUse(r, found.Items)
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	here := url.Values{"name": {view.Search}, "team": {view.Team}, "show": {"all"}}
	all := "/plans?" + here.Encode()
	here.Set("show", "mine")
	mine := "/plans?" + here.Encode()
	view.Tabs = []page.Tab{{Label: "Mine and my teams'", Href: mine, Current: view.Mine}, {Label: "All", Href: all, Current: !view.Mine}}
	if found.Next != "" {
		if !view.Mine {
			here.Set("show", "all")
		}
		here.Set("cursor", found.Next)
		view.Next = "/plans?" + here.Encode()
	}
	h.Pages.Render(rw, r, http.StatusOK, "plans", view)
}

func (h Handlers) plansOf(r *http.Request, view listView, cursor string) (found page.Listed[plan], err error) {
	q := url.Values{"limit": {strconv.Itoa(page.ListLength)}}
	for name, value := range map[string]string{"search": view.Search, "team": view.Team, "cursor": cursor} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if view.Mine {
		q.Set("member", page.Reader(r).Name)
	}
	return found, h.Pages.API(r).Get("/v1/plans?"+q.Encode(), &found)
}

// withUse adds to plans how they are used.
func (h Handlers) withUse(r *http.Request, found []plan) ([]planRow, error) {
	if len(found) == 0 {
		return nil, nil
	}
	q := url.Values{}
	rows := make([]planRow, len(found))
	for i, p := range found {
		rows[i].plan = p
		q.Add("id", strconv.FormatInt(p.ID, 10))
	}
	var uses page.Listed[use]
	err := h.Pages.API(r).Get("/v1/plan-uses?"+q.Encode(), &uses)
	for i := range rows {
		if at := slices.IndexFunc(uses.Items, func(u use) bool { return u.ID == rows[i].ID }); at >= 0 {
			rows[i].Use = uses.Items[at]
		}
	}
	return rows, err
}

// find returns the plan that the path names, by its number (any version) or by its name: the active version, else the newest.
func (h Handlers) find(r *http.Request) (plan, error) {
	return h.named(r, wire.Param(r, "plan"))
}

func (h Handlers) named(r *http.Request, numberOrName string) (p plan, err error) {
	numberOrName = page.Storable(numberOrName)
	api := h.Pages.API(r)
	err = api.Get(page.Path("/v1/plans/%s", numberOrName), &p)
	if !fault.Is(err, fault.NotFound) {
		return p, err
	}
	var newest page.Listed[plan]
	if err := api.Get("/v1/plans?versions=all&limit=1&name="+url.QueryEscape(numberOrName), &newest); err != nil {
		return p, err
	}
	if len(newest.Items) == 0 {
		return p, fault.New(fault.NotFound, "no such plan")
	}
	return p, api.Get(page.Path("/v1/plans/%s", newest.Items[0].ID), &p)
}
