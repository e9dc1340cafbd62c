// Package texts serves the pages of templates: the list, a template with its versions, and the editor with its preview. The web site mounts it.
// Everything is read and changed through /v1.
package texts

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

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
	page.Get(r, "/templates/{template}/versions", page.Compare[whole](h.Pages, "templates", "template"))
}

// ChangeRoutes mounts the forms. The caller must admit only people who may write.
func (h Handlers) ChangeRoutes(r chi.Router) {
	r.Post("/templates/new", h.saveNew)
	r.Post("/templates/preview", h.preview)
	r.Post("/templates/preview/html", h.mail)
	r.Post("/templates/{template}/edit", h.save)
	for name, change := range map[string]page.Change{"activate": page.Activate("templates"), "owner": page.Give("templates"), "delete": remove} {
		r.Post("/templates/{template}/"+name, h.Pages.Submit("templates", "template", h.render, change))
	}
}

// listed is a template as lists of /v1 show it.
type listed struct {
	page.Version
	PlanCount int `json:"plan_count"`
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
	page.Version
	Content []content `json:"content"`
	Plans   []string  `json:"plans"`
}

// list shows the templates, the newest first: those of the reader, or all.
func (h Handlers) list(rw http.ResponseWriter, r *http.Request) {
	v, err := page.ReadIndex[listed](h.Pages, r, "Templates", "templates", "member", page.Reader(r).Name)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Pages.Render(rw, r, http.StatusOK, "texts", v)
}

type showView struct {
	page.Frame
	page.Again
	T        whole
	Apps     []appTexts
	Versions []page.Version
	Owns     bool
	Teams    []string
	Lost     string // what a deletion removes
}

// appTexts are the texts for one application.
type appTexts struct {
	Application string
	Texts       []content
}

// show shows a version of a template.
func (h Handlers) show(rw http.ResponseWriter, r *http.Request) { h.render(rw, r, page.Again{}) }

func (h Handlers) render(rw http.ResponseWriter, r *http.Request, again page.Again) {
	t, err := h.find(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	api := h.Pages.API(r)
	v := showView{Frame: h.Pages.Frame(r, t.Name, "templates"), Again: again, T: t, Versions: api.Versions("templates", t.Name, "", page.ShownVersions).Items,
		Teams: api.Teams(), Apps: byApplication(t.Content), Lost: lost(t)}
	v.Owns = t.MayEdit && !page.Reader(r).ReadOnly
	h.Pages.Render(rw, r, again.Status(), "text", v)
}

// find reads the version of the address, by its number or its name.
func (h Handlers) find(r *http.Request) (whole, error) {
	return page.Find[whole](h.Pages.API(r), "templates", wire.Param(r, "template"))
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

// Text is the texts of the version as one text, for the difference of two versions.
func (t whole) Text() string {
	var b strings.Builder
	for _, c := range t.Content {
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

// remove deletes the template. The page has said which plans name it.
func remove(api page.API, o page.Version, _ url.Values) (string, string, error) {
	return "Template " + o.Name + " is deleted.", "/templates", api.Send(http.MethodDelete, page.Path("/v1/templates/%s", o.Name)+"?force=true", nil, nil)
}
