package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// PreviewTemplate renders a text that nobody has saved, as delivery renders it, with the same limits.
var PreviewTemplate = operation.Define[TemplateDraft, TemplatePreview](operation.Doc{Name: "template.preview",
	Method: http.MethodPost, Path: "/v1/templates/preview", Needs: operation.Member, Rule: operation.PeopleOnly,
	Status: http.StatusOK, Summary: "Render a text of a template that nobody has saved", Errors: []int{409, 422},
	Note: "Nothing is stored or sent. Errors of the template are in the answer, with their lines."})

// TemplateDraft is a text of a template that nobody has saved, and the incident that it is rendered for: one of
// incident, source and context, or the sample context of the application.
type TemplateDraft struct {
	Application string                              `json:"application" minLength:"1"`
	Mode        users.Mode                          `json:"mode" minLength:"1"`
	Name        operation.Text                      `json:"name" required:"false" doc:"The name of the template, for the variable iris.template."`
	Subject     operation.Text                      `json:"subject" required:"false"`
	Plain       operation.Text                      `json:"body" required:"false"`
	EmailHTML   operation.Text                      `json:"email_html" required:"false"`
	Priority    operation.Text                      `json:"priority" required:"false" doc:"The standard is high."`
	Incident    incidents.ID                        `json:"incident,omitempty" minimum:"1" doc:"The number of an incident, whose context is used."`
	Source      operation.Text                      `json:"source" required:"false" doc:"Render with a typical alert of this type of integration, such as alertmanager."`
	Context     operation.Optional[json.RawMessage] `json:"context,omitzero" doc:"An object."`
}

// Check implements operation.Checker.
func (d TemplateDraft) Check() error {
	var wrong fault.Wrong
	_, known := users.ParseMode(string(d.Mode))
	wrong.If(!known, "mode", "there is no mode %.40q", string(d.Mode))
	_, known = users.ParsePriority(string(d.Priority))
	wrong.If(d.Priority != "" && !known, "priority", "there is no priority %.40q", string(d.Priority))
	given := 0
	for _, is := range []bool{d.Incident != 0, d.Source != "", d.Context.Value != nil} {
		if is {
			given++
		}
	}
	wrong.If(given > 1, "context", "give one of incident, source and context")
	wrong.If(d.Context.Value != nil && !isObject(*d.Context.Value), "context", "context must be an object")
	return wrong.Err()
}

func isObject(raw json.RawMessage) bool {
	var object map[string]json.RawMessage
	return json.Unmarshal(raw, &object) == nil
}

// TemplatePreview is what delivery would send. Links and the number of the message are examples.
type TemplatePreview struct {
	Subject    string          `json:"subject"`
	Body       string          `json:"body" doc:"Of an SMS or a call the whole text."`
	EmailHTML  operation.Text  `json:"email_html"`
	Slack      *SlackPreview   `json:"slack" doc:"In the mode slack; otherwise null."`
	Characters int             `json:"characters" doc:"Of an SMS as carriers count them."`
	Segments   int             `json:"segments" doc:"Of an SMS."`
	Problem    operation.Text  `json:"problem" doc:"Why the built-in text is used."`
	Errors     []TemplateError `json:"errors" doc:"Errors of the draft, each with its part and place."`
	Context    json.RawMessage `json:"context" doc:"The context that was used."`
}

// SlackPreview is a message in Slack's markup.
type SlackPreview struct {
	_       struct{} `nullable:"true"`
	Subject string   `json:"subject"`
	Body    string   `json:"body"`
	Custom  bool     `json:"custom" doc:"The body begins with a JSON object of Slack's parts."`
}

// TemplateError is an error in one part of a template.
type TemplateError struct {
	Part    string `json:"part" enum:"subject,body,email_html,context"`
	Line    *int   `json:"line" doc:"From 1; null = unknown."`
	Column  *int   `json:"column" doc:"In characters from 1; null = unknown."`
	Message string `json:"message"`
}

// Drafts is what drafts are rendered with.
type Drafts struct {
	// Application reads an application. One that does not exist is a NotFound fault.
	Application func(ctx context.Context, name string) (applications.Application, error)
	Facts       Facts
	// Sample returns the context of a typical alert. An unknown source is a NotFound fault.
	Sample func(source string) (json.RawMessage, error)
	// Address is the public address of Iris, without a slash at its end.
	Address string
}

