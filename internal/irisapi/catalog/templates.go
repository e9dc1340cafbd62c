package catalog

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/filters"
	v0 "github.com/iris-oncall/iris/internal/irisapi/v0"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
	"github.com/iris-oncall/iris/internal/wire/routing"
)

var templateColumns = v0.Columns[messages.TemplateVersion]{
	{"id", func(t messages.TemplateVersion) any { return t.ID }},
	{"name", func(t messages.TemplateVersion) any { return t.Name }},
	{"creator", func(t messages.TemplateVersion) any { return t.Creator }},
	{"created", func(t messages.TemplateVersion) any { return v0.Unix(t.CreatedAt) }},
	{"active", func(t messages.TemplateVersion) any { return v0.Flag(t.Active) }},
}

var templateList = v0.List{Schema: messages.TemplateFilters, Columns: templateColumns.Names(), Limited: true,
	Unique: []string{"id", "created"}}

func (a templates) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/v0/templates", routing.Read, a.list),
		routing.Post("/v0/templates", routing.Write, a.create),
		routing.Get("/v0/templates/{template}", routing.Read, a.get),
		routing.Post("/v0/templates/{template}", routing.Write, a.activate),
	}
}

func (a templates) list(w http.ResponseWriter, r *http.Request) error {
	rows := a.Tags.List(templateList)
	q, err := rows.Read(w, r)
	if err != nil {
		return err
	}
	if done, err := rows.Counted(w, r, q, a.Templates.Count); done || err != nil {
		return err
	}
	found, err := a.Templates.List(r.Context(), q)
	if err != nil {
		return err
	}
	cols, err := v0.Tagged(r.Context(), a.Tags, templateColumns.Pick(q.Fields), q.Fields, "template", found,
		func(t messages.TemplateVersion) int64 { return int64(t.ID) })
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, cols.Records(found))
}

func noSuchTemplate() error { return fault.New(fault.NotFound, "no such template") }

// get answers with a version and its content. A version without content is not shown.
func (a templates) get(w http.ResponseWriter, r *http.Request) error {
	t, err := a.versions().find(r.Context(), wire.Param(r, "template"))
	if err != nil {
		return err
	}
	if len(t.Texts) == 0 {
		return noSuchTemplate()
	}
	content := map[string]map[string]v0.Record{}
	for _, text := range t.Texts {
		if content[text.Application] == nil {
			content[text.Application] = map[string]v0.Record{}
		}
		c := v0.Record{{"subject", text.Subject}, {"body", text.Body}}
		if text.EmailHTML != "" {
			c = append(c, v0.Member{"email_html", text.EmailHTML})
		}
		content[text.Application][string(text.Mode)] = c
	}
	plans := make([]v0.Record, len(t.Plans))
	for i, p := range t.Plans {
		plans[i] = v0.Record{{"id", p.ID}, {"name", p.Name}}
	}
	return routing.Answer(w, http.StatusOK, v0.Record{{"id", t.ID}, {"name", t.Name}, {"active", v0.Flag(t.Active)}, {"creator", t.Creator},
		{"created", v0.Unix(t.CreatedAt)}, {"content", content}, {"plans", plans}})
}

// versions finds templates with their content; those that list finds have no content.
func (a templates) versions() versions[messages.TemplateDetails] {
	return versions[messages.TemplateDetails]{
		byID: func(ctx context.Context, id int64) (messages.TemplateDetails, error) {
			return a.Templates.ByID(ctx, messages.TemplateID(id))
		},
		byName: a.Templates.ByName,
		list: func(ctx context.Context, q filters.Query) ([]messages.TemplateDetails, error) {
			found, err := a.Templates.List(ctx, q)
			out := make([]messages.TemplateDetails, len(found))
			for i, t := range found {
				out[i].TemplateVersion = t
			}
			return out, err
		},
		missing: noSuchTemplate(),
	}
}

