package pages

import (
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/catalog"
	pagescatalog "github.com/iris-oncall/iris/internal/catalog/pages"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/markdown"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/notifications/updates"
	"github.com/iris-oncall/iris/internal/oncall/teams"
	"github.com/iris-oncall/iris/internal/users"
	pagesusers "github.com/iris-oncall/iris/internal/users/pages"
	"github.com/iris-oncall/iris/internal/web/mount"
	"github.com/iris-oncall/iris/internal/web/page"
)

// Mount adds the operations to /v1.
func Mount(a *mount.API, u *updates.Updates) {
	mount.Mount(a, u.Post)
	mount.Mount(a, u.List)
	mount.Mount(a, u.Subscribers)
	mount.Mount(a, u.Subscribe)
	mount.Mount(a, u.Subscriptions)
	mount.Mount(a, u.Unsubscribe)
}

// Deps are the parts that the pages work on.
type Deps struct {
	Updates      *updates.Updates
	Applications *catalog.Applications
	Teams        *teams.Teams
	Contacts     *users.Contacts
}

// Told is what pages show about the updates of an incident: who gets them, and the forms of the reader.
type Told struct {
	ID       incidents.ID
	Audience updates.Audience
	Mine     []updates.UpdateSubscription // the reader's own to the incident: one or none
	Modes    []page.Option                // for which the reader has a contact
	States   []page.Option
	Reader   string // the name
	ReadOnly bool
}

// Told reads who gets the updates of an incident.
func (d Deps) Told(r *http.Request, id incidents.ID) (t Told, err error) {
	ctx, by := r.Context(), page.Actor(r)
	t = Told{ID: id, States: page.Options(updates.States...), Reader: page.Reader(r).Name, ReadOnly: page.Reader(r).ReadOnly}
	if t.Audience, err = d.Updates.Subscribers.Do(ctx, by, incidents.One{ID: id}); err != nil {
		return t, err
	}
	mine, err := d.Updates.Subscriptions.Do(ctx, by, updates.Filter{Incident: id})
	if err != nil {
		return t, err
	}
	t.Mine = mine.Items
	t.Modes, err = d.modes(r)
	return t, err
}

// modes are the modes of updates for which the reader has a contact.
func (d Deps) modes(r *http.Request) ([]page.Option, error) {
	found, err := d.Contacts.List.Do(r.Context(), page.Actor(r), users.OnePerson{User: page.Reader(r).Name})
	var out []users.Mode
	for _, mode := range updates.Modes {
		if slices.ContainsFunc(found.Items, func(c users.ShownContact) bool { return c.Mode == mode }) {
			out = append(out, mode)
		}
	}
	return page.Options(out...), err
}

// Handlers serves the pages. It is safe for concurrent use.
type Handlers struct {
	Deps
	Pages *page.Pages
}

// Routes mounts the pages, and the forms of what people choose for themselves.
func (h Handlers) Routes(r chi.Router) {
	page.Get(r, "/incidents/{id}/updates", h.list)
	page.Get(r, "/subscriptions", h.subscriptions)
	r.Post("/subscriptions", h.subscribe)
	r.Post("/subscriptions/{id}/end", h.unsubscribe)
}

// ChangeRoutes mounts the forms. The caller must admit only people who may write.
func (h Handlers) ChangeRoutes(r chi.Router) { r.Post("/incidents/{id}/updates", h.post) }

type updatesView struct {
	page.Frame
	ID      incidents.ID
	Refusal page.Refusal
	Typed   url.Values
	Rows    []updates.Update
	Next    string
	Told    Told
	Preview template.HTML // "" = none was asked for
}

func number(r *http.Request, name string) int64 {
	n, err := strconv.ParseInt(chi.URLParam(r, name), 10, 64)
	if err != nil {
		return 0 // nothing has this number
	}
	return n
}

// list shows the updates of an incident, newest first, and the form that sends another one.
func (h Handlers) list(rw http.ResponseWriter, r *http.Request) {
	h.show(rw, r, updatesView{Typed: url.Values{}})
}

