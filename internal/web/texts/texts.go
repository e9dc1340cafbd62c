// Package texts serves the pages of templates: the list, a template with its versions, and the editor with its preview. The web site mounts it.
// Everything is read and changed through /v1.
package texts

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/wire"
)

// Handlers serves the pages. It is safe for concurrent use.
type Handlers struct{ Pages *page.Pages }

// Routes mounts the pages. The caller must admit only people who have logged in.
func (h Handlers) Routes(r chi.Router) {
	page.Get(r, "/templates", h.list)
	page.Get(r, "/templates/new", h.create)
	page.Get(r, "/templates/{template}", h.show)
	page.Get(r, "/templates/{template}/edit", h.edit)
}

// ChangeRoutes mounts the forms. The caller must admit only people who may write.
func (h Handlers) ChangeRoutes(r chi.Router) {
	r.Post("/templates/new", h.saveNew)
	r.Post("/templates/preview", h.preview)
	r.Post("/templates/{template}/edit", h.save)
	r.Post("/templates/{template}/activate", h.activate)
	r.Post("/templates/{template}/owner", h.give)
	r.Post("/templates/{template}/delete", h.remove)
}

// version is a version of a template as /v1 shows it.
type version struct {
	ID        int64     `json:"id"`
	Name      string    `json:"name"`
	Active    bool      `json:"active"`
	Creator   string    `json:"creator"`
	Team      string    `json:"team"`
	CreatedAt time.Time `json:"created_at"`
	PlanCount int       `json:"plan_count"`
	MayEdit   bool      `json:"may_edit"` // the reader may delete the template and give it to a team
}

// Href returns the address of the page: by name of the active version, else by number.
func (v version) Href() string {
	if v.Active {
		return page.Path("/templates/%s", v.Name)
	}
	return page.Path("/templates/%s", v.ID)
}

// content is the text of a template for one application in one mode.
type content struct {
	Application string `json:"application"`
	Mode        string `json:"mode"`
	Subject     string `json:"subject"`
	Body        string `json:"body"`
	EmailHTML   string `json:"email_html"`
}

// whole is a version with its texts and the plans that name it.
type whole struct {
	version
	Content []content `json:"content"`
	Plans   []string  `json:"plans"`
}

// reader is what the pages need of the person who reads them.
type reader struct {
	Teams []string `json:"teams"`
}

func (h Handlers) reader(r *http.Request) (out reader, err error) {
	err = h.Pages.API(r).Get(page.Path("/v1/users/%s", page.Reader(r).Name), &out)
	return out, fault.When(err, fault.NotFound, nil)
}

type listView struct {
	page.Frame
	Search    string
	Mine, All []version
	More      string
}