// Facts reads what a message shows of incidents and plans. Those that do not exist are left out.
type Facts interface {
	Incidents(ctx context.Context, ids []incidents.ID) (map[incidents.ID]messages.IncidentData, error)
	Plans(ctx context.Context, ids []int64) (map[int64]messages.PlanData, error)
}

// rendering is how many drafts are rendered at once. A draft may use much of a processor and of memory, up to the
// limits of the engine.
const rendering = 2

func (t *Templates) preview(ctx context.Context, by operation.Actor, d TemplateDraft) (out TemplatePreview, err error) {
	if by.Person == 0 {
		return out, fault.New(fault.Forbidden, "only people may preview templates")
	}
	draft, err := t.deps.Drafts.draft(ctx, by, d)
	if err != nil {
		return out, err
	}
	select {
	case t.slots <- struct{}{}:
	case <-ctx.Done():
		return out, fault.Wrap(fault.Unavailable, ctx.Err(), "too many previews are being rendered: try again")
	}
	defer func() { <-t.slots }()
	p, err := messages.Render(ctx, draft)
	if err != nil {
		return out, err
	}
	out = TemplatePreview{Subject: p.Subject, Body: p.Body, EmailHTML: operation.Text(p.EmailHTML),
		Characters: p.Characters, Segments: p.Segments, Problem: operation.Text(p.Problem),
		Errors: make([]TemplateError, len(p.Errors)), Context: draft.Incident.Context}
	if draft.Mode == users.Slack {
		out.Slack = &SlackPreview{Subject: p.Slack.Subject, Body: p.Slack.Body, Custom: p.Slack.Custom}
	}
	known := func(n int) *int {
		if n == 0 {
			return nil
		}
		return &n
	}
	for i, e := range p.Errors {
		out.Errors[i] = TemplateError{e.Part, known(e.Line), known(e.Column), e.Message}
	}
	return out, nil
}

// draft returns a draft with the facts of its message. Its incident is a real one, one of an alert source, one with the
// context of the request, or one with the sample context of the application.
func (d Drafts) draft(ctx context.Context, by operation.Actor, in TemplateDraft) (out messages.Draft, err error) {
	out = messages.Draft{Template: string(in.Name), Target: by.Name, Priority: users.High,
		TemplateContent: messages.TemplateContent{Subject: string(in.Subject), Body: string(in.Plain),
			EmailHTML: string(in.EmailHTML)},
		AckURL: d.Address + "/a/preview", IncidentURL: d.Address + "/incidents/1", Plan: "example plan"}
	out.Mode, _ = users.ParseMode(string(in.Mode)) // see Check
	if in.Priority != "" {
		out.Priority, _ = users.ParsePriority(string(in.Priority))
	}
	app, err := d.Application(ctx, in.Application)
	if err != nil {
		return out, fault.When(err, fault.NotFound, fault.Invalidf("application", "there is no application %.100q",
			in.Application))
	}
	data := messages.IncidentData{Context: json.RawMessage(`{}`)}
	switch {
	case in.Incident != 0:
		data, err = d.incident(ctx, in.Incident, &out)
	case in.Source != "":
		data.Context, err = d.Sample(string(in.Source))
		err = fault.When(err, fault.NotFound, fault.Invalidf("source", "there is no alert source %.60q with a sample",
			string(in.Source)))
	case in.Context.Value != nil:
		data.Context = *in.Context.Value
	case app.SampleContext != nil && *app.SampleContext != "":
		data.Context = json.RawMessage(*app.SampleContext)
	}
	if err == nil && !isObject(data.Context) {
		err = fault.Invalidf("context", "context must be an object")
	}
	data.Application, data.TitleVariable = app.Name, app.TitleVariable
	out.Incident = data
	return out, err
}

// incident reads an incident, and the name of its plan.
func (d Drafts) incident(ctx context.Context, id incidents.ID, draft *messages.Draft) (data messages.IncidentData, err error) {
	found, err := d.Facts.Incidents(ctx, []incidents.ID{id})
	if err != nil {
		return data, err
	}
	data, ok := found[id]
	if !ok {
		return data, fault.Invalidf("incident", "there is no incident %d", id)
	}
	plans, err := d.Facts.Plans(ctx, []int64{data.PlanID})
	draft.IncidentID, draft.Plan, draft.IncidentURL = id, plans[data.PlanID].Name,
		fmt.Sprintf("%s/incidents/%d", d.Address, id)
	return data, err
}
