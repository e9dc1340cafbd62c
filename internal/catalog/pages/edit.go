package pages

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/intake/sources"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
)

// editView has the typed values, so that a refused form keeps them.
type editView struct {
	page.Frame
	New          bool
	Name, Team   string
	Self         string // address of the form
	Base         int64  // number of the version that was opened; 0 = of a new template
	Application  string
	Applications []string // that can be chosen
	Others       []string // applications that have texts too
	Modes        []modeView
	Sample       string
	Samples      []page.Option
	Incident     string
	Refusal      page.Refusal
}

// modeView is the text in one mode, with its preview.
type modeView struct {
	catalog.Text
	Label, Hint string
	Open        bool
	Preview     *preview // nil = not asked for
	Refusal     page.Refusal
}

// labels name the modes, and say what becomes of the parts of a text.
var labels = map[string][2]string{
	"email":   {"E-mail", "Without HTML, the body is sent as text and as simple HTML."},
	"sms":     {"SMS", "Subject and body become one text. How to acknowledge is added."},
	"call":    {"Call", "Subject and body are spoken, without addresses and markup."},
	"slack":   {"Slack", "Slack's markup, or a JSON object with blocks or attachments."},
	"push":    {"Push", "The subject is the title of the notification."},
	"webhook": {"Webhook", "Subject and body are members of the JSON that is sent."},
	"drop":    {"Drop", "Nothing is sent; the text is kept as a record."},
}

// create shows the form of a new template. ?from=NAME fills in the texts of another template for the application of
// ?application=.
func (h TemplatePages) create(rw http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	v := editView{New: true, Self: "/templates/new", Application: page.Storable(q.Get("application"))}
	var texts []catalog.Text
	if from := q.Get("from"); from != "" {
		t, err := h.objects().Read(r, page.Storable(from))
		if err != nil {
			h.Pages.Fail(rw, r, err)
			return
		}
		texts = t.Content
		if v.Application == "" && len(texts) > 0 {
			v.Application = texts[0].Application
		}
	}
	v.Modes = modesOf(texts, v.Application)
	h.form(rw, r, http.StatusOK, v)
}

