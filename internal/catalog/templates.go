package catalog

import (
	"context"
	"fmt"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/messages"
)

// InvalidTemplate is the title of faults of a template.
const InvalidTemplate = "Invalid template"

// TemplateStore stores versions of templates. A template that does not exist is a NotFound fault.
type TemplateStore interface {
	ByName(ctx context.Context, name string) (messages.TemplateDetails, error)
	Create(ctx context.Context, d messages.NewTemplate) (messages.TemplateID, error)
}

// Templates saves versions of templates. It is safe for concurrent use.
type Templates struct {
	Store TemplateStore
	Authors
	// Syntax returns the syntax error of a Jinja2 template; nil if there is none.
	Syntax func(source string) error
}

// Save stores a new version of a template, which becomes the active one of its name. Wrong Jinja2 syntax is an Invalid fault. An actor
// who may not replace the active version gets a Forbidden fault.
func (t Templates) Save(ctx context.Context, actor auth.Actor, d messages.NewTemplate) (messages.TemplateID, error) {
	for i, w := range d.Texts {
		for _, part := range []struct{ name, text string }{{"subject", w.Subject}, {"body", w.Body}, {"email_html", w.EmailHTML}} {
			if err := t.Syntax(part.text); err != nil {
				return 0, invalid(fmt.Sprintf("content[%d].%s", i, part.name), "Invalid jinja template", err.Error())
			}
		}
	}
	active, found := t.Store.ByName(ctx, d.Name)
	if err := t.mayReplace(ctx, actor, Version{"template", active.Name, active.Creator, active.CreatorID, active.Team}, found); err != nil {
		return 0, err
	}
	if d.Team == 0 {
		d.Team = actor.ServiceTeam()
	}
	id, err := t.Store.Create(ctx, d)
	return id, titled(err, InvalidTemplate)
}
