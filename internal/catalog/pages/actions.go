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
	"github.com/iris-oncall/iris/internal/notifications"
	"github.com/iris-oncall/iris/internal/users"
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

// textsOf reads the texts of a template. If they cannot be read, there are none: messages have the built-in text.
func (h Handlers) textsOf(r *http.Request, template operation.Text) []catalog.Text {
	found, _ := h.Templates.Get.Do(r.Context(), page.Actor(r), templateOne(string(template)))
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
		for _, t := range h.textsOf(r, n.Template) {
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

func (h Handlers) trial(r *http.Request, p plan, n catalog.Notification, application string) error {
	ctx, by, reader := r.Context(), page.Actor(r), page.Reader(r).Name
	note := fmt.Sprintf("This is a test that %s started. There is no incident, and nobody else was paged. The first step of plan %s pages with priority %s and template %s.",
		reader, p.Name, n.Priority, cmp.Or(string(n.Template), builtIn))
	message := notifications.Draft{Targets: []notifications.Target{{Role: "user", Name: reader}},
		Subject:  fmt.Sprintf("TEST of plan %s, priority %s", p.Name, n.Priority),
		Text:     operation.Optional[string]{Given: true, Value: &note},
		Priority: operation.Text(n.Priority)}
	send := func() error {
		_, err := h.Notifications.Create.Do(ctx, by, message)
		return err
	}
	if application == "" || n.Template == "" {
		return send()
	}
	preview, err := h.Plans.Preview.Do(ctx, by,
		catalog.PlanPreview{Assume: "no-ack", Applied: operation.Text(application),
			PlanDraft: catalog.PlanDraft{Content: catalog.Content{Steps: [][]catalog.Notification{{{
				Target: &catalog.Target{Role: "user", Name: reader}, Priority: n.Priority, Template: n.Template, WaitSeconds: 60}}}}}})
	if err != nil {
		return err
	}
	if len(preview.Simulation.Pages) == 0 {
		return send()
	}
	source := catalog.Text{Mode: users.Mode(preview.Simulation.Pages[0].Mode)}
	for _, t := range h.textsOf(r, n.Template) {
		if t.Mode == source.Mode && strings.EqualFold(t.Application, application) {
			source = t
		}
	}
	draft := draftOf(string(n.Template), application, source)
	draft.Priority = operation.Text(n.Priority)
	rendered, err := h.Templates.Preview.Do(ctx, by, draft)
	if err != nil {
		return err
	}
	text := withoutAnswers(rendered.Body) + "\n\n" + note + " Links in it are examples."
	message.Priority, message.Mode, message.Text.Value = "", operation.Text(source.Mode), &text
	if subject := withoutAnswers(rendered.Subject); subject != "" {
		message.Subject += ": " + subject
	}
	if rendered.EmailHTML != "" {
		message.EmailHTML = rendered.EmailHTML + operation.Text("<p>"+html.EscapeString(note)+" Links in it are examples.</p>")
	}
	return send()
}

// answer matches a line of a preview that says how to acknowledge the example incident, or has its address.
var answer = regexp.MustCompile(`/a/preview|/incidents/1$|(?i:reply "1 ack")`)

// withoutAnswers removes the links and numbers of the example incident from a preview, so that an answer to the test
// cannot acknowledge the real incident 1.
func withoutAnswers(text string) string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), answer.MatchString)
	return strings.TrimSpace(exampleNumber.ReplaceAllString(strings.Join(lines, "\n"), ""))
}

var exampleNumber = regexp.MustCompile(`^1\b\.? *`)