// list shows the templates that the reader wrote or whose team the reader is in, then all, the newest first. With a search it shows one list.
func (h Handlers) list(rw http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	v := listView{Frame: h.Pages.Frame(r, "Templates", "templates"), Search: strings.TrimSpace(page.Storable(q.Get("name")))}
	wanted := url.Values{"limit": {fmt.Sprint(page.ListLength)}}
	if v.Search != "" {
		wanted.Set("search", v.Search)
	}
	if cursor := q.Get("cursor"); cursor != "" {
		wanted.Set("cursor", cursor)
	}
	var found page.Listed[version]
	err := h.Pages.API(r).Get("/v1/templates?"+wanted.Encode(), &found)
	if err == nil && v.Search == "" && !wanted.Has("cursor") {
		var mine page.Listed[version]
		err = h.Pages.API(r).Get("/v1/templates?"+url.Values{"member": {page.Reader(r).Name}, "limit": {fmt.Sprint(page.ListLength)}}.Encode(), &mine)
		v.Mine = mine.Items
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v.All = found.Items
	if found.Next != "" {
		v.More = "/templates?" + url.Values{"name": {v.Search}, "cursor": {found.Next}}.Encode()
	}
	h.Pages.Render(rw, r, http.StatusOK, "texts", v)
}

type showView struct {
	page.Frame
	T        whole
	Apps     []appTexts
	Versions []version
	Owns     bool
	Teams    []string
	// Against is the version that the shown one is compared with; 0 = none.
	Against     int64
	Differences []page.DiffLine
	Compared    bool
	Refusal     page.Refusal
	Lost        string // what a deletion loses
}

// appTexts are the texts for one application.
type appTexts struct {
	Application string
	Texts       []content
}

// maxVersions is how many versions the page lists.
const maxVersions = 50

// show shows a version of a template. ?against=N shows the differences from version N.
func (h Handlers) show(rw http.ResponseWriter, r *http.Request) {
	h.render(rw, r, page.Refusal{Status: http.StatusOK})
}

func (h Handlers) render(rw http.ResponseWriter, r *http.Request, refusal page.Refusal) {
	t, err := h.find(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	me, err := h.reader(r)
	var versions page.Listed[version]
	api := h.Pages.API(r)
	if err == nil {
		err = api.Get("/v1/templates?"+url.Values{"name": {t.Name}, "versions": {"all"}, "limit": {fmt.Sprint(maxVersions)}}.Encode(), &versions)
	}
	v := showView{T: t, Versions: versions.Items, Owns: t.MayEdit && !page.Reader(r).ReadOnly, Teams: me.Teams, Refusal: refusal, Apps: byApplication(t.Content), Lost: lost(t)}
	if text := r.URL.Query().Get("against"); text != "" && err == nil {
		var other whole
		err = api.Get(page.Path("/v1/templates/%s", text), &other)
		if err == nil && !strings.EqualFold(other.Name, t.Name) {
			err = fault.Newf(fault.Invalid, "version %d is of another template", other.ID)
		}
		v.Compared, v.Against, v.Differences = true, other.ID, page.Diff(plain(other.Content), plain(t.Content))
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v.Frame = h.Pages.Frame(r, t.Name, "templates")
	h.Pages.Render(rw, r, refusal.Status, "text", v)
}

// find reads the version of the address: the active one of a name, or any by its number.
func (h Handlers) find(r *http.Request) (t whole, err error) {
	err = h.Pages.API(r).Get(page.Path("/v1/templates/%s", wire.Param(r, "template")), &t)
	return t, err
}

func byApplication(all []content) (out []appTexts) {
	for _, c := range all {
		if n := len(out); n == 0 || out[n-1].Application != c.Application {
			out = append(out, appTexts{Application: c.Application})
		}
		out[len(out)-1].Texts = append(out[len(out)-1].Texts, c)
	}
	return out
}

// plain is the texts of a version as one text, for the difference of two versions.
func plain(all []content) string {
	var b strings.Builder
	for _, c := range all {
		for _, part := range []struct{ name, text string }{{"subject", c.Subject}, {"body", c.Body}, {"HTML", c.EmailHTML}} {
			if part.text != "" {
				fmt.Fprintf(&b, "# %s, %s, %s\n%s\n", c.Application, c.Mode, part.name, strings.ReplaceAll(part.text, "\r\n", "\n"))
			}
		}
	}
	return b.String()
}

func lost(t whole) string {
	text := "The versions stay as history, and one of them can be activated again."
	if n := len(t.Plans); n > 0 {
		shown := strings.Join(t.Plans[:min(n, 5)], ", ")
		if n > 5 {
			shown += fmt.Sprintf(" and %d more", n-5)
		}
		text += fmt.Sprintf(" These plans name it, and their messages get the built-in text: %s.", shown)
	}
	return text
}

// changed answers a form of the page of a template: with a redirect, or with the page and the reason of the refusal.
func (h Handlers) changed(rw http.ResponseWriter, r *http.Request, err error, to, flash string) {
	if err != nil {
		if refusal, ok := h.Pages.Refused(rw, r, err); ok {
			h.render(rw, r, refusal)
		}
		return
	}
	h.Pages.Sessions.Put(r.Context(), "flash", flash)
	http.Redirect(rw, r, to, http.StatusSeeOther)
}

// activate makes the version of the address the active one.
func (h Handlers) activate(rw http.ResponseWriter, r *http.Request) {
	t, err := h.find(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	err = h.Pages.API(r).Send(http.MethodPost, page.Path("/v1/templates/%s/versions/%s/activate", t.Name, t.ID), nil, nil)
	h.changed(rw, r, err, page.Path("/templates/%s", t.Name), fmt.Sprintf("Version %d is active now: the next messages use it.", t.ID))
}

// give gives the template to a team; "" = to no team.
func (h Handlers) give(rw http.ResponseWriter, r *http.Request) {
	t, err := h.find(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	team := strings.TrimSpace(page.Storable(r.PostFormValue("team")))
	err = h.Pages.API(r).Send(http.MethodPut, page.Path("/v1/templates/%s/owner", t.Name), map[string]string{"team": team}, nil)
	text := "No team owns the template now: its author does."
	if team != "" {
		text = "Team " + team + " owns the template now."
	}
	h.changed(rw, r, err, page.Path("/templates/%s", t.Name), text)
}

// remove deletes the template. The page has said which plans name it.
func (h Handlers) remove(rw http.ResponseWriter, r *http.Request) {
	name := wire.Param(r, "template")
	err := h.Pages.API(r).Send(http.MethodDelete, page.Path("/v1/templates/%s", name)+"?force=true", nil, nil)
	h.changed(rw, r, err, "/templates", "Template "+name+" is deleted.")
}
