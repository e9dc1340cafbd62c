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

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/wire"
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
	var made application
	err := h.Pages.API(r).Send(http.MethodPost, "/v1/applications", map[string]string{"name": v.Name}, &made)
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
	a, etag, err := h.settings(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v := applicationEditView{ETag: etag, Variables: strings.Join(a.Variables, "\n"),
		Required: strings.Join(a.Required, "\n"), TitleVariable: a.TitleVariable, Owners: strings.Join(a.Owners, ", "),
		SenderEmail: a.SenderEmail, Sample: a.Sample()}
	v.choices(a.Modes, a.DefaultModes)
	h.form(rw, r, http.StatusOK, a, v)
}

func (h ApplicationPages) settings(r *http.Request) (a application, etag string, err error) {
	etag, err = h.Pages.API(r).Read(page.Path("/v1/applications/%s", wire.Param(r, "app")), &a)
	return a, etag, err
}

// choices fills in the modes, and the mode of each priority.
func (v *applicationEditView) choices(modes []string, defaults map[string]string) {
	for _, m := range users.Modes {
		v.Modes = append(v.Modes, modeChoice{string(m), slices.Contains(modes, string(m))})
	}
	for _, p := range users.Priorities {
		v.Priorities = append(v.Priorities, priorityChoice{string(p), defaults[string(p)],
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
	a, now, err := h.settings(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	in, err := settingsOf(typed, page.Reader(r).Admin)
	if err == nil {
		err = h.Pages.API(r).IfMatch(typed.Get("etag")).Send(http.MethodPut, page.Path("/v1/applications/%s", a.Name),
			in, nil)
	}
	v := applicationEditView{ETag: typed.Get("etag"), Variables: typed.Get("variables"),
		Required: typed.Get("required_variables"), TitleVariable: typed.Get("title_variable"), Owners: typed.Get("owners"),
		SenderEmail: typed.Get("sender_email"), Sample: typed.Get("sample_context")}
	h.Pages.Finish(rw, r, "The settings are saved.", page.Path("/applications/%s", a.Name), err, func(refusal page.Refusal) {
		v.Refusal, v.ETag = refusal, refusal.Tag(v.ETag, now)
		v.Refusal.Field, _, _ = strings.Cut(refusal.Field, "[") // a list is one field of the form
		modes := typed["modes"]
		if !page.Reader(r).Admin {
			modes = a.Modes
		}
		v.choices(modes, defaultModes(typed))
		h.form(rw, r, refusal.Status, a, v)
	})
}

// settingsOf returns the body of the change. Only administrators send the modes.
func settingsOf(typed url.Values, admin bool) (map[string]any, error) {
	in := map[string]any{"variables": listed(typed.Get("variables")),
		"required_variables": listed(typed.Get("required_variables")), "title_variable": typed.Get("title_variable"), "owners": listed(typed.Get("owners")),
		"sender_email": typed.Get("sender_email"), "default_modes": defaultModes(typed), "sample_context": nil}
	if admin {
		in["modes"] = append([]string{}, typed["modes"]...)
	}
	text := typed.Get("sample_context")
	if text == "" {
		return in, nil
	}
	if err := checkJSON(text); err != nil {
		return in, err
	}
	in["sample_context"] = json.RawMessage(text)
	return in, nil
}

func defaultModes(typed url.Values) map[string]string {
	out := map[string]string{}
	for _, p := range users.Priorities {
		if mode := typed.Get("mode." + string(p)); mode != "" {
			out[string(p)] = mode
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
