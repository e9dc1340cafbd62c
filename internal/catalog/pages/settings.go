package pages

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
)

type newView struct {
	page.Frame
	Name    string
	Refusal page.Refusal
}

// create shows the form of a new application.
func (h ApplicationPages) create(rw http.ResponseWriter, r *http.Request) {
	h.Pages.Render(rw, r, http.StatusOK, "application-new",
		newView{Frame: h.Pages.Frame(r, "New application", "applications")})
}

// saveNew makes an application and goes on to its settings. Only administrators may.
func (h ApplicationPages) saveNew(rw http.ResponseWriter, r *http.Request) {
	typed := page.Typed(r)
	v := newView{Name: typed.Get("name")}
	made, err := h.Applications.Create.Do(r.Context(), page.Actor(r), catalog.NewApplication{Name: v.Name})
	done := "The application is made. Choose its variables, and show its key below the settings."
	h.Pages.Finish(rw, r, done, page.Path("/applications/%s/edit", made.Name), err, func(refusal page.Refusal) {
		v.Refusal, v.Frame = refusal, h.Pages.Frame(r, "New application", "applications")
		h.Pages.Render(rw, r, refusal.Status, "application-new", v)
	})
}

// applicationEditView has the settings as texts, so that a refused form keeps them.
type applicationEditView struct {
	page.Frame
	Name, ETag    string
	Variables     string // one a line
	Required      string // one a line
	TitleVariable string
	Owners        string // separated by commas
	SenderEmail   string
	Sample        string
	Modes         []modeChoice
	Priorities    []priorityChoice
	Refusal       page.Refusal
}

type modeChoice struct {
	Name string
	On   bool
}

type priorityChoice struct {
	Name, Mode string
	Options    []page.Option
}

// edit shows the settings.
func (h ApplicationPages) edit(rw http.ResponseWriter, r *http.Request) {
	a, err := h.objects().Find(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v := applicationEditView{ETag: page.ETag(a), Variables: strings.Join(a.Variables, "\n"),
		Required: strings.Join(a.RequiredVariables, "\n"), TitleVariable: string(a.TitleVariable), Owners: strings.Join(a.Owners, ", "),
		SenderEmail: string(a.SenderEmail), Sample: a.Sample()}
	defaults := map[users.Priority]operation.Text{}
	for priority, mode := range a.DefaultModes {
		defaults[priority] = operation.Text(mode)
	}
	v.choices(a.Modes, defaults)
	h.form(rw, r, http.StatusOK, a, v)
}

// choices fills in the modes, and the mode of each priority.
func (v *applicationEditView) choices(modes []users.Mode, defaults map[users.Priority]operation.Text) {
	for _, m := range users.Modes {
		v.Modes = append(v.Modes, modeChoice{string(m), slices.Contains(modes, m)})
	}
	for _, p := range users.Priorities {
		v.Priorities = append(v.Priorities, priorityChoice{string(p), string(defaults[p]),
			page.OptionsOr("as in the installation", users.Modes...)})
	}
}

func (h ApplicationPages) form(rw http.ResponseWriter, r *http.Request, status int, a application, v applicationEditView) {
	v.Name = a.Name
	v.Frame = h.Pages.Frame(r, "Settings of "+a.Name, "applications")
	h.Pages.Render(rw, r, status, "application-edit", v)
}

// save replaces the settings.
func (h ApplicationPages) save(rw http.ResponseWriter, r *http.Request) {
	typed := page.Typed(r)
	a, err := h.objects().Find(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	in, err := settingsOf(typed, page.Reader(r).Admin)
	if err == nil {
		_, err = h.Applications.Replace.Do(r.Context(), page.Actor(r), catalog.ApplicationEdit{
			OneApplication: applicationOne(a.Name), State: operation.State{IfMatch: typed.Get("etag")}, Body: in})
	}
	v := applicationEditView{ETag: typed.Get("etag"), Variables: typed.Get("variables"),
		Required: typed.Get("required_variables"), TitleVariable: typed.Get("title_variable"), Owners: typed.Get("owners"),
		SenderEmail: typed.Get("sender_email"), Sample: typed.Get("sample_context")}
	h.Pages.Finish(rw, r, "The settings are saved.", page.Path("/applications/%s", a.Name), err, func(refusal page.Refusal) {
		v.Refusal, v.ETag = refusal, refusal.Tag(v.ETag, page.ETag(a))
		v.Refusal.Field, _, _ = strings.Cut(refusal.Field, "[") // a list is one field of the form
		modes := modesTyped(typed)
		if !page.Reader(r).Admin {
			modes = a.Modes
		}
		v.choices(modes, defaultModes(typed))
		h.form(rw, r, refusal.Status, a, v)
	})
}

// settingsOf returns the typed settings. Only administrators give the modes.
func settingsOf(typed url.Values, admin bool) (catalog.ApplicationSettings, error) {
	in := catalog.ApplicationSettings{Variables: listed(typed.Get("variables")),
		RequiredVariables: listed(typed.Get("required_variables")), TitleVariable: operation.Text(typed.Get("title_variable")),
		Owners: listed(typed.Get("owners")), SenderEmail: operation.Text(typed.Get("sender_email")),
		DefaultModes: defaultModes(typed), SampleContext: operation.Optional[json.RawMessage]{Given: true}}
	if admin {
		in.Modes = modesTyped(typed)
	}
	text := typed.Get("sample_context")
	if text == "" {
		return in, nil
	}
	if err := checkJSON(text); err != nil {
		return in, err
	}
	raw := json.RawMessage(text)
	in.SampleContext.Value = &raw
	return in, nil
}

func modesTyped(typed url.Values) []users.Mode {
	out := []users.Mode{}
	for _, m := range typed["modes"] {
		out = append(out, users.Mode(m))
	}
	return out
}

func defaultModes(typed url.Values) map[users.Priority]operation.Text {
	out := map[users.Priority]operation.Text{}
	for _, p := range users.Priorities {
		if mode := typed.Get("mode." + string(p)); mode != "" {
			out[p] = operation.Text(mode)
		}
	}
	return out
}

// listed returns the names in a text, one a line or separated by commas.
func listed(text string) []string {
	out := []string{}
	for _, name := range strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' || r == ',' }) {
		if name = strings.TrimSpace(name); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// checkJSON returns an Invalid fault with the line and the column of a mistake in a sample context.
func checkJSON(text string) error {
	dec := json.NewDecoder(strings.NewReader(text))
	var object map[string]json.RawMessage
	err := dec.Decode(&object)
	if err == nil && dec.More() {
		return place(text, dec.InputOffset()+1, "there is text after the object")
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return place(text, syntax.Offset, syntax.Error())
	case errors.As(err, &kind):
		return place(text, 1, "it must be an object, such as {\"title\": \"Disk full\"}")
	case err != nil:
		return place(text, int64(len(text)), "it ends too early")
	}
	return nil
}

func place(text string, offset int64, what string) error {
	before := []byte(text)[:min(max(offset-1, 0), int64(len(text)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fault.Invalidf("sample_context", "The sample context is no valid JSON in line %d, column %d: %s", line,
		column, what)
}