func (h Handlers) show(rw http.ResponseWriter, r *http.Request, v updatesView) {
	v.ID = incidents.ID(number(r, "id"))
	found, err := h.Updates.List.Do(r.Context(), page.Actor(r), incidents.Part{One: incidents.One{ID: v.ID},
		Paging: operation.Paging{Limit: page.ListLength, Cursor: r.URL.Query().Get("cursor")}})
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	if v.Told, err = h.Told(r, v.ID); err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v.Rows, v.Next = found.Items, page.Next(found.Next)
	v.Frame = h.Pages.Frame(r, fmt.Sprintf("Updates of incident %d", v.ID), "incidents")
	h.Pages.Render(rw, r, max(v.Refusal.Status, http.StatusOK), "updates", v)
}

// post sends an update, or shows how it will look.
func (h Handlers) post(rw http.ResponseWriter, r *http.Request) {
	typed := page.Typed(r)
	id := incidents.ID(number(r, "id"))
	if typed.Get("do") == "preview" {
		h.show(rw, r, updatesView{Typed: typed, Preview: markdown.HTML(typed.Get("text"))})
		return
	}
	sent, err := h.Updates.Post.Do(r.Context(), page.Actor(r), updates.Posting{One: incidents.One{ID: id},
		Body: updates.Draft{State: updates.State(typed.Get("state")), Text: typed.Get("text")}})
	done := fmt.Sprintf("The update was sent to %d subscribers.", sent.Recipients)
	switch {
	case sent.Again:
		done = "This update was sent before. It was not sent again."
	case sent.Recipients == 1:
		done = "The update was sent to 1 subscriber."
	case sent.Recipients == 0:
		done = "The update is on the timeline. Nobody has subscribed, so it was sent to nobody."
	}
	h.Pages.Finish(rw, r, done, fmt.Sprintf("/incidents/%d", id), err, func(refusal page.Refusal) {
		h.show(rw, r, updatesView{Refusal: refusal, Typed: typed})
	})
}

type subscriptionsView struct {
	page.Frame
	Refusal             page.Refusal
	Typed               url.Values
	Rows                []updates.UpdateSubscription
	Next                string
	Modes               []page.Option // for which the reader has a contact
	Applications, Teams []string      // suggestions
}

// subscriptions shows the reader's subscriptions. ?incident=ID fills in the form.
func (h Handlers) subscriptions(rw http.ResponseWriter, r *http.Request) {
	h.showSubscriptions(rw, r, subscriptionsView{Typed: r.URL.Query()})
}

func (h Handlers) showSubscriptions(rw http.ResponseWriter, r *http.Request, v subscriptionsView) {
	found, err := h.Updates.Subscriptions.Do(r.Context(), page.Actor(r),
		updates.Filter{Paging: operation.Paging{Limit: page.ListLength, Cursor: r.URL.Query().Get("cursor")}})
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	if v.Modes, err = h.modes(r); err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v.Rows, v.Next = found.Items, page.Next(found.Next)
	v.Applications, v.Teams = pagescatalog.ApplicationNames(r, h.Applications), pagesusers.TeamNames(r, h.Teams)
	v.Frame = h.Pages.Frame(r, "Subscriptions", "subscriptions")
	h.Pages.Render(rw, r, max(v.Refusal.Status, http.StatusOK), "subscriptions", v)
}

func (h Handlers) subscribe(rw http.ResponseWriter, r *http.Request) {
	w, err := page.Decode[updates.Wish](r)
	if err == nil {
		_, err = h.Updates.Subscribe.Do(r.Context(), page.Actor(r), w)
	}
	h.Pages.Finish(rw, r, "You get updates from now on.", backTo(r), err, func(refusal page.Refusal) {
		h.showSubscriptions(rw, r, subscriptionsView{Refusal: refusal, Typed: page.Typed(r)})
	})
}

// backTo is the page after a form: that of the incident whose number the field back has, else the subscriptions.
func backTo(r *http.Request) string {
	if id, err := strconv.ParseInt(r.PostForm.Get("back"), 10, 64); err == nil && id > 0 {
		return fmt.Sprintf("/incidents/%d", id)
	}
	return "/subscriptions"
}

func (h Handlers) unsubscribe(rw http.ResponseWriter, r *http.Request) {
	_, err := h.Updates.Unsubscribe.Do(r.Context(), page.Actor(r), updates.One{ID: number(r, "id")})
	if fault.Is(err, fault.NotFound) {
		err = nil // a second press of the button
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Pages.Done(rw, r, backTo(r), "You get no more updates of this subscription.")
}
