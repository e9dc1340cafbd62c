// Package plans serves the list of plans, the page of a plan with its versions and their differences, and the editor, which previews what a
// plan would do. The web site mounts it. The pages read and change plans through the APIs, which check what the reader may do.
package pages

import (
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

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
	page.Get(r, "/plans/{plan}/versions", page.Compare[plan](h.Pages, "plans", "plan"))
	page.Get(r, "/plans/{plan}/test", h.askTest)
}

// ChangeRoutes mounts the forms. The caller must admit only people who may write.
func (h Handlers) ChangeRoutes(r chi.Router) {
	r.Post("/plans/new", h.edited)
	r.Post("/plans/{plan}/edit", h.edited)
	for name, change := range map[string]page.Change{
		"paused": pause, "retire": retire, "activate": page.Activate("plans"), "owner": page.Give("plans"),
	} {
		r.Post("/plans/{plan}/"+name, h.Pages.Submit("plans", "plan", h.render, change))
	}
	r.Post("/plans/{plan}/test", h.Pages.Submit("plans", "plan", h.renderTest, test))
}

// plan is a version of a plan as /v1 shows it. Lists leave the steps and what follows them out.
type plan struct {
	page.Version
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
func (p plan) Path() string { return page.Path("/plans/%s", p.ID) }

type listView struct {
	page.Index[plan]
	Uses map[int64]use
}

// list shows the active plans, the newest first: those of the reader, or all.
func (h Handlers) list(rw http.ResponseWriter, r *http.Request) {
	found, err := page.ReadIndex[plan](h.Pages, r, "Plans", "plans", "member", page.Reader(r).Name)
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

// uses reads how plans are used, by their number.
func (h Handlers) uses(r *http.Request, plans []plan) (map[int64]use, error) {
	q, uses := url.Values{}, map[int64]use{}
	for _, p := range plans {
		q.Add("id", strconv.FormatInt(p.ID, 10))
	}
	if len(plans) == 0 {
		return uses, nil
	}
	var found page.Listed[use]
	err := h.Pages.API(r).Get("/v1/plan-uses?"+q.Encode(), &found)
	for _, u := range found.Items {
		uses[u.ID] = u
	}
	return uses, err
}

// find returns the plan that the path names, by its number (any version) or by its name: the active version, else the newest.
func (h Handlers) find(r *http.Request) (plan, error) {
	return h.named(r, wire.Param(r, "plan"))
}

func (h Handlers) named(r *http.Request, numberOrName string) (plan, error) {
	return page.Find[plan](h.Pages.API(r), "plans", numberOrName)
}
