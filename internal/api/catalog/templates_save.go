package catalog

import (
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
	"github.com/iris-oncall/iris/internal/wire/jsonbody"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

// maxContent is how many texts a template has at most.
const maxContent = 2000

// create saves the first version of a template. A template of that name is a 409.
func (a templates) create(w http.ResponseWriter, r *http.Request) error {
	b, err := jsonbody.ReadKnown(w, r, "name", "creator", "content")
	if err != nil {
		return err
	}
	name, err := b.Required("name")
	if err != nil {
		return err
	}
	name = strings.TrimSpace(name)
	if name == "" || utf8.RuneCountInString(name) > catalog.MaxName || catalog.IsNumber(name) {
		return fault.Invalidf("name", "name must have 1 to %d characters and must not be a number", catalog.MaxName)
	}
	return a.save(w, r, b, name, new(messages.TemplateID))
}

// replace saves a new version of the template that the path names.
func (a templates) replace(w http.ResponseWriter, r *http.Request) error {
	name, err := activeName(r, "template")
	if err != nil {
		return err
	}
	active, err := a.Templates.ByName(r.Context(), name)
	if err != nil {
		return missing(err, "template")
	}
	b, err := jsonbody.ReadKnown(w, r, "creator", "content")
	if err != nil {
		return err
	}
	conditional, err := routing.CheckTag(r, tag(int64(active.ID)))
	if err != nil {
		return err
	}
	if !conditional {
		return a.save(w, r, b, active.Name, nil)
	}
	return a.save(w, r, b, active.Name, &active.ID)
}

// save stores a version of a template and answers with it. replaces is as for plans.
func (a templates) save(w http.ResponseWriter, r *http.Request, b jsonbody.Object, name string, replaces *messages.TemplateID) error {
	ctx := r.Context()
	authors := catalog.Authors{People: a.People, Teammates: a.Teammates}
	creator, err := creator(r, authors, b)
	if err != nil {
		return err
	}
	texts, err := readContent(b)
	if err != nil {
		return err
	}
	save := catalog.Templates{Store: a.Templates, Authors: authors, Syntax: messages.CheckSyntax}
	id, err := save.Save(ctx, wire.Actor(ctx), messages.NewTemplate{Name: name, CreatorID: creator.ID, Texts: texts, Replaces: replaces})
	if err != nil {
		return err
	}
	t, err := a.Templates.ByID(ctx, id)
	if err != nil {
		return err
	}
	return answerVersion(w, r, "/v1/templates/", t.Name, int64(t.ID), showWholeTemplate(t))
}

// readContent reads the texts of a template. There is at most one for an application and mode.
func readContent(b jsonbody.Object) ([]messages.TemplateText, error) {
	items, err := b.Objects("content", maxContent, "application", "mode", "subject", "body", "email_html")
	if err != nil {
		return nil, err
	}
	out, seen := make([]messages.TemplateText, len(items)), map[[2]string]bool{}
	for i, item := range items {
		text := &out[i]
		if text.Application, err = item.Required("application"); err != nil {
			return nil, err
		}
		mode, err := item.Required("mode")
		if err != nil {
			return nil, err
		}
		var known bool
		if text.Mode, known = users.ParseMode(mode); !known {
			return nil, item.Fault("mode", "there is no mode %.40q", mode)
		}
		key := [2]string{strings.ToLower(text.Application), string(text.Mode)}
		if seen[key] {
			return nil, item.Fault("mode", "there are two texts for %s and %s", text.Application, text.Mode)
		}
		seen[key] = true
		for name, into := range map[string]*string{"subject": &text.Subject, "body": &text.Body, "email_html": &text.EmailHTML} {
			if *into, err = item.Text(name); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}
