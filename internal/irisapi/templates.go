package irisapi

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

var templateColumns = columns[messages.TemplateVersion]{
	{"id", func(t messages.TemplateVersion) any { return t.ID }},
	{"name", func(t messages.TemplateVersion) any { return t.Name }},
	{"creator", func(t messages.TemplateVersion) any { return t.Creator }},
	{"created", func(t messages.TemplateVersion) any { return unix(t.CreatedAt) }},
	{"active", func(t messages.TemplateVersion) any { return flag(t.Active) }},
}

var templateList = list{schema: messages.TemplateFilters, columns: templateColumns.names(), limited: true,
	unique: []string{"id", "created"}}

func (a *API) listTemplates(w http.ResponseWriter, r *http.Request) error {
	templates := a.tagging.list(templateList)
	q, err := templates.read(w, r)
	if err != nil {
		return err
	}
	if done, err := templates.counted(w, r, q, a.Templates.Count); done || err != nil {
		return err
	}
	found, err := a.Templates.List(r.Context(), q)
	if err != nil {
		return err
	}
	cols, err := tagged(r.Context(), a.tagging, templateColumns.pick(q.Fields), q.Fields, "template", found,
		func(t messages.TemplateVersion) int64 { return int64(t.ID) })
	if err != nil {
		return err
	}
	wire.JSON(w, http.StatusOK, records(cols, found))
	return nil
}

func noSuchTemplate() error { return fault.New(fault.NotFound, "no such template") }

// getTemplate takes an id (any version) or a name (the active version). A version without words does not exist for
// readers.
func (a *API) getTemplate(w http.ResponseWriter, r *http.Request) error {
	t, err := a.findTemplate(r.Context(), wire.Param(r, "template"))
	if err != nil {
		return err
	}
	if len(t.Words) == 0 {
		return noSuchTemplate()
	}
	content := map[string]map[string]record{}
	for _, words := range t.Words {
		if content[words.Application] == nil {
			content[words.Application] = map[string]record{}
		}
		c := record{{"subject", words.Subject}, {"body", words.Body}}
		if words.EmailHTML != "" {
			c = append(c, member{"email_html", words.EmailHTML})
		}
		content[words.Application][string(words.Mode)] = c
	}
	plans := make([]record, len(t.Plans))
	for i, p := range t.Plans {
		plans[i] = record{{"id", p.ID}, {"name", p.Name}}
	}
	wire.JSON(w, http.StatusOK, record{{"id", t.ID}, {"name", t.Name}, {"active", flag(t.Active)}, {"creator", t.Creator},
		{"created", unix(t.CreatedAt)}, {"content", content}, {"plans", plans}})
	return nil
}

func (a *API) findTemplate(ctx context.Context, idOrName string) (messages.TemplateDetails, error) {
	if !storable(idOrName) {
		return messages.TemplateDetails{}, noSuchTemplate()
	}
	if !digits(idOrName) {
		return a.Templates.ByName(ctx, idOrName)
	}
	id, err := strconv.ParseInt(idOrName, 10, 64)
	if err != nil {
		return messages.TemplateDetails{}, noSuchTemplate()
	}
	return a.Templates.ByID(ctx, messages.TemplateID(id))
}

// createTemplate saves a new version of a template, which becomes the active one of its name.
func (a *API) createTemplate(w http.ResponseWriter, r *http.Request) error {
	b, err := readBody(w, r, "")
	if err != nil {
		return err
	}
	for _, name := range []string{"content", "name", "creator"} {
		if raw := b.members[name]; !b.given(name) || string(raw) == `""` {
			return fault.Invalidf(name, "%s argument missing", name)
		}
	}
	name, err := b.text("name")
	if err != nil {
		return err
	}
	creatorName, err := b.text("creator")
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
	if d.Words, err = parseContent(b.members["content"]); err != nil {
		return err
	}
	templates := catalog.Templates{Store: a.Templates, Authors: a.authors(), Syntax: a.Syntax}
	id, err := templates.Save(r.Context(), wire.Actor(r.Context()), d)
	if err != nil {
		return err
	}
	created(w, int64(id), "templates")
	return nil
}

