// This file serves the pages of templates: the list, a template with its versions, and the editor with its preview. The
// pages call the operations, which check what the reader may do.

package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/kit/operation"
	pagesusers "github.com/iris-oncall/iris/internal/users/pages"
	"github.com/iris-oncall/iris/internal/web/page"
)

// TemplatePages serves the pages. It is safe for concurrent use.
type TemplatePages struct {
	Deps
	Pages *page.Pages
}

// Routes mounts the pages. The caller must admit only people who have logged in.
func (h TemplatePages) Routes(r chi.Router) {
	page.Get(r, "/templates", h.list)
	page.Get(r, "/templates/new", h.create)
	page.Get(r, "/templates/{template}", h.show)
	page.Get(r, "/templates/{template}/edit", h.edit)
	page.Get(r, "/templates/{template}/versions", h.objects().Compare(h.Pages))
}

// ChangeRoutes mounts the forms. The caller must admit only people who may write.
func (h TemplatePages) ChangeRoutes(r chi.Router) {
	r.Post("/templates/new", h.saveNew)
	r.Post("/templates/preview", h.preview)
	r.Post("/templates/preview/html", h.mail)
	r.Post("/templates/{template}/edit", h.save)
	templates := h.objects()
	for name, change := range map[string]page.Change{"activate": templates.ToActive, "owner": templates.ToTeam, "delete": h.remove} {
		r.Post("/templates/{template}/"+name, templates.Submit(h.Pages, h.render, change))
	}
}

func templateOne(name string) catalog.OneTemplate { return catalog.OneTemplate{Template: name} }

// objects reads and changes versions of templates.
func (h TemplatePages) objects() page.Objects[catalog.Template] {
	return page.Objects[catalog.Template]{Section: "templates", Parameter: "template", Text: templateText,
		Read: func(r *http.Request, name string) (catalog.Template, error) {
			return h.Templates.Get.Do(r.Context(), page.Actor(r), templateOne(name))
		},
		Head: func(t catalog.Template) page.Version { return Head(t.Version) },
		Versions: func(r *http.Request, name, cursor string, limit int) (out operation.Page[page.Version], err error) {
			found, err := h.Templates.List.Do(r.Context(), page.Actor(r),
				catalog.Filter{Paging: operation.Paging{Limit: limit, Cursor: cursor}, Name: name, Versions: "all"})
			for _, t := range found.Items {
				out.Items = append(out.Items, Head(t.Version))
			}
			out.Next = found.Next
			return out, err
		},
		Activate: func(r *http.Request, o page.Version) error {
			_, err := h.Templates.Activate.Do(r.Context(), page.Actor(r),
				catalog.TemplateActivation{OneTemplate: templateOne(o.Name), Version: o.ID})
			return err
		},
		Give: func(r *http.Request, o page.Version, team string) error {
			_, err := h.Templates.Give.Do(r.Context(), page.Actor(r),
				catalog.TemplateGiving{OneTemplate: templateOne(o.Name),
					Body: catalog.Owner{Team: operation.Text(team)}})
			return err
		},
	}
}

// list shows the templates, the newest first: those of the reader, or all.
func (h TemplatePages) list(rw http.ResponseWriter, r *http.Request) {
	v, err := page.ReadIndex(h.Pages, r, "Templates", "templates", func(r *http.Request, s page.Search) (operation.Page[catalog.TemplateRow], error) {
		return h.Templates.List.Do(r.Context(), page.Actor(r), Filter(r, s))
	})
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Pages.Render(rw, r, http.StatusOK, "texts", v)
}

type showView struct {
	page.Frame
	page.Again
	T        catalog.Template
	Head     page.Version
	Apps     []appTexts
	Versions []page.Version
	Owns     bool
	Teams    []string
	Lost     string // what a deletion removes
}

// appTexts are the texts for one application.
type appTexts struct {
	Application string
	Texts       []catalog.Text
}

// show shows a version of a template.
func (h TemplatePages) show(rw http.ResponseWriter, r *http.Request) { h.render(rw, r, page.Again{}) }

func (h TemplatePages) render(rw http.ResponseWriter, r *http.Request, again page.Again) {
	t, err := h.objects().Find(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v := showView{Frame: h.Pages.Frame(r, t.Name, "templates"), Again: again, T: t, Head: Head(t.Version),
		Teams: pagesusers.TeamsOf(r, h.People), Apps: byApplication(t.Content), Lost: lost(t)}
	v.Owns = v.Head.MayEdit && !page.Reader(r).ReadOnly
	if versions, err := h.objects().Versions(r, t.Name, "", page.ShownVersions); err == nil { // the page can do without the other versions
		v.Versions = versions.Items
	}
	h.Pages.Render(rw, r, again.Status(), "text", v)
}

func byApplication(all []catalog.Text) (out []appTexts) {
	for _, c := range all {
		if n := len(out); n == 0 || out[n-1].Application != c.Application {
			out = append(out, appTexts{Application: c.Application})
		}
		out[len(out)-1].Texts = append(out[len(out)-1].Texts, c)
	}
	return out
}

// templateText is the texts of the version as one text, for the difference of two versions.
func templateText(t catalog.Template) string {
	var b strings.Builder
	for _, c := range t.Content {
		for _, part := range []struct{ name, text string }{{"subject", c.Subject}, {"body", c.Body}, {"HTML", string(c.EmailHTML)}} {
			if part.text != "" {
				fmt.Fprintf(&b, "# %s, %s, %s\n%s\n", c.Application, c.Mode, part.name,
					strings.ReplaceAll(part.text, "\r\n", "\n"))
			}
		}
	}
	return b.String()
}

func lost(t catalog.Template) string {
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
func (h TemplatePages) remove(r *http.Request, o page.Version, _ url.Values) (string, string, error) {
	_, err := h.Templates.Delete.Do(r.Context(), page.Actor(r),
		catalog.TemplateRemoval{OneTemplate: templateOne(o.Name), Force: true})
	return "Template " + o.Name + " is deleted.", "/templates", err
}
