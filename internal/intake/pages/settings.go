package pages

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	pagescatalog "github.com/iris-oncall/iris/internal/catalog/pages"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/integrations"
	"github.com/iris-oncall/iris/internal/intake/signatures"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/web/page"
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
	Senders      []source // that a recipe knows by their webhooks
	Mails        []source // the same by their mails
	Recipe       string   // the chosen one
	Text         string   // the reader's search for a sender
	Source       source
	I            integrations.Content
	Refusal      page.Refusal
	Severities   []page.Option
	Plans, Names []string // suggestions: plans and applications
}

// newForm shows the types, or with ?type= the form. ?application= and ?plan= fill it in.
func (h Handlers) newForm(rw http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	h.showAdd(rw, r, integrations.Content{Type: operation.Text(q.Get("type")),
		Application: operation.Text(q.Get("application")), DefaultPlan: operation.Text(q.Get("plan"))}, q.Get("recipe"),
		page.Refusal{Status: http.StatusOK})
}

func (h Handlers) showAdd(rw http.ResponseWriter, r *http.Request, i integrations.Content, recipe string, refusal page.Refusal) {
	v := addView{I: i, Recipe: page.Storable(recipe), Refusal: refusal, Severities: severities("that of the event, else error")}
	if v.Source = h.source(r, string(i.Type), recipe); v.Source.About == "" {
		v.Text = page.Storable(strings.TrimSpace(r.URL.Query().Get("text")))
		v.Sources, v.Senders, v.Mails = matching(offered(), v.Text), matching(h.bySender(r, intake.Generic), v.Text),
			matching(h.bySender(r, intake.Email), v.Text)
	}
	v.Plans, v.Names = pagescatalog.PlanNames(r, h.Plans), pagescatalog.ApplicationNames(r, h.Applications)
	if v.I.Application == "" && len(v.Names) == 1 {
		v.I.Application = operation.Text(v.Names[0])
	}
	v.Frame = h.Pages.Frame(r, "Add an integration", "integrations")
	h.Pages.Render(rw, r, refusal.Status, "integration-add", v)
}

// create adds an integration and shows its token, once.
func (h Handlers) create(rw http.ResponseWriter, r *http.Request) {
	field := func(name string) operation.Text { return operation.Text(page.Typed(r).Get(name)) }
	i := integrations.Content{Type: field("type"), Name: field("name"), Application: field("application"),
		DefaultPlan: field("default_plan"), DefaultSeverity: field("default_severity")}
	recipe := page.Typed(r).Get("recipe")
	if recipe != "" {
		i.Settings, _ = json.Marshal(intake.Expressions{Recipe: recipe}) // a text is never refused
	}
	made, err := h.made(r, i)
	if err != nil {
		if refusal, ok := h.Pages.Refused(rw, r, err); ok {
			h.showAdd(rw, r, i, recipe, refusal)
		}
		return
	}
	h.showToken(rw, r, made, true)
}

// made adds the typed integration. A name in use is an Invalid fault.
func (h Handlers) made(r *http.Request, i integrations.Content) (integration, error) {
	name := string(i.Name)
	if name == "" {
		return integration{}, fault.Invalidf("name", "the integration needs a name")
	}
	made, err := h.Integrations.Replace.Do(r.Context(), page.Actor(r), integrations.Edit{
		One: integrations.One{Integration: name}, State: operation.State{IfNoneMatch: "*"}, Body: i})
	return integration{made.Integration}, nameInUse(err, "an integration", name)
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
	v := tokenView{Frame: h.Pages.Frame(r, i.Name, "integrations"), I: i, Setup: h.setup(h.source(r, i.Type, i.recipe()), i.Token), New: isNew}
	h.Pages.Render(rw, r, http.StatusOK, "integration-token", v)
}

