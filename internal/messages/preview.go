package messages

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/jinja"
	"github.com/iris-oncall/iris/internal/messages/gsm"
	"github.com/iris-oncall/iris/internal/users"
)

// Draft is the text of a template that nobody has saved, and the facts of a message for which it is rendered.
type Draft struct {
	TemplateContent
	Template   string // its name; "" = it has none yet
	Mode       users.Mode
	Priority   users.Priority
	Target     string // name of the recipient
	IncidentID incidents.ID
	Incident   IncidentData
	Plan       string
	// AckURL and IncidentURL are the links of the message.
	AckURL, IncidentURL string
}

// Preview is a rendered draft.
type Preview struct {
	Content
	Errors []PartError
	// Characters and Segments are the length of an SMS as carriers count it; 0 in other modes.
	Characters, Segments int
}

// PartError is an error in one part of a template.
type PartError struct {
	Part         string // subject, body or email_html
	Line, Column int    // from 1; 0 = unknown
	Message      string
}

// previewedMessage is the number of the message that a preview shows.
const previewedMessage = 1

// RenderDraft renders a draft in the same way and with the same limits as delivery. An error of the template is in the result, with its line;
// the content is then the built-in text, as it would be sent. Nothing is stored, and delivery's cache of templates is not used.
func RenderDraft(d Draft) Preview {
	s := &source{
		Request: Request{MessageID: previewedMessage, IncidentID: max(d.IncidentID, 1), PlanID: d.Incident.PlanID, Purpose: Primary, Mode: d.Mode, Priority: d.Priority,
			Target: d.Target, Template: d.Template, AckURL: d.AckURL, IncidentURL: d.IncidentURL},
		incident: d.Incident, plan: PlanData{Name: d.Plan}, application: d.Incident.Application,
		found: Found{Template: true, Application: true, Mode: true, Content: d.TemplateContent},
	}
	if s.incident.CreatedAt.IsZero() {
		s.incident.CreatedAt = time.Now()
	}
	if s.Template == "" {
		s.Template = "draft"
	}
	s.key.Mode = d.Mode
	r := NewRenderer(nil)
	p := Preview{Content: r.one(s), Errors: r.partErrors(s, d.TemplateContent)}
	if d.Mode == users.SMS {
		p.Segments, p.Characters = gsm.Count(p.Body)
	}
	return p
}

// partErrors renders each part by itself, so that the errors of all parts are found.
func (r *Renderer) partErrors(s *source, content TemplateContent) []PartError {
	vars, err := variables(s)
	if err != nil {
		return []PartError{{Part: "context", Message: fmt.Sprintf("the context cannot be read: %v", err)}}
	}
	var out []PartError
	for _, part := range []struct{ name, wire, src string }{
		{partSubject, "subject", content.Subject}, {partBody, "body", content.Body}, {partHTML, "email_html", content.EmailHTML},
	} {
		if part.src == "" {
			continue
		}
		_, _, err := r.templates.render(part.src, s.marks(part.name), vars)
		if err != nil {
			out = append(out, partError(part.wire, part.src, err))
		}
	}
	return out
}

func partError(part, src string, err error) PartError {
	e := PartError{Part: part, Message: shortError(err)}
	var f *jinja.Error
	if errors.As(err, &f) && f.Line > 0 {
		e.Line, e.Column = f.Line, f.Column
		e.Message = strings.TrimSuffix(e.Message, fmt.Sprintf(" (line %d)", f.Line))
		if e.Column == 0 {
			e.Column = columnOf(src, f.Line, f.Message)
		}
	}
	return e
}

// columnOf finds the column of the name that the message of an error while rendering quotes; 0 = unknown.
func columnOf(src string, line int, message string) int {
	lines := strings.Split(strings.ReplaceAll(src, "\r\n", "\n"), "\n")
	_, rest, _ := strings.Cut(message, "'")
	name, _, quoted := strings.Cut(rest, "'")
	if !quoted || name == "" || line > len(lines) {
		return 0
	}
	at := strings.Index(lines[line-1], name)
	if at < 0 {
		return 0
	}
	return utf8.RuneCountInString(lines[line-1][:at]) + 1
}
