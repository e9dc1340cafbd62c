// This file serves the route of /v1 that renders the text of a template that nobody has saved. The text is rendered as
// delivery renders it, with the same limits. Nothing is stored or sent.

package pages

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/intake/sources"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// PreviewApplications reads applications. An application that does not exist is a NotFound fault.
type PreviewApplications interface {
	Describe(ctx context.Context, name string) (applications.Application, error)
}

// Facts reads what a message shows of incidents and plans. Those that do not exist are left out.
type Facts interface {
	Incidents(ctx context.Context, ids []incidents.ID) (map[incidents.ID]messages.IncidentData, error)
	Plans(ctx context.Context, ids []int64) (map[int64]messages.PlanData, error)
}

// PreviewDeps are the parts that the route works on. All are required.
type PreviewDeps struct {
	Applications PreviewApplications
	Facts        Facts
	// Address is the public address of Iris, without a slash at its end.
	Address string
}

// rendering is how many drafts are rendered at once. A draft may use much of a processor and of memory, up to the
// limits of the engine.
const rendering = 2

// Handler returns the handler of POST /v1/templates/preview.
func Handler(d PreviewDeps) routing.Handler {
	slots := make(chan struct{}, rendering)
	return func(w http.ResponseWriter, r *http.Request) error {
		if actor := wire.Actor(r.Context()); actor.UserID == 0 {
			return fault.New(fault.Forbidden, "only people may preview templates")
		}
		draft, err := d.read(w, r)
		if err != nil {
			return err
		}
		select {
		case slots <- struct{}{}:
		case <-r.Context().Done():
			return fault.Wrap(fault.Unavailable, r.Context().Err(), "too many previews are being rendered: try again")
		}
		defer func() { <-slots }()
		p, err := messages.Render(r.Context(), draft)
		if err != nil {
			return err
		}
		return routing.Answer(w, http.StatusOK, previewShow(p, draft))
	}
}

// read reads the draft of a body, and the facts of its message.
func (d PreviewDeps) read(w http.ResponseWriter, r *http.Request) (draft messages.Draft, err error) {
	b, err := jsonbody.ReadKnown(w, r, "name", "application", "mode", "subject", "body", "email_html", "priority",
		"incident", "source", "context")
	if err != nil {
		return draft, err
	}
	actor := wire.Actor(r.Context())
	draft = messages.Draft{Target: actor.Username, AckURL: d.Address + "/a/preview", IncidentURL: d.Address +
		"/incidents/1", Plan: "example plan"}
	for name, into := range map[string]*string{"name": &draft.Template, "subject": &draft.Subject, "body": &draft.Body, "email_html": &draft.EmailHTML} {
		if *into, err = b.Text(name); err != nil {
			return draft, err
		}
	}
	mode, err := b.Required("mode")
	if err != nil {
		return draft, err
	}
	var known bool
	if draft.Mode, known = users.ParseMode(mode); !known {
		return draft, b.Fault("mode", "there is no mode %.40q", mode)
	}
	priority, err := b.Text("priority")
	if err != nil {
		return draft, err
	}
	draft.Priority = users.High
	if priority != "" {
		if draft.Priority, known = users.ParsePriority(priority); !known {
			return draft, b.Fault("priority", "there is no priority %.40q", priority)
		}
	}
	return draft, d.readFacts(r.Context(), b, &draft)
}

// readFacts reads the application, and the incident: a real one, one of an alert source, one with the context of the
// body, or one with the sample context of the application.
func (d PreviewDeps) readFacts(ctx context.Context, b jsonbody.Object, draft *messages.Draft) error {
	name, err := b.Required("application")
	if err != nil {
		return err
	}
	app, err := d.Applications.Describe(ctx, name)
	if err != nil {
		return fault.When(err, fault.NotFound, b.Fault("application", "there is no application %.100q", name))
	}
	given := 0
	for _, member := range []string{"incident", "source", "context"} {
		if b.Given(member) {
			given++
		}
	}
	if given > 1 {
		return b.Fault("context", "give one of incident, source and context")
	}
	data := messages.IncidentData{Context: json.RawMessage(`{}`)}
	switch {
	case b.Given("incident"):
		if data, err = d.incident(ctx, b, draft); err != nil {
			return err
		}
	case b.Given("source"):
		source, err := b.Text("source")
		if err != nil {
			return err
		}
		if data.Context, err = sources.Sample(source); err != nil {
			return fault.When(err, fault.NotFound, b.Fault("source", "there is no alert source %.60q with a sample",
				source))
		}
	case b.Given("context"):
		data.Context = b.Members["context"]
	case app.SampleContext != nil && *app.SampleContext != "":
		data.Context = json.RawMessage(*app.SampleContext)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data.Context, &object); err != nil {
		return b.Fault("context", "context must be an object")
	}
	data.Application, data.TitleVariable = app.Name, app.TitleVariable
	draft.Incident = data
	return nil
}

// incident reads the incident of the body, and the name of its plan.
func (d PreviewDeps) incident(ctx context.Context, b jsonbody.Object, draft *messages.Draft) (data messages.IncidentData, err error) {
	n, ok := jsonbody.ParseWhole(b.Members["incident"])
	if !ok || n < 1 {
		return data, b.Fault("incident", "incident must be the number of an incident")
	}
	id := incidents.ID(n)
	found, err := d.Facts.Incidents(ctx, []incidents.ID{id})
	if err != nil {
		return data, err
	}
	data, ok = found[id]
	if !ok {
		return data, b.Fault("incident", "there is no incident %d", n)
	}
	plans, err := d.Facts.Plans(ctx, []int64{data.PlanID})
	draft.IncidentID, draft.Plan, draft.IncidentURL = id, plans[data.PlanID].Name, fmt.Sprintf("%s/incidents/%d",
		d.Address, n)
	return data, err
}

// preview is a rendered draft on the wire.
type preview struct {
	Subject    string          `json:"subject"`
	Body       string          `json:"body"`
	EmailHTML  *string         `json:"email_html"`
	Slack      *slack          `json:"slack"`
	Characters int             `json:"characters"`
	Segments   int             `json:"segments"`
	Problem    *string         `json:"problem"`
	Errors     []partError     `json:"errors"`
	Context    json.RawMessage `json:"context"`
}

// slack is a message in Slack's markup. custom: body begins with a JSON object of Slack's parts.
type slack struct {
	Subject string `json:"subject"`
	Body    string `json:"body"`
	Custom  bool   `json:"custom"`
}

type partError struct {
	Part    string `json:"part"`
	Line    *int   `json:"line"`
	Column  *int   `json:"column"`
	Message string `json:"message"`
}

func previewShow(p messages.Preview, of messages.Draft) preview {
	out := preview{Subject: p.Subject, Body: p.Body, EmailHTML: orNull(p.EmailHTML), Characters: p.Characters,
		Segments: p.Segments,
		Problem:  orNull(p.Problem), Errors: make([]partError, len(p.Errors)), Context: of.Incident.Context}
	if of.Mode == users.Slack {
		out.Slack = &slack{p.Slack.Subject, p.Slack.Body, p.Slack.Custom}
	}
	for i, e := range p.Errors {
		out.Errors[i] = partError{Part: e.Part, Line: orNull(e.Line), Column: orNull(e.Column), Message: e.Message}
	}
	return out
}

// orNull returns nil for the zero value.
func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