// addToken makes a further token and shows it. With the field now, the tokens before it are revoked at once.
func (h Handlers) addToken(rw http.ResponseWriter, r *http.Request) {
	in := integrations.Change{One: oneOf(r)}
	i, err := h.Integrations.AddToken.Do(r.Context(), page.Actor(r), in)
	if err == nil && page.Typed(r).Get("now") != "" {
		if _, err = h.Integrations.DropTokens.Do(r.Context(), page.Actor(r), in); err == nil {
			i.Tokens = i.Tokens[len(i.Tokens)-1:]
		}
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.showToken(rw, r, integration{i}, false)
}

// revokeTokens revokes all tokens except the newest.
func (h Handlers) revokeTokens(rw http.ResponseWriter, r *http.Request) {
	_, err := h.Integrations.DropTokens.Do(r.Context(), page.Actor(r), integrations.Change{One: oneOf(r)})
	h.acted(rw, r, err, "The older token is revoked: deliveries with it are refused.")
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
	_, err := h.Integrations.SetSecrets.Do(r.Context(), page.Actor(r), integrations.NewSecrets{One: oneOf(r),
		Body: integrations.Secrets{Secrets: secrets}})
	h.acted(rw, r, err, text)
}

// acted answers a form that changed a part of the integration: with its page and a text, or with the error.
func (h Handlers) acted(rw http.ResponseWriter, r *http.Request, err error, text string) {
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Pages.Done(rw, r, href(oneOf(r).Integration), text)
}

// remove deletes the integration.
func (h Handlers) remove(rw http.ResponseWriter, r *http.Request) {
	one := oneOf(r)
	if _, err := h.Integrations.Delete.Do(r.Context(), page.Actor(r), integrations.Change{One: one}); err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Pages.Done(rw, r, "/integrations",
		fmt.Sprintf("The integration %s is deleted. Deliveries with its tokens are refused from now on; its incidents stay.", one.Integration))
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
	Recipes                    []page.Option
	Payload                    string
	Tried                      *tried
}

// settings shows the form with the stored settings. A mapping is tried on the latest delivery.
func (h Handlers) settings(rw http.ResponseWriter, r *http.Request) {
	i, err := h.editable(r)
	var payloads []payload
	if err == nil {
		payloads, err = h.payloads(r, i)
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v := settingsView{I: i, ETag: page.ETag(i), Rate: strconv.Itoa(i.RatePerMinute), Resolve: page.Period(i.ResolveAfter)}
	if i.CloseAfter != nil {
		v.Close = page.Period(*i.CloseAfter)
	}
	own, others := intake.Split(i.Settings)
	v.X, _ = intake.Parse(own)
	for _, name := range slices.Sorted(maps.Keys(v.X.Labels)) {
		v.Labels += name + " = " + v.X.Labels[name] + "\n"
	}
	v.S, _ = signatures.Parse(i.Type, others)
	v.Topics = strings.Join(v.S.Topics, "\n")
	if len(payloads) > 0 {
		v.Payload = payloads[0].Body
	}
	h.showSettings(rw, r, v)
}

func (h Handlers) showSettings(rw http.ResponseWriter, r *http.Request, v settingsView) {
	v.Plans = pagescatalog.PlanNames(r, h.Plans)
	v.Severities = severities("that of the event, else error")
	v.Mapping = intake.HasExpressions(v.I.Type)
	if v.Mapping {
		v.Recipes = []page.Option{{Label: "the one that knows a delivery, if there is no mapping"},
			{Value: intake.NoRecipe, Label: "none"}}
		for _, one := range h.recipes(r) {
			if v.I.Type == intake.Email && one.Mail || v.I.Type != intake.Email && one.Webhook {
				v.Recipes = append(v.Recipes, page.Option{Value: one.Name, Label: one.Label})
			}
		}
	}
	v.Signature, v.Amazon = v.I.Type == "grafana", v.I.Type == "sns"
	name := oneOf(r).Integration
	v.Frame, v.Back = h.Pages.Frame(r, "Settings of "+name, "integrations"), href(name)
	h.Pages.Render(rw, r, max(v.Refusal.Status, http.StatusOK), "integration-settings", v)
}

// saveSettings stores the typed settings. With the field do=try nothing is stored: the form is shown with what the
// payload would do.
func (h Handlers) saveSettings(rw http.ResponseWriter, r *http.Request) {
	i, err := h.read(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	form := page.Typed(r)
	v := settingsView{I: i, ETag: form.Get("etag"), Rate: form.Get("rate_per_minute"),
		Resolve: form.Get("resolve_after_seconds"),
		Close:   form.Get("close_after_seconds"), Labels: r.PostFormValue("settings.labels"), Topics: r.PostFormValue("topics"), Payload: r.PostFormValue("payload")}
	v.I.Name, v.I.Enabled = form.Get("name"), form.Get("enabled") != ""
	v.I.DefaultPlan, v.I.DefaultSeverity = operation.Text(form.Get("default_plan")), operation.Text(form.Get("default_severity"))
	v.X = intake.Expressions{Key: form.Get("settings.key"), Title: form.Get("settings.title"),
		Summary: form.Get("settings.summary"),
		Recipe:  form.Get("settings.recipe"), Ignore: form.Get("settings.ignore"),
		Status: form.Get("settings.status"), Severity: form.Get("settings.severity"), Link: form.Get("settings.link")}
	v.S = signatures.Settings{SignatureHeader: form.Get("signature_header"),
		TimestampHeader: form.Get("timestamp_header"), Unsigned: form.Get("unsigned") != ""}
	body, err := v.content(i)
	switch {
	case form.Get("do") == "try":
		v.Tried = &tried{Refusal: fault.Public(err)}
		if err == nil {
			*v.Tried, err = h.try(r, integrations.Delivery{Payload: typedPayload(v.Payload), Settings: body.Settings})
		}
		if v.Tried.Refusal != "" || err == nil {
			h.showSettings(rw, r, v)
			return
		}
	case err == nil:
		var stored integrations.StoredIntegration
		stored, err = h.Integrations.Replace.Do(r.Context(), page.Actor(r),
			integrations.Edit{One: oneOf(r), State: operation.State{IfMatch: v.ETag}, Body: body})
		if err == nil {
			v.I.Name = stored.Name
		}
	}
	h.Pages.Finish(rw, r, "The settings are stored. They hold for the next delivery.", v.I.Href(), err, func(refusal page.Refusal) {
		if strings.HasPrefix(refusal.Field, "settings.labels") {
			refusal.Field = "settings.labels"
		}
		v.Refusal, v.ETag = refusal, refusal.Tag(v.ETag, page.ETag(i))
		h.showSettings(rw, r, v)
	})
}

// content returns the content of the stored integration i with the typed settings.
func (v *settingsView) content(i integration) (c integrations.Content, err error) {
	c = i.content()
	c.Name, c.DefaultPlan, c.DefaultSeverity = operation.Text(v.I.Name), v.I.DefaultPlan, v.I.DefaultSeverity
	c.Enabled, c.CloseAfter = &v.I.Enabled, nil
	if c.RatePerMinute, err = strconv.Atoi(v.Rate); err != nil {
		return c, fault.Invalidf("rate_per_minute", "%.20q is no whole number", v.Rate)
	}
	if c.ResolveAfter, err = page.Seconds("resolve_after_seconds", v.Resolve); err != nil {
		return c, err
	}
	if v.Close != "" {
		after, err := page.Seconds("close_after_seconds", v.Close)
		if err != nil {
			return c, err
		}
		c.CloseAfter = &after
	}
	settings := map[string]any{}
	if intake.HasExpressions(i.Type) {
		for _, line := range lines(v.Labels) {
			name, source, ok := strings.Cut(line, "=")
			if name = strings.TrimSpace(name); !ok || name == "" {
				return c, fault.Invalidf("settings.labels", "%.60q is no label: write a name, = and an expression",
					line)
			}
			if v.X.Labels == nil {
				v.X.Labels = map[string]string{}
			}
			v.X.Labels[name] = strings.TrimSpace(source)
		}
		err = errors.Join(err, merge(settings, v.X))
	}
	if signatures.HasSettings(i.Type) {
		v.S.Topics = lines(v.Topics)
		err = errors.Join(err, merge(settings, v.S))
	}
	if len(settings) > 0 || len(i.Settings) > 0 {
		c.Settings, _ = json.Marshal(settings) // texts are never refused
	}
	return c, err
}

// merge adds the members of a value to others.
func merge(into map[string]any, value any) error {
	raw, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(raw, &into)
	}
	return err
}

// content is the content of the integration.
func (i integration) content() integrations.Content {
	return integrations.Content{Name: operation.Text(i.Name), DefaultPlan: i.DefaultPlan,
		DefaultSeverity: i.DefaultSeverity, Rules: i.Rules, Settings: i.Settings, RatePerMinute: i.RatePerMinute,
		Enabled: &i.Enabled, ResolveAfter: i.ResolveAfter, CloseAfter: i.CloseAfter}
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
