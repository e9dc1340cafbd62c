package messages

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/jinja"
)

// timeLayout is the format of instants in templates: UTC, to the second.
const timeLayout = "2006-01-02 15:04:05"

// Variables are the variables of the template of a message about an incident.
func Variables(q Request, about IncidentData, plan PlanData) (jinja.Vars, error) {
	return variables(&source{Request: q, incident: about, plan: plan, application: about.Application})
}

// variables are the variables of a template: the context's keys, and iris.
func variables(s *source) (jinja.Vars, error) {
	context := s.incident.Context
	if s.outOfBand() {
		context = s.notice.Context
	}
	vars, err := jinja.DecodeVars(context)
	if err != nil {
		return jinja.Vars{}, err
	}
	vars.Set("iris", s.iris())
	return vars, nil
}

// iris is the variable of that name: empty for out-of-band messages, short for tracking messages.
func (s *source) iris() []jinja.Field {
	if s.outOfBand() {
		return nil
	}
	created := s.incident.CreatedAt.UTC().Format(timeLayout)
	if s.Purpose == TrackingMsg {
		return []jinja.Field{
			{Name: "incident_id", Value: int64(s.IncidentID)}, {Name: "plan", Value: s.plan.Name},
			{Name: "plan_id", Value: s.PlanID}, {Name: "application", Value: s.application},
			{Name: "incident_created", Value: created}, {Name: "incident_url", Value: s.IncidentURL},
		}
	}
	return []jinja.Field{
		{Name: "message_id", Value: int64(s.MessageID)}, {Name: "target", Value: s.Target},
		{Name: "priority", Value: string(s.Priority)}, {Name: "priority_id", Value: priorityID(s.Priority)},
		{Name: "application", Value: s.application}, {Name: "plan", Value: s.plan.Name}, {Name: "plan_id",
			Value: s.PlanID},
		{Name: "incident_id", Value: int64(s.IncidentID)}, {Name: "incident_created", Value: created},
		{Name: "title", Value: s.title()}, {Name: "template", Value: s.Template}, {Name: "dynamic_target",
			Value: s.dynamic()}, {Name: "body", Value: s.Note},
		{Name: "owner", Value: s.incident.Owner}, {Name: "ack_url", Value: s.AckURL}, {Name: "incident_url",
			Value: s.IncidentURL},
	}
}

func (s *source) dynamic() bool {
	return slices.Contains(s.plan.Dynamic, StepPosition{s.Step, s.Position})
}

// priorityID is the number of a priority on the wire; nil without a priority.
func priorityID(p users.Priority) any {
	if i := slices.Index(users.Priorities, p); i >= 0 {
		return int64(i + 1)
	}
	return nil
}

// trackingText is a plan's tracking template for one application.
type trackingText struct {
	Subject string `json:"email_subject"`
	Text    string `json:"email_text"`
	HTML    string `json:"email_html"`
	Body    string `json:"body"`
}

// tracking renders the plan's tracking template.
func (r *Renderer) tracking(s *source) rendered {
	var byApplication map[string]json.RawMessage
	if err := json.Unmarshal(s.plan.Tracking, &byApplication); err != nil {
		return builtIn(s, "the plan's tracking template cannot be read")
	}
	for name, raw := range byApplication {
		if !strings.EqualFold(name, s.application) {
			continue
		}
		var w trackingText
		if err := json.Unmarshal(raw, &w); err != nil {
			return builtIn(s, "the plan's tracking template cannot be read")
		}
		content := TemplateContent{Subject: w.Subject, Body: w.Text, EmailHTML: w.HTML}
		if s.Mode != users.Email || content.Body == "" {
			content.Body = w.Body
		}
		return r.parts(s, content, "the plan's tracking template")
	}
	return builtIn(s, "the plan's tracking template has no text for application "+s.application)
}
