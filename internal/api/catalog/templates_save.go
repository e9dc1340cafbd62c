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
)

// maxContent is how many texts a template has at most.
const maxContent = 2000

// templateName returns the name of a new template without the spaces around it. It must not be a number, because numbers name versions.
func templateName(name string) (string, error) {
	name = strings.TrimSpace(name)
	if name == "" || utf8.RuneCountInString(name) > catalog.MaxName || catalog.IsNumber(name) {
		return name, fault.Invalidf("name", "name must have 1 to %d characters and must not be a number", catalog.MaxName)
	}
	return name, nil
}

// saveTemplate stores a version of a template. replaces is as in resource.save.
func (d Deps) saveTemplate(r *http.Request, b jsonbody.Object, name string, creator users.User, replaces *messages.TemplateID) (messages.TemplateID, []string, error) {
	texts, err := readContent(b)
	if err != nil {
		return 0, nil, err
	}
	team, err := d.team(r, b)
	if err != nil {
		return 0, nil, err
	}
	save := catalog.Templates{Store: d.TemplateStore, Authors: d.authors(), Syntax: messages.CheckSyntax}
	id, err := save.Save(r.Context(), wire.Actor(r.Context()), messages.NewTemplate{Name: name, CreatorID: creator.ID, Texts: texts, Replaces: replaces, Team: team})
	return id, nil, err
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
