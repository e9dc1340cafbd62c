// This file renders texts of templates that nobody has saved, as delivery would. The preview of /v1 calls it. It stores
// and sends nothing.

package messages

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/jinja"
)

// Draft is the text of a template, and the facts of a message for which it is rendered.
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
	Part         string // subject, body, email_html, or context
	Line, Column int    // from 1; 0 = unknown
	Message      string
}

// The numbers of the message and of the plan that a preview shows.
const (
	message = 1
	plan    = 1
)

// Render renders a draft with the renderer and the limits of delivery. An error of the template is in the result, with
// its line; the content is then the built-in text, as it would be sent. Each call has a renderer of its own, so that
// drafts do not fill the cache of delivery.
func Render(ctx context.Context, d Draft) (p Preview, err error) {
	d.IncidentID = max(d.IncidentID, 1)
	d.Incident.PlanID = plan
	if d.Template == "" {
		d.Template = "draft"
	}
	if d.Incident.CreatedAt.IsZero() {
		d.Incident.CreatedAt = time.Now()
	}
	q := Request{MessageID: message, IncidentID: d.IncidentID, PlanID: plan, Purpose: Primary, Mode: d.Mode,
		Priority: d.Priority,
		Target:   d.Target, Template: d.Template, AckURL: d.AckURL, IncidentURL: d.IncidentURL}
	contents, err := NewRenderer(facts{d}).Render(ctx, []Request{q})
	if err != nil {
		return p, err
	}
	p = Preview{Content: contents[0], Errors: d.partErrors(q)}
	if d.Mode == users.SMS {
		p.Segments, p.Characters = Count(p.Body)
	}
	return p, nil
}

// partErrors renders each part by itself, because a renderer stops at the first error.
func (d Draft) partErrors(q Request) (out []PartError) {
	vars, err := Variables(q, d.Incident, PlanData{Name: d.Plan})
	if err != nil {
		return []PartError{{Part: "context", Message: fmt.Sprintf("the context cannot be read: %v", err)}}
	}
	for _, part := range []struct{ name, src string }{{"subject", d.Subject}, {"body", d.Body}, {"email_html", d.EmailHTML}} {
		t, err := jinja.CompileWith(part.src, jinja.Options{})
		if err == nil {
			_, err = t.Render(vars)
		}
		var f *jinja.Error
		if errors.As(err, &f) && !f.Truncated { // a long text is cut
			out = append(out, partError(part.name, part.src, f))
		}
	}
	return out
}

func partError(part, src string, f *jinja.Error) PartError {
	e := PartError{Part: part, Line: f.Line, Column: f.Column, Message: f.Kind + ": " + f.Message}
	if f.Kind == "InternalError" {
		e.Message = "internal error of the template engine"
	}
	if e.Line > 0 && e.Column == 0 {
		e.Column = columnOf(src, f.Line, f.Message)
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
	before, _, found := strings.Cut(lines[line-1], name)
	if !found {
		return 0
	}
	return utf8.RuneCountInString(before) + 1
}

// facts are the data of the only message of a renderer.
type facts struct{ Draft }

func (f facts) Incidents(context.Context, []incidents.ID) (map[incidents.ID]IncidentData, error) {
	return map[incidents.ID]IncidentData{f.IncidentID: f.Incident}, nil
}

func (f facts) Plans(context.Context, []int64) (map[int64]PlanData, error) {
	return map[int64]PlanData{plan: {Name: f.Plan}}, nil
}

func (f facts) Templates(_ context.Context, keys []TemplateKey) (map[TemplateKey]Found, error) {
	out := map[TemplateKey]Found{}
	for _, k := range keys {
		out[k] = Found{Template: true, Application: true, Mode: true, Content: f.TemplateContent}
	}
	return out, nil
}

func (facts) Requests(context.Context, []int64) (map[int64]RequestData, error) {
	return nil, nil
}

func (facts) Detours(context.Context, []ID) (map[ID]Change, error) {
	return nil, nil
}