// parseContent decodes application -> mode -> {subject, body, email_html}.
func parseContent(raw json.RawMessage) ([]messages.TemplateText, error) {
	var apps map[string]json.RawMessage
	if json.Unmarshal(raw, &apps) != nil || apps == nil {
		return nil, fault.Titled(catalog.InvalidTemplate, "content must be an object of applications")
	}
	var out []messages.TemplateText
	seen := map[string]bool{}
	for _, app := range sortedKeys(apps) {
		if key := strings.ToLower(app); seen[key] || !storable(app) {
			return nil, fault.Titled(catalog.InvalidTemplate, "content names the application "+strconv.Quote(app)+" twice, or cannot be stored")
		} else {
			seen[key] = true
		}
		var modes map[string]json.RawMessage
		if json.Unmarshal(apps[app], &modes) != nil || modes == nil {
			return nil, fault.Titled(catalog.InvalidTemplate, "content of "+app+" must be an object of modes")
		}
		given := map[users.Mode]bool{}
		for _, mode := range sortedKeys(modes) {
			words, err := parseWords(app, mode, modes[mode])
			if err != nil {
				return nil, err
			}
			if given[words.Mode] {
				return nil, fault.Titled(catalog.InvalidTemplate, "content of "+app+" names the mode "+string(words.Mode)+" twice")
			}
			given[words.Mode] = true
			out = append(out, words)
		}
	}
	return out, nil
}

func parseWords(app, mode string, raw json.RawMessage) (messages.TemplateText, error) {
	words := messages.TemplateText{Application: app}
	var known bool
	if words.Mode, known = users.ParseMode(mode); !known {
		return words, fault.Titled(catalog.InvalidTemplate, "mode "+strconv.Quote(mode)+" of "+app+" is not known")
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members == nil {
		return words, fault.Titled(catalog.InvalidTemplate, mode+" of "+app+" must be an object with subject and body")
	}
	b := body{members: members, title: catalog.InvalidTemplate, where: " for " + app + " " + mode}
	for _, name := range []string{"subject", "body"} {
		if !b.given(name) {
			return words, b.fault(name, "%s is required", name)
		}
	}
	var err error
	for _, f := range []struct {
		name string
		into *string
	}{{"subject", &words.Subject}, {"body", &words.Body}, {"email_html", &words.EmailHTML}} {
		if *f.into, err = b.optionalText(f.name); err != nil {
			return words, err
		}
	}
	return words, nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// activateTemplate makes a version the active one, or takes that away from it. By name, the newest version is activated
// and the active one is deactivated. Plans keep naming the template.
func (a *API) activateTemplate(w http.ResponseWriter, r *http.Request) error {
	b, err := readBody(w, r, "")
	if err != nil {
		return err
	}
	active, err := activeField(b, "Missing active argument", fault.Titled("Invalid active argument", "active must be an int"))
	if err != nil {
		return err
	}
	t, err := a.templateToSet(r, active)
	if err != nil {
		return err
	}
	if !wire.Actor(r.Context()).MayChange(t.CreatorID, a.Config.Openings) {
		return fault.Newf(fault.Forbidden, "Only %s or an admin may change the template %s", t.Creator, t.Name)
	}
	if err := a.Templates.SetActive(r.Context(), t.ID, active); err != nil {
		return err
	}
	wire.JSON(w, http.StatusOK, flag(active))
	return nil
}

// templateToSet finds the version to activate or deactivate: by number that one; by name the newest one to activate, the
// active one to deactivate. A name without an active version means the newest one.
func (a *API) templateToSet(r *http.Request, active bool) (messages.TemplateVersion, error) {
	ctx := r.Context()
	if id, ok := pathID(r, "template"); ok {
		t, err := a.Templates.ByID(ctx, messages.TemplateID(id))
		return t.TemplateVersion, err
	}
	name := wire.Param(r, "template")
	if !active {
		t, err := a.findTemplate(ctx, name)
		if !fault.Is(err, fault.NotFound) {
			return t.TemplateVersion, err
		}
	}
	if !storable(name) {
		return messages.TemplateVersion{}, noSuchTemplate()
	}
	found, err := a.Templates.List(ctx, newestNamed(name))
	if err != nil {
		return messages.TemplateVersion{}, err
	}
	if len(found) == 0 {
		return messages.TemplateVersion{}, noSuchTemplate()
	}
	return found[0], nil
}
