package pages

import (
	"cmp"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/web/page"
)

// pause pauses or resumes a plan.
func (h Handlers) pause(r *http.Request, o page.Version, typed url.Values) (string, string, error) {
	paused, done := typed.Get("paused") == "true", "The plan is resumed: its incidents page people again."
	if paused {
		done = "The plan is paused: it pages nobody until somebody resumes it."
	}
	_, err := h.Plans.Pause.Do(r.Context(), page.Actor(r), catalog.Pausing{OnePlan: one(o.Name),
		Body: catalog.Pause{Paused: paused}})
	return done, "", err
}

// retire deletes a plan. Its versions stay. A plan that is in use is deleted only with force.
func (h Handlers) retire(r *http.Request, o page.Version, typed url.Values) (string, string, error) {
	_, err := h.Plans.Delete.Do(r.Context(), page.Actor(r), catalog.Removal{OnePlan: one(o.Name),
		Force: typed.Get("force") == "true"})
	return "The plan is retired: no incident can use it. Its versions stay, and you can make one active again.", "", err
}

type testView struct {
	page.Frame
	page.Again
	P      plan
	Trials []catalog.Notification
	// Applications are those for which the templates have texts.
	Applications []page.Option
}

// trials returns the first notification of each priority of the first step.
func (p plan) trials() (out []catalog.Notification) {
	if len(p.Steps) == 0 {
		return nil
	}
	for _, n := range p.Steps[0] {
		if !slices.ContainsFunc(out, func(one catalog.Notification) bool { return one.Priority == n.Priority }) {
			out = append(out, n)
		}
	}
	return out
}

// wording is the text of a template for one application in one mode.
type wording struct {
	Application string `json:"application"`
	Mode        string `json:"mode"`
	Subject     string `json:"subject"`
	Body        string `json:"body"`
	EmailHTML   string `json:"email_html"`
}

// textsOf reads the texts of a template. If they cannot be read, there are none.
func textsOf(api page.API, template string) []wording {
	var found struct {
		Content []wording `json:"content"`
	}
	_ = api.Get(page.Path("/v1/templates/%s", template), &found) // without a template, messages have the built-in text
	return found.Content
}

// askTest says what a test does before it is sent.
func (h Handlers) askTest(rw http.ResponseWriter, r *http.Request) { h.renderTest(rw, r, page.Again{}) }

func (h Handlers) renderTest(rw http.ResponseWriter, r *http.Request, again page.Again) {
	p, err := h.objects().Find(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	view := testView{Frame: h.Pages.Frame(r, "Test "+p.Name, "plans"), Again: again, P: p, Trials: p.trials()}
	for _, n := range view.Trials {
		for _, t := range textsOf(h.Pages.API(r), string(n.Template)) {
			if one := (page.Option{Value: t.Application, Label: t.Application}); !slices.Contains(view.Applications, one) {
				view.Applications = append(view.Applications, one)
			}
		}
	}
	h.Pages.Render(rw, r, again.Status(), "plan-test", view)
}

// test sends the first notification of each priority of the first step to the reader, and to nobody else, in the mode
// that the engine would choose for the typed application. The text is rendered from the template with the sample
// context of that application.
func (h Handlers) test(r *http.Request, o page.Version, typed url.Values) (string, string, error) {
	p, err := h.objects().Read(r, strconv.FormatInt(o.ID, 10))
	for _, n := range p.trials() {
		if err == nil {
			err = h.trial(r, p, n, typed.Get("application"))
		}
	}
	return "The test is on its way to you. Nobody else gets it.", "", err
}

type values map[string]any

func (h Handlers) trial(r *http.Request, p plan, n catalog.Notification, application string) error {
	api, self := h.Pages.API(r), &catalog.Target{Role: "user", Name: page.Reader(r).Name}
	note := fmt.Sprintf("This is a test that %s started. There is no incident, and nobody else was paged. The first step of plan %s pages with priority %s and template %s.",
		api.Reader(), p.Name, n.Priority, cmp.Or(string(n.Template), builtIn))
	message := values{"targets": []*catalog.Target{self}, "subject": fmt.Sprintf("TEST of plan %s, priority %s",
		p.Name, n.Priority), "body": note, "priority": n.Priority}
	if application == "" || n.Template == "" {
		return api.Send(http.MethodPost, "/v1/notifications", message, nil)
	}
	preview, err := h.Plans.Preview.Do(r.Context(), page.Actor(r),
		catalog.PlanPreview{Assume: "no-ack", Applied: operation.Text(application),
			PlanDraft: catalog.PlanDraft{Content: catalog.Content{Steps: [][]catalog.Notification{{{Target: self,
				Priority: n.Priority, Template: n.Template, WaitSeconds: 60}}}}}})
	if err != nil {
		return err
	}
	if len(preview.Simulation.Pages) == 0 {
		return api.Send(http.MethodPost, "/v1/notifications", message, nil)
	}
	mode := preview.Simulation.Pages[0].Mode
	var source, rendered wording
	for _, t := range textsOf(api, string(n.Template)) {
		if t.Mode == mode && strings.EqualFold(t.Application, application) {
			source = t
		}
	}
	err = api.Send(http.MethodPost, "/v1/templates/preview",
		values{"name": n.Template, "application": application, "mode": mode, "priority": n.Priority,
			"subject": source.Subject, "body": source.Body, "email_html": source.EmailHTML}, &rendered)
	if err != nil {
		return err
	}
	delete(message, "priority")
	message["mode"], message["body"] = mode, withoutAnswers(rendered.Body)+"\n\n"+note+" Links in it are examples."
	if subject := withoutAnswers(rendered.Subject); subject != "" {
		message["subject"] = fmt.Sprintf("%s: %s", message["subject"], subject)
	}
	if rendered.EmailHTML != "" {
		message["email_html"] = rendered.EmailHTML + "<p>" + html.EscapeString(note) + " Links in it are examples.</p>"
	}
	return api.Send(http.MethodPost, "/v1/notifications", message, nil)
}

// answer matches a line of a preview that says how to acknowledge the example incident, or has its address.
var answer = regexp.MustCompile(`/a/preview|/incidents/1$|(?i:reply "1 claim")`)

// withoutAnswers removes the links and numbers of the example incident from a preview, so that an answer to the test
// cannot acknowledge the real incident 1.
func withoutAnswers(text string) string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), answer.MatchString)
	return strings.TrimSpace(exampleNumber.ReplaceAllString(strings.Join(lines, "\n"), ""))
}

var exampleNumber = regexp.MustCompile(`^1\b\.? *`)
