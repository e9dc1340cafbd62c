package pages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/signatures"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// number reads a number; 0 = it is none.
func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

// severities are the choices of a severity. none is the label of no choice.
func severities(none string) []page.Option {
	return page.OptionsOr(none, "critical", "error", "warning", "info")
}

type addView struct {
	page.Frame
	Sources      []source // the choice of the type, before the form
	Source       source
	I            integration
	Refusal      page.Refusal
	Severities   []page.Option
	Plans, Names []string // suggestions: plans and applications
}

// newForm shows the types, or with ?type= the form. ?application= and ?plan= fill it in.
func (h Handlers) newForm(rw http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	h.showAdd(rw, r, integration{Type: q.Get("type"), Application: q.Get("application"), Plan: q.Get("plan")},
		page.Refusal{Status: http.StatusOK})
}

func (h Handlers) showAdd(rw http.ResponseWriter, r *http.Request, i integration, refusal page.Refusal) {
	v := addView{I: i, Refusal: refusal, Severities: severities("that of the event, else error")}
	if v.Source = sourceOf(i.Type); v.Source.About == "" {
		v.Sources = offered()
	}
	api := h.Pages.API(r)
	v.Plans, v.Names = api.Names("/v1/plans"), api.Names("/v1/applications")
	if v.I.Application == "" && len(v.Names) == 1 {
		v.I.Application = v.Names[0]
	}
	v.Frame = h.Pages.Frame(r, "Add an integration", "integrations")
	h.Pages.Render(rw, r, refusal.Status, "integration-add", v)
}

// create adds an integration and shows its token, once.
func (h Handlers) create(rw http.ResponseWriter, r *http.Request) {
	form := page.Typed(r)
	i := integration{Type: form.Get("type"), Name: form.Get("name"), Application: form.Get("application"),
		Plan: form.Get("default_plan"), Severity: form.Get("default_severity")}
	made, err := h.made(r, i)
	if err != nil {
		if refusal, ok := h.Pages.Refused(rw, r, err); ok {
			h.showAdd(rw, r, i, refusal)
		}
		return
	}
	h.showToken(rw, r, made, true)
}

// made adds the typed integration. A name in use is an Invalid fault.
func (h Handlers) made(r *http.Request, i integration) (made integration, err error) {
	if i.Name == "" {
		return made, fault.Invalidf("name", "the integration needs a name")
	}
	err = h.Pages.API(r).New().Send(http.MethodPut, i.Path(),
		map[string]any{"type": i.Type, "application": i.Application, "default_plan": i.Plan,
			"default_severity": i.Severity}, &made)
	return made, nameInUse(err, "an integration", i.Name)
}

// nameInUse turns the refusal of a PUT that only creates into an Invalid fault about the field name.
func nameInUse(err error, kind, name string) error {
	if fault.Is(err, fault.Stale) {
		return fault.Invalidf("name", "there is %s named %.100q already: choose another name", kind, name)
	}
	return err
}

type tokenView struct {
	page.Frame
	I     integration
	Setup setup
	New   bool // the integration is new
}

// showToken shows a token that was made. No other page has it.
func (h Handlers) showToken(rw http.ResponseWriter, r *http.Request, i integration, isNew bool) {
	v := tokenView{Frame: h.Pages.Frame(r, i.Name, "integrations"), I: i, Setup: h.setup(i, i.Token), New: isNew}
	h.Pages.Render(rw, r, http.StatusOK, "integration-token", v)
}