// edit shows the editor for one application: that of ?application=, else the first that the template has.
func (h TemplatePages) edit(rw http.ResponseWriter, r *http.Request) {
	t, err := h.objects().Find(r)
	if err == nil && !t.Active {
		err = fault.Newf(fault.Conflict, "Version %d of %s is not active. Activate it, then edit it.", t.ID, t.Name)
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v := editing(t)
	if v.Application = page.Storable(r.URL.Query().Get("application")); v.Application == "" && len(t.Content) > 0 {
		v.Application = t.Content[0].Application
	}
	v.Modes = modesOf(t.Content, v.Application)
	h.form(rw, r, http.StatusOK, v)
}

// editing returns the editor of a template without an application.
func editing(t catalog.Template) editView {
	v := editView{Name: t.Name, Team: string(t.Team), Base: t.ID, Self: page.Path("/templates/%s/edit", t.Name)}
	for _, a := range byApplication(t.Content) {
		v.Others = append(v.Others, a.Application)
	}
	return v
}

// modesOf returns all modes, with the texts of an application. Modes with a text are open.
func modesOf(all []catalog.Text, application string) []modeView {
	out := make([]modeView, len(users.Modes))
	has := false
	for i, m := range users.Modes {
		out[i] = modeView{Text: catalog.Text{Application: application, Mode: m}, Label: labels[string(m)][0],
			Hint: labels[string(m)][1]}
		for _, c := range all {
			if c.Mode == m && strings.EqualFold(c.Application, application) {
				out[i].Text, out[i].Open, has = c, true, true
			}
		}
	}
	out[0].Open = out[0].Open || !has
	return out
}

// templateTyped reads the form.
func templateTyped(r *http.Request, v editView) editView {
	field := func(name string) string { return page.Storable(r.PostFormValue(name)) }
	v.Application, v.Sample, v.Incident = strings.TrimSpace(field("application")), field("sample"), strings.TrimSpace(field("incident"))
	if v.New {
		v.Name, v.Team = field("name"), strings.TrimSpace(field("team"))
	}
	v.Modes = modesOf(nil, v.Application)
	for i := range v.Modes {
		m := &v.Modes[i]
		mode := string(m.Mode)
		m.Subject, m.Body, m.EmailHTML = field(mode+".subject"), lines(field(mode+
			".body")), operation.Text(lines(field(mode+".email_html")))
		m.Open = m.given()
	}
	return v
}

// lines replaces the line ends of a form by those that templates are stored with.
func lines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// given reports whether the mode has a text.
func (m modeView) given() bool { return m.Subject+m.Body+string(m.EmailHTML) != "" }

// form renders the editor, with the lists that it offers.
func (h TemplatePages) form(rw http.ResponseWriter, r *http.Request, status int, v editView) {
	var err error
	v.Applications = ApplicationNames(r, h.Applications)
	if v.Samples, err = h.samples(r, v.Application); err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	title := "Edit " + v.Name
	if v.New {
		title = "New template"
	}
	v.Frame = h.Pages.Frame(r, title, "templates")
	v.Modules = []string{"texts.js"}
	h.Pages.Render(rw, r, status, "text-form", v)
}

// recentIncidents is how many incidents of the application the form offers.
const recentIncidents = 10

// samples returns the contexts that a preview can use: the sample of the application, alert sources, and incidents of
// the application.
func (h TemplatePages) samples(r *http.Request, application string) ([]page.Option, error) {
	out := []page.Option{{Value: "", Label: "Sample context of the application"}}
	if application != "" {
		found, err := h.Incidents.List.Do(r.Context(), page.Actor(r),
			incidents.Filter{Paging: operation.Paging{Limit: recentIncidents}, Application: application})
		if err != nil && !fault.Is(err, fault.Invalid) {
			return nil, err
		}
		for _, i := range found.Items {
			title := ""
			if i.Name != nil {
				title = *i.Name
			}
			out = append(out, page.Option{Value: fmt.Sprintf("incident:%d", i.ID),
				Label: fmt.Sprintf("Incident %d: %s", i.ID, humanize.Shorten(title, 60))})
		}
	}
	for _, s := range sources.Samples() {
		out = append(out, page.Option{Value: "source:" + s, Label: "Alert of " + strings.ReplaceAll(s, "_", " ")})
	}
	return out, nil
}

// saveNew stores a new template, or previews it.
func (h TemplatePages) saveNew(rw http.ResponseWriter, r *http.Request) {
	v := templateTyped(r, editView{New: true, Self: "/templates/new"})
	if r.PostFormValue("do") == "preview" {
		h.previewAll(rw, r, v)
		return
	}
	texts := v.contents()
	err := requireText(texts)
	var made catalog.Template
	if err == nil {
		made, err = h.Templates.Create.Do(r.Context(), page.Actor(r),
			catalog.NewTemplate{Name: v.Name, Team: operation.Text(v.Team), Texts: catalog.Texts{Content: texts}})
	}
	h.saved(rw, r, v, texts, made, err)
}

// requireText refuses a template without a text, because every message would get the built-in text.
func requireText(texts []catalog.Text) error {
	if len(texts) == 0 {
		return fault.Invalidf("email.body", "write a text in at least one mode")
	}
	return nil
}

// contents returns the texts of the form that are not empty.
func (v editView) contents() (out []catalog.Text) {
	for _, m := range v.Modes {
		if m.given() {
			m.Text.Application = v.Application
			out = append(out, m.Text)
		}
	}
	return out
}

// save stores a new version, or previews it. The texts of other applications stay as they are in the version that was
// opened.
func (h TemplatePages) save(rw http.ResponseWriter, r *http.Request) {
	t, err := h.objects().Find(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v := templateTyped(r, editing(t))
	if base, err := strconv.ParseInt(r.PostFormValue("base"), 10, 64); err == nil {
		v.Base = base
	}
	if r.PostFormValue("do") == "preview" {
		h.previewAll(rw, r, v)
		return
	}
	all := append(v.contents(), slices.DeleteFunc(t.Content,
		func(c catalog.Text) bool { return strings.EqualFold(c.Application, v.Application) })...)
	var made catalog.Template
	if err = requireText(all); err == nil {
		made, err = h.Templates.Replace.Do(r.Context(), page.Actor(r),
			catalog.TemplateVersion{OneTemplate: templateOne(t.Name),
				State: operation.In(strconv.FormatInt(v.Base,
					10)), Body: catalog.TemplateContent{Texts: catalog.Texts{Content: all}}})
	}
	h.saved(rw, r, v, all, made, err)
}

// saved answers a form: with a redirect to the template, or with the form and the reason of the refusal.
func (h TemplatePages) saved(rw http.ResponseWriter, r *http.Request, v editView, texts []catalog.Text, made catalog.Template, err error) {
	h.Pages.Finish(rw, r, fmt.Sprintf("Saved as version %d, which is active now.", made.ID), page.Path("/templates/%s", made.Name), err, func(refusal page.Refusal) {
		refusal.Field = formField(refusal.Field, texts)
		v.Refusal = refusal
		for i := range v.Modes {
			m := &v.Modes[i]
			m.Open, m.Refusal = m.Open || strings.HasPrefix(refusal.Field, string(m.Mode)+"."), refusal
		}
		h.form(rw, r, refusal.Status, v)
	})
}

// formField returns the field of the form for a field of the API: content[2].body is the body of the mode of the text.
func formField(field string, texts []catalog.Text) string {
	var n int
	var part string
	if _, err := fmt.Sscanf(field, "content[%d].%s", &n, &part); err != nil || n >= len(texts) {
		return field
	}
	if part == "application" {
		return part
	}
	return string(texts[n].Mode) + "." + part
}

// previewAll shows the form again with the previews of all modes that have a text.
func (h TemplatePages) previewAll(rw http.ResponseWriter, r *http.Request, v editView) {
	status := http.StatusOK
	for i := range v.Modes {
		if !v.Modes[i].given() {
			continue
		}
		p, err := h.rendered(r, v, v.Modes[i].Text)
		if err != nil {
			refusal, ok := h.Pages.Refused(rw, r, err)
			if !ok {
				return
			}
			v.Refusal, status = refusal, refusal.Status
			break
		}
		v.Modes[i].Preview = &p
	}
	h.form(rw, r, status, v)
}

// preview answers with the preview of one mode, for the script of the editor.
func (h TemplatePages) preview(rw http.ResponseWriter, r *http.Request) {
	v := templateTyped(r, editView{New: true})
	i := slices.IndexFunc(v.Modes, func(m modeView) bool { return string(m.Mode) == r.PostFormValue("mode") })
	if i < 0 {
		h.Pages.Fail(rw, r, fault.Invalidf("mode", "there is no mode %.40q", r.PostFormValue("mode")))
		return
	}
	m := v.Modes[i]
	if m.given() {
		p, err := h.rendered(r, v, m.Text)
		if err != nil {
			refusal, ok := h.Pages.Refused(rw, r, err)
			if !ok {
				return
			}
			p = preview{Refused: refusal.Text}
		}
		m.Preview = &p
	}
	h.Pages.Render(rw, r, http.StatusOK, "text-preview", m)
}

// mail answers with the HTML of the typed e-mail, for the frame in the editor.
func (h TemplatePages) mail(rw http.ResponseWriter, r *http.Request) {
	v := templateTyped(r, editView{New: true})
	i := slices.IndexFunc(v.Modes, func(m modeView) bool { return m.Mode == users.Email })
	p, err := h.rendered(r, v, v.Modes[i].Text)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	page.Mail(rw, string(p.EmailHTML))
}

// rendered renders one text with the chosen context.
func (h TemplatePages) rendered(r *http.Request, v editView, c catalog.Text) (p preview, err error) {
	in := draftOf(v.Name, v.Application, c)
	kind, value, _ := strings.Cut(v.Sample, ":")
	if v.Incident != "" {
		kind, value = "incident", v.Incident
	}
	switch kind {
	case "incident":
		id, err := strconv.ParseInt(value, 10, 64)
		if err != nil || id <= 0 {
			return p, fault.Invalidf("incident", "type the number of an incident, such as 12")
		}
		in.Incident = incidents.ID(id)
	case "source":
		in.Source = operation.Text(value)
	}
	found, err := h.Templates.Preview.Do(r.Context(), page.Actor(r), in)
	if err != nil {
		return p, err
	}
	return previewOf(found, c), nil
}

// draftOf returns a text of a template as a draft for an incident of an application.
func draftOf(template, application string, c catalog.Text) catalog.TemplateDraft {
	return catalog.TemplateDraft{Name: operation.Text(template), Application: application, Mode: c.Mode,
		Subject: operation.Text(c.Subject), Plain: operation.Text(c.Body), EmailHTML: c.EmailHTML}
}
