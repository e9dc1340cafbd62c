package pages

import (
	"cmp"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/escalation/simulation"
	"github.com/iris-oncall/iris/internal/web/page"
)

type values map[string]any

// pause pauses or resumes a plan.
func pause(api page.API, o page.Version, typed url.Values) (string, string, error) {
	paused, done := typed.Get("paused") == "true", "The plan is resumed: its incidents page people again."
	if paused {
		done = "The plan is paused: it pages nobody until somebody resumes it."
	}
	return done, "", api.Send(http.MethodPut, page.Path("/v1/plans/%s/paused", o.Name), values{"paused": paused}, nil)
}

// retire deletes a plan. Its versions stay. A plan that is in use is deleted only with force.
func retire(api page.API, o page.Version, typed url.Values) (string, string, error) {
	path := page.Path("/v1/plans/%s", o.Name)
	if typed.Get("force") == "true" {
		path += "?force=true"
	}
	return "The plan is retired: no incident can use it. Its versions stay, and you can make one active again.", "", api.Send(http.MethodDelete, path, nil, nil)
}

type testView struct {
	page.Frame
	page.Again
	P      plan
	Trials []notification
	// Applications are those for which the templates have texts.
	Applications []page.Option
}

// trials returns the first notification of each priority of the first step.
func (p plan) trials() (out []notification) {
	if len(p.Steps) == 0 {
		return nil
	}
	for _, n := range p.Steps[0] {
		if !slices.ContainsFunc(out, func(one notification) bool { return one.Priority == n.Priority }) {
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
	p, err := h.find(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	view := testView{Frame: h.Pages.Frame(r, "Test "+p.Name, "plans"), Again: again, P: p, Trials: p.trials()}
	for _, n := range view.Trials {
		for _, t := range textsOf(h.Pages.API(r), n.Template) {
			if one := (page.Option{Value: t.Application, Label: t.Application}); !slices.Contains(view.Applications, one) {
				view.Applications = append(view.Applications, one)
			}
		}
	}
	h.Pages.Render(rw, r, again.Status(), "plan-test", view)
}

// test sends the first notification of each priority of the first step to the reader, and to nobody else, in the mode that the engine would choose
// for the typed application. The text is rendered from the template with the sample context of that application.
func test(api page.API, o page.Version, typed url.Values) (string, string, error) {
	p, err := page.Find[plan](api, "plans", fmt.Sprint(o.ID))
	for _, n := range p.trials() {
		if err == nil {
			err = trial(api, p, n, typed.Get("application"))
		}
	}
	return "The test is on its way to you. Nobody else gets it.", "", err
}

func trial(api page.API, p plan, n notification, application string) error {
	note := fmt.Sprintf("This is a test that %s started. There is no incident, and nobody else was paged. The first step of plan %s pages with priority %s and template %s.",
		api.Reader(), p.Name, n.Priority, cmp.Or(n.Template, builtIn))
	message := values{"targets": []target{{"user", api.Reader()}}, "subject": fmt.Sprintf("TEST of plan %s, priority %s", p.Name, n.Priority), "body": note, "priority": n.Priority}
	if application == "" || n.Template == "" {
		return api.Send(http.MethodPost, "/v1/notifications", message, nil)
	}
	draft := values{"name": "test", "application": application, "assume": "no-ack",
		"steps": [][]values{{{"target": target{"user", api.Reader()}, "priority": n.Priority, "template": n.Template, "wait_seconds": 60}}}}
	var preview struct {
		Simulation simulation.Report `json:"simulation"`
	}
	if err := api.Send(http.MethodPost, "/v1/plans/preview", draft, &preview); err != nil {
		return err
	}
	if len(preview.Simulation.Pages) == 0 {
		return api.Send(http.MethodPost, "/v1/notifications", message, nil)
	}
	mode := preview.Simulation.Pages[0].Mode
	var source, rendered wording
	for _, t := range textsOf(api, n.Template) {
		if t.Mode == mode && strings.EqualFold(t.Application, application) {
			source = t
		}
	}
	err := api.Send(http.MethodPost, "/v1/templates/preview", values{"name": n.Template, "application": application, "mode": mode, "priority": n.Priority,
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

// withoutAnswers removes the links and numbers of the example incident from a preview, so that an answer to the test cannot acknowledge the
// real incident 1.
func withoutAnswers(text string) string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), answer.MatchString)
	return strings.TrimSpace(exampleNumber.ReplaceAllString(strings.Join(lines, "\n"), ""))
}

var exampleNumber = regexp.MustCompile(`^1\b\.? *`)
