package irisapi

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/catalog"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

var templateColumns = Columns[messages.TemplateVersion]{
	{"id", func(t messages.TemplateVersion) any { return t.ID }},
	{"name", func(t messages.TemplateVersion) any { return t.Name }},
	{"creator", func(t messages.TemplateVersion) any { return t.Creator }},
	{"created", func(t messages.TemplateVersion) any { return Unix(t.CreatedAt) }},
	{"active", func(t messages.TemplateVersion) any { return Flag(t.Active) }},
}

var templateRows = Rows[messages.TemplateVersion]{
	Query:   List{Schema: messages.TemplateFilters, Limited: true, Unique: []string{"id", "created"}},
	Columns: templateColumns, Kind: "template", ID: func(t messages.TemplateVersion) int64 { return int64(t.ID) },
}

func (a templates) list(w http.ResponseWriter, r *http.Request) error {
	return templateRows.Answer(w, r, a.Tags, a.Templates.List, a.Templates.Count)
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
	content := map[string]map[string]Record{}
	for _, text := range t.Texts {
		if content[text.Application] == nil {
			content[text.Application] = map[string]Record{}
		}
		c := Record{{"subject", text.Subject}, {"body", text.Body}}
		if text.EmailHTML != "" {
			c = append(c, Member{"email_html", text.EmailHTML})
		}
		content[text.Application][string(text.Mode)] = c
	}
	plans := make([]Record, len(t.Plans))
	for i, p := range t.Plans {
		plans[i] = Record{{"id", p.ID}, {"name", p.Name}}
	}
	return routing.Answer(w, http.StatusOK, Record{{"id", t.ID}, {"name", t.Name}, {"active", Flag(t.Active)},
		{"creator", t.Creator},
		{"created", Unix(t.CreatedAt)}, {"content", content}, {"plans", plans}})
}

func (a templates) versions() versions[messages.TemplateVersion, messages.TemplateDetails, messages.TemplateID] {
	return versions[messages.TemplateVersion, messages.TemplateDetails, messages.TemplateID]{a.Templates,
		templateRows.ID, noSuchTemplate()}
}

// create saves a new version of a template, which becomes the active one of its name.
func (a templates) create(w http.ResponseWriter, r *http.Request) error {
	b := ReadBody(w, r, "")
	for _, name := range []string{"content", "name", "creator"} {
		b.Check(b.Given(name) && string(b.Members[name]) != `""`, fault.Invalidf(name, "%s argument missing", name))
	}
	d := messages.NewTemplate{Name: strings.TrimSpace(b.Required("name"))}
	creatorName := b.Required("creator")
	if err := b.Err(); err != nil {
		return err
	}
	creator, err := a.creator(r.Context(), creatorName, catalog.InvalidTemplate)
	if err != nil {
		return err
	}
	d.CreatorID = creator.ID
	b.Check(d.Name != "", fault.Invalidf("name", "name argument missing"))
	b.Check(utf8.RuneCountInString(d.Name) <= catalog.MaxName,
		fault.Titled(catalog.InvalidTemplate, "name cannot be longer than 255 characters"))
	d.Texts, err = parseContent(b.Members["content"])
	b.Check(err == nil, err)
	if err := b.Err(); err != nil {
		return err
	}
	id, err := a.TemplateOperations.Save(r.Context(), a.caller(r.Context()), d)
	return Created(w, int64(id), "templates", err)
}

// parseContent decodes application -> mode -> {subject, body, email_html}.
func parseContent(raw json.RawMessage) ([]messages.TemplateText, error) {
	apps := decoded(raw)
	b := Of(apps, catalog.InvalidTemplate, "")
	refuse := func(ok bool, why string) { b.Check(ok, fault.Titled(catalog.InvalidTemplate, why)) }
	refuse(apps != nil, "content must be an object of applications")
	var out []messages.TemplateText
	seen := map[string]bool{}
	for _, app := range slices.Sorted(maps.Keys(apps)) {
		key := strings.ToLower(app)
		refuse(!seen[key] && wire.Storable(app), "content names the application "+strconv.Quote(app)+
			" twice, or cannot be stored")
		seen[key] = true
		modes := decoded(apps[app])
		refuse(modes != nil, "content of "+app+" must be an object of modes")
		given := map[users.Mode]bool{}
		for _, name := range slices.Sorted(maps.Keys(modes)) {
			mode, known := users.ParseMode(name)
			refuse(known, "mode "+strconv.Quote(name)+" of "+app+" is not known")
			members := decoded(modes[name])
			refuse(members != nil, name+" of "+app+" must be an object with subject and body")
			text := parseText(b.In(members, catalog.InvalidTemplate, " for "+app+" "+name))
			refuse(!given[mode], "content of "+app+" names the mode "+string(mode)+" twice")
			given[mode] = true
			out = append(out, messages.TemplateText{Application: app, Mode: mode, TemplateContent: text})
		}
	}
	return out, b.Err()
}

// decoded returns the members of an object; nil for any other value.
func decoded(raw json.RawMessage) (members map[string]json.RawMessage) {
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	return members
}

func parseText(b Body) messages.TemplateContent {
	for _, name := range []string{"subject", "body"} {
		b.Check(b.Given(name), b.Fault(name, "%s is required", name))
	}
	return messages.TemplateContent{Subject: b.Text("subject"), Body: b.Text("body"), EmailHTML: b.Text("email_html")}
}

// activate activates or deactivates a version. Plans keep the name of the template.
func (a templates) activate(w http.ResponseWriter, r *http.Request) error {
	invalid := fault.Titled("Invalid active argument", "active must be an int")
	active, err := activeField(ReadBody(w, r, ""), "Missing active argument", invalid)
	if err != nil {
		return err
	}
	t, err := a.versions().toSet(r, "template", active)
	if err != nil {
		return err
	}
	return Answer(w, Flag(active), a.TemplateOperations.SetActive(r.Context(), a.caller(r.Context()), t.ID, active))
}