// create saves a new version of a template, which becomes the active one of its name.
func (a templates) create(w http.ResponseWriter, r *http.Request) error {
	b, err := v0.ReadBody(w, r, "")
	if err != nil {
		return err
	}
	for _, name := range []string{"content", "name", "creator"} {
		if raw := b.Members[name]; !b.Given(name) || string(raw) == `""` {
			return fault.Invalidf(name, "%s argument missing", name)
		}
	}
	name, err := b.Required("name")
	if err != nil {
		return err
	}
	creatorName, err := b.Required("creator")
	if err != nil {
		return err
	}
	creator, err := a.creator(r.Context(), creatorName, catalog.InvalidTemplate)
	if err != nil {
		return err
	}
	d := messages.NewTemplate{Name: strings.TrimSpace(name), CreatorID: creator.ID}
	if d.Name == "" {
		return fault.Invalidf("name", "name argument missing")
	}
	if utf8.RuneCountInString(d.Name) > catalog.MaxName {
		return fault.Titled(catalog.InvalidTemplate, "name cannot be longer than 255 characters")
	}
	if d.Texts, err = parseContent(b.Members["content"]); err != nil {
		return err
	}
	saved := catalog.Templates{Store: a.TemplateStore, Authors: a.authors(), Syntax: messages.CheckSyntax}
	id, err := saved.Save(r.Context(), wire.Actor(r.Context()), d)
	if err != nil {
		return err
	}
	return v0.Created(w, int64(id), "templates")
}

// parseContent decodes application -> mode -> {subject, body, email_html}.
func parseContent(raw json.RawMessage) ([]messages.TemplateText, error) {
	var apps map[string]json.RawMessage
	if json.Unmarshal(raw, &apps) != nil || apps == nil {
		return nil, fault.Titled(catalog.InvalidTemplate, "content must be an object of applications")
	}
	var out []messages.TemplateText
	seen := map[string]bool{}
	for _, app := range slices.Sorted(maps.Keys(apps)) {
		if key := strings.ToLower(app); seen[key] || !wire.Storable(app) {
			return nil, fault.Titled(catalog.InvalidTemplate, "content names the application "+strconv.Quote(app)+" twice, or cannot be stored")
		} else {
			seen[key] = true
		}
		var modes map[string]json.RawMessage
		if json.Unmarshal(apps[app], &modes) != nil || modes == nil {
			return nil, fault.Titled(catalog.InvalidTemplate, "content of "+app+" must be an object of modes")
		}
		given := map[users.Mode]bool{}
		for _, mode := range slices.Sorted(maps.Keys(modes)) {
			text, err := parseText(app, mode, modes[mode])
			if err != nil {
				return nil, err
			}
			if given[text.Mode] {
				return nil, fault.Titled(catalog.InvalidTemplate, "content of "+app+" names the mode "+string(text.Mode)+" twice")
			}
			given[text.Mode] = true
			out = append(out, text)
		}
	}
	return out, nil
}

func parseText(app, mode string, raw json.RawMessage) (messages.TemplateText, error) {
	text := messages.TemplateText{Application: app}
	var known bool
	if text.Mode, known = users.ParseMode(mode); !known {
		return text, fault.Titled(catalog.InvalidTemplate, "mode "+strconv.Quote(mode)+" of "+app+" is not known")
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members == nil {
		return text, fault.Titled(catalog.InvalidTemplate, mode+" of "+app+" must be an object with subject and body")
	}
	b := v0.Of(members, catalog.InvalidTemplate, " for "+app+" "+mode)
	for _, name := range []string{"subject", "body"} {
		if !b.Given(name) {
			return text, b.Fault(name, "%s is required", name)
		}
	}
	var err error
	for _, f := range []struct {
		name string
		into *string
	}{{"subject", &text.Subject}, {"body", &text.Body}, {"email_html", &text.EmailHTML}} {
		if *f.into, err = b.Text(f.name); err != nil {
			return text, err
		}
	}
	return text, nil
}

// activate activates or deactivates a version. Plans keep the name of the template.
func (a templates) activate(w http.ResponseWriter, r *http.Request) error {
	b, err := v0.ReadBody(w, r, "")
	if err != nil {
		return err
	}
	active, err := activeField(b, "Missing active argument", fault.Titled("Invalid active argument", "active must be an int"))
	if err != nil {
		return err
	}
	t, err := a.versions().toSet(r, "template", active)
	if err != nil {
		return err
	}
	if !wire.Actor(r.Context()).MayChange(t.CreatorID, a.Openings) {
		return fault.Newf(fault.Forbidden, "Only %s or an admin may change the template %s", t.Creator, t.Name)
	}
	if err := a.TemplateChanges.SetActive(r.Context(), t.ID, active); err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, v0.Flag(active))
}