// addToken makes a further token and shows it. With the field now, the tokens before it are revoked at once.
func (h Handlers) addToken(rw http.ResponseWriter, r *http.Request) {
	i, _, err := h.read(r)
	api := h.Pages.API(r)
	if err == nil {
		err = api.Send(http.MethodPut, i.Path()+"/token", nil, &i)
	}
	if err == nil && page.Typed(r).Get("now") != "" {
		if err = api.Send(http.MethodDelete, i.Path()+"/token", nil, nil); err == nil {
			i.Tokens = i.Tokens[len(i.Tokens)-1:]
		}
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.showToken(rw, r, i, false)
}

// revokeTokens revokes all tokens except the newest.
func (h Handlers) revokeTokens(rw http.ResponseWriter, r *http.Request) {
	h.act(rw, r, http.MethodDelete, "/token", nil, "The older token is revoked: deliveries with it are refused.")
}

// setSecrets replaces the secrets that check signatures. Empty fields remove them.
func (h Handlers) setSecrets(rw http.ResponseWriter, r *http.Request) {
	secrets := []string{}
	for _, name := range []string{"secret", "second"} {
		if s := r.PostFormValue(name); s != "" {
			secrets = append(secrets, s)
		}
	}
	text := "The secrets are stored. Deliveries without a valid signature are refused from now on."
	if len(secrets) == 0 {
		text = "The secrets are removed. Signatures are not checked any more."
	}
	h.act(rw, r, http.MethodPut, "/secrets", map[string]any{"secrets": secrets}, text)
}

// act changes a part of the integration and returns to its page with a text.
func (h Handlers) act(rw http.ResponseWriter, r *http.Request, method, part string, in any, text string) {
	i := integration{Name: wire.Param(r, "integration")}
	if err := h.Pages.API(r).Send(method, i.Path()+part, in, nil); err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Pages.Done(rw, r, i.Href(), text)
}

// remove deletes the integration.
func (h Handlers) remove(rw http.ResponseWriter, r *http.Request) {
	i := integration{Name: wire.Param(r, "integration")}
	if err := h.Pages.API(r).Send(http.MethodDelete, i.Path(), nil, nil); err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Pages.Done(rw, r, "/integrations",
		fmt.Sprintf("The integration %s is deleted. Deliveries with its tokens are refused from now on; its incidents stay.", i.Name))
}

// settingsView has the typed values as texts, so that a refused form keeps them.
type settingsView struct {
	page.Frame
	Back                       string // address of the page of the integration
	I                          integration
	ETag                       string
	Refusal                    page.Refusal
	Severities                 []page.Option
	Plans                      []string // suggestions
	Rate, Resolve, Close       string
	X                          intake.Expressions
	Labels, Topics             string // one per line
	S                          signatures.Settings
	Mapping, Signature, Amazon bool // which settings the type has
	Payload                    string
	Tried                      *tried
}

// settings shows the form with the stored settings. A mapping is tried on the latest delivery.
func (h Handlers) settings(rw http.ResponseWriter, r *http.Request) {
	i, etag, err := h.editable(r)
	var payloads []payload
	if err == nil {
		payloads, err = h.payloads(r, i)
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v := settingsView{I: i, ETag: etag, Rate: strconv.Itoa(i.Rate), Resolve: page.Period(int64(i.ResolveAfter))}
	if i.CloseAfter != nil {
		v.Close = page.Period(int64(*i.CloseAfter))
	}
	v.X, _ = intake.Parse(i.Settings)
	for _, name := range slices.Sorted(maps.Keys(v.X.Labels)) {
		v.Labels += name + " = " + v.X.Labels[name] + "\n"
	}
	v.S, _ = signatures.Parse(i.Type, i.Settings)
	v.Topics = strings.Join(v.S.Topics, "\n")
	if len(payloads) > 0 {
		v.Payload = payloads[0].Body
	}
	h.showSettings(rw, r, v)
}

func (h Handlers) showSettings(rw http.ResponseWriter, r *http.Request, v settingsView) {
	v.Plans = h.Pages.API(r).Names("/v1/plans")
	v.Severities = severities("that of the event, else error")
	v.Mapping = v.I.Type == intake.Generic || v.I.Type == intake.Email
	v.Signature, v.Amazon = v.I.Type == "grafana", v.I.Type == "sns"
	name := wire.Param(r, "integration")
	v.Frame, v.Back = h.Pages.Frame(r, "Settings of "+name, "integrations"), integration{Name: name}.Href()
	h.Pages.Render(rw, r, max(v.Refusal.Status, http.StatusOK), "integration-settings", v)
}

// saveSettings stores the typed settings. With the field do=try nothing is stored: the form is shown with what the
// payload would do.
func (h Handlers) saveSettings(rw http.ResponseWriter, r *http.Request) {
	i, now, err := h.read(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	form := page.Typed(r)
	v := settingsView{I: i, ETag: form.Get("etag"), Rate: form.Get("rate_per_minute"),
		Resolve: form.Get("resolve_after_seconds"),
		Close:   form.Get("close_after_seconds"), Labels: r.PostFormValue("settings.labels"), Topics: r.PostFormValue("topics"), Payload: r.PostFormValue("payload")}
	v.I.Name, v.I.Plan, v.I.Severity, v.I.Enabled = form.Get("name"), form.Get("default_plan"), form.Get("default_severity"), form.Get("enabled") != ""
	v.X = intake.Expressions{Key: form.Get("settings.key"), Title: form.Get("settings.title"),
		Summary: form.Get("settings.summary"),
		Status:  form.Get("settings.status"), Severity: form.Get("settings.severity"), Link: form.Get("settings.link")}
	v.S = signatures.Settings{SignatureHeader: form.Get("signature_header"),
		TimestampHeader: form.Get("timestamp_header"), Unsigned: form.Get("unsigned") != ""}
	body, err := v.content(i)
	switch {
	case form.Get("do") == "try":
		v.Tried = &tried{Refusal: fault.Public(err)}
		if err == nil {
			*v.Tried, err = h.try(r, i, map[string]any{"payload": v.Payload, "settings": body["settings"]})
		}
		if v.Tried.Refusal != "" || err == nil {
			h.showSettings(rw, r, v)
			return
		}
	case err == nil:
		err = h.Pages.API(r).IfMatch(v.ETag).Send(http.MethodPut, i.Path(), body, &v.I)
	}
	h.Pages.Finish(rw, r, "The settings are stored. They hold for the next delivery.", v.I.Href(), err, func(refusal page.Refusal) {
		if strings.HasPrefix(refusal.Field, "settings.labels") {
			refusal.Field = "settings.labels"
		}
		v.Refusal, v.ETag = refusal, refusal.Tag(v.ETag, now)
		h.showSettings(rw, r, v)
	})
}

// content returns the body of the PUT: the stored integration i with the typed settings.
func (v *settingsView) content(i integration) (map[string]any, error) {
	var err error
	body := i.body()
	body["name"], body["default_plan"], body["default_severity"], body["enabled"] = v.I.Name, v.I.Plan, v.I.Severity, v.I.Enabled
	if body["rate_per_minute"], err = strconv.Atoi(v.Rate); err != nil {
		return nil, fault.Invalidf("rate_per_minute", "%.20q is no whole number", v.Rate)
	}
	if body["resolve_after_seconds"], err = page.Seconds("resolve_after_seconds", v.Resolve); err != nil {
		return nil, err
	}
	delete(body, "close_after_seconds")
	if v.Close != "" {
		if body["close_after_seconds"], err = page.Seconds("close_after_seconds", v.Close); err != nil {
			return nil, err
		}
	}
	switch i.Type {
	case intake.Generic, intake.Email:
		for _, line := range lines(v.Labels) {
			name, source, ok := strings.Cut(line, "=")
			if name = strings.TrimSpace(name); !ok || name == "" {
				return nil, fault.Invalidf("settings.labels", "%.60q is no label: write a name, = and an expression",
					line)
			}
			if v.X.Labels == nil {
				v.X.Labels = map[string]string{}
			}
			v.X.Labels[name] = strings.TrimSpace(source)
		}
		body["settings"] = v.X
	case "grafana", "sns":
		v.S.Topics = lines(v.Topics)
		body["settings"] = v.S
	}
	return body, nil
}

// body is the content of the integration as PUT expects it.
func (i integration) body() map[string]any {
	body := map[string]any{"name": i.Name, "default_plan": i.Plan, "default_severity": i.Severity,
		"rules": append([]any{}, ruleBodies(i)...), "settings": i.Settings,
		"rate_per_minute": i.Rate, "enabled": i.Enabled, "resolve_after_seconds": i.ResolveAfter}
	if i.CloseAfter != nil {
		body["close_after_seconds"] = *i.CloseAfter
	}
	return body
}

// lines returns the lines of a text that have something.
func lines(text string) (out []string) {
	for _, line := range strings.Split(page.Storable(text), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// indented formats the settings of a decoder; "" = there are none.
func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil || b.String() == "{}" {
		return ""
	}
	return b.String()
}
