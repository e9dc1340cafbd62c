package catalog

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// InvalidTemplate is the title of faults of a template.
const InvalidTemplate = "Invalid template"

// TemplateRow is a template as lists show it.
type TemplateRow struct {
	Version
	PlanCount int `json:"plan_count" doc:"How many active plans name it."`
}

// Template is a version of a template.
type Template struct {
	Version
	Content []Text   `json:"content"`
	Plans   []string `json:"plans" doc:"The active plans that name it."`
}

// Location is the address of a template.
func (t Template) Location() string { return operation.Path("/v1/templates/{template}", t.Name) }

// Text is the text of a template for one application in one mode.
type Text struct {
	Application string         `json:"application" minLength:"1"`
	Mode        users.Mode     `json:"mode" minLength:"1"`
	Subject     string         `json:"subject" required:"false"`
	Body        string         `json:"body" required:"false"`
	EmailHTML   operation.Text `json:"email_html" required:"false"`
}

// Texts are the texts of a template, at most one for an application and mode.
type Texts struct {
	Content []Text `json:"content" maxItems:"2000"`
}

func (t Texts) check(wrong *fault.Wrong) {
	seen := map[[2]string]bool{}
	for i, text := range t.Content {
		mode, known := users.ParseMode(string(text.Mode))
		place := fmt.Sprintf("content[%d].mode", i)
		wrong.If(!known, place, "there is no mode %.40q", string(text.Mode))
		key := [2]string{strings.ToLower(text.Application), string(mode)}
		wrong.If(known && seen[key], place, "there are two texts for %s and %s", text.Application, mode)
		seen[key] = true
	}
}

func (t Texts) texts() []messages.TemplateText {
	out := make([]messages.TemplateText, len(t.Content))
	for i, text := range t.Content {
		mode, _ := users.ParseMode(string(text.Mode)) // see check
		out[i] = messages.TemplateText{Application: text.Application, Mode: mode,
			TemplateContent: messages.TemplateContent{Subject: text.Subject, Body: text.Body,
				EmailHTML: string(text.EmailHTML)}}
	}
	return out
}

// OneTemplate names a template.
type OneTemplate struct {
	Template string `path:"template" json:"template"`
}

// NewTemplate is a template that does not exist.
type NewTemplate struct {
	Name    string         `json:"name" doc:"1 to 255 characters; not a number."`
	Team    operation.Text `json:"team" required:"false" doc:"The team that owns it."`
	Creator operation.Text `json:"creator" required:"false" doc:"The person who counts as its creator; default: the caller. Required if the caller is not a person."`
	Texts
}

// Check implements operation.Checker.
func (n NewTemplate) Check() error {
	var wrong fault.Wrong
	name := strings.TrimSpace(n.Name)
	// Numbers name versions.
	wrong.If(name == "" || utf8.RuneCountInString(name) > MaxName || IsNumber(name), "name",
		"name must have 1 to %d characters and must not be a number", MaxName)
	n.check(&wrong)
	return wrong.Err()
}

// TemplateContent is what a new version of a template brings.
type TemplateContent struct {
	Creator operation.Text `json:"creator" required:"false" doc:"The person who counts as its creator; default: the caller. Required if the caller is not a person."`
	Texts
}

// TemplateVersion replaces the active version of a template.
type TemplateVersion struct {
	OneTemplate
	operation.State
	Body TemplateContent `json:"body"`
}

// Check implements operation.Checker.
func (t TemplateVersion) Check() error {
	var wrong fault.Wrong
	t.Body.check(&wrong)
	return wrong.Err()
}

// TemplateActivation makes a version the active one.
type TemplateActivation struct {
	OneTemplate
	operation.State
	Version int64 `path:"version" json:"version"`
}

// TemplateRemoval deletes a template.
type TemplateRemoval struct {
	OneTemplate
	operation.State
	Force bool `query:"force" json:"force,omitempty" doc:"true: even if it is in use."`
}

// TemplateGiving gives a template to a team.
type TemplateGiving struct {
	OneTemplate
	operation.State
	Body Owner `json:"body"`
}

// The operations on templates.
var (
	ListTemplates = operation.Define[Filter, operation.Page[TemplateRow]](operation.Doc{Name: "template.list",
		Method: http.MethodGet, Path: "/v1/templates",
		Needs: operation.Reader, Summary: "Templates, newest first"})
	CreateTemplate = operation.Define[NewTemplate, Template](operation.Doc{Name: "template.create",
		Method: http.MethodPost, Path: "/v1/templates",
		Needs: operation.Member, Rule: operation.InTheNameOf, Audit: []audit.Action{audit.TemplateSaved,
			audit.TemplateVersionActivated}, Summary: "Make a template; 409 when there is one of that name",
		Errors: []int{409, 422}})
	GetTemplate = operation.Define[OneTemplate, Template](operation.Doc{Name: "template.get", Method: http.MethodGet,
		Path:  "/v1/templates/{template}",
		Needs: operation.Reader, Summary: "A template with its content: the active version of a name, or any by its number", Note: "ETag is the number of the version."})
	ReplaceTemplate = operation.Define[TemplateVersion, Template](operation.Doc{Name: "template.replace",
		Method: http.MethodPut,
		Path:   "/v1/templates/{template}", Needs: operation.Member, Rule: operation.InTheNameOf, Audit: []audit.Action{audit.TemplateSaved, audit.TemplateVersionActivated}, Summary: "Save a new version of a template, which becomes the active one",
		Errors: []int{409, 412, 422}, Note: noteState})
	DeleteTemplate = operation.Define[TemplateRemoval, operation.None](operation.Doc{Name: "template.delete",
		Method: http.MethodDelete,
		Path:   "/v1/templates/{template}", Needs: operation.Member, Rule: operation.OfAuthor, Audit: []audit.Action{audit.TemplateDeleted}, Summary: "Delete a template; its versions stay as history",
		Errors: []int{409, 412}, Note: noteDelete})
	ActivateTemplate = operation.Define[TemplateActivation, Template](operation.Doc{Name: "template.activate",
		Method: http.MethodPost,
		Status: http.StatusOK, Path: "/v1/templates/{template}/versions/{version}/activate", Needs: operation.Member, Rule: operation.People, Audit: []audit.Action{audit.TemplateVersionActivated},
		Summary: "Make a stored version of a template the active one", Errors: []int{409, 412, 422},
		Note: "With the ETag of a GET as If-Match, 412 if another version is active. A template that was deleted is active again."})
	OwnerOfTemplate = operation.Define[OneTemplate, Owner](operation.Doc{Name: "template.owner", Method: http.MethodGet,
		Path: "/v1/templates/{template}/owner", Needs: operation.Reader, Summary: "The team that owns all versions of a template", Note: "ETag names the team."})
	GiveTemplate = operation.Define[TemplateGiving, Owner](operation.Doc{Name: "template.give", Method: http.MethodPut,
		Path: "/v1/templates/{template}/owner", Needs: operation.Member, Rule: operation.OfAuthor, Audit: []audit.Action{audit.TemplateGivenToATeam}, Summary: "Give all versions of a template to a team, or to none",
		Errors: []int{412, 422}, Note: noteOwner})
)

// TemplateKind has what all kinds of objects have.
var TemplateKind = operation.Kind(ListTemplates, GetTemplate, ReplaceTemplate, DeleteTemplate,
	"NAME=name", "VERSION=id", "TEAM=team", "CREATOR=creator", "SAVED=created_at", "PLANS=plan_count").MadeBy(CreateTemplate.Doc)

// TemplateStore stores versions of templates. A template that does not exist is a NotFound fault.
type TemplateStore interface {
	versionStore[messages.TemplateVersion, messages.TemplateDetails, messages.TemplateID]
	Create(ctx context.Context, d messages.NewTemplate) (messages.TemplateID, error)
}

// TemplateDeps are what Templates works on.
type TemplateDeps struct {
	Store   TemplateStore
	Authors Authors
	Owners  Owners
	// Syntax returns the syntax error of a Jinja2 template; nil if there is none.
	Syntax func(source string) error
	Drafts Drafts
}

// Templates are the operations on templates. They are safe for concurrent use.
type Templates struct {
	List     operation.Op[Filter, operation.Page[TemplateRow]]
	Create   operation.Op[NewTemplate, Template]
	Get      operation.Op[OneTemplate, Template]
	Replace  operation.Op[TemplateVersion, Template]
	Delete   operation.Op[TemplateRemoval, operation.None]
	Activate operation.Op[TemplateActivation, Template]
	Owner    operation.Op[OneTemplate, Owner]
	Give     operation.Op[TemplateGiving, Owner]
	Preview  operation.Op[TemplateDraft, TemplatePreview]

	deps     TemplateDeps
	slots    chan struct{} // of previews
	versions versions[messages.TemplateVersion, messages.TemplateDetails, messages.TemplateID]
}

// NewTemplates returns the operations.
func NewTemplates(d TemplateDeps) *Templates {
	t := &Templates{deps: d, slots: make(chan struct{}, rendering), versions: versions[messages.TemplateVersion, messages.TemplateDetails,
		messages.TemplateID]{"template", d.Store, d.Owners, d.Authors,
		func(t messages.TemplateDetails) (messages.TemplateID, Version) {
			return t.ID, versionOfTemplate(t.TemplateVersion)
		},
		func(t messages.TemplateVersion) filters.Place { return filters.Place{At: t.CreatedAt, ID: int64(t.ID)} }}}
	t.List, t.Create, t.Get, t.Replace = ListTemplates.By(t.list), CreateTemplate.By(t.create), GetTemplate.By(t.get), ReplaceTemplate.By(t.replace)
	t.Delete, t.Activate = DeleteTemplate.By(t.remove), ActivateTemplate.By(t.activate)
	t.Owner, t.Give = OwnerOfTemplate.By(t.owner), GiveTemplate.By(t.give)
	t.Preview = PreviewTemplate.By(t.preview)
	return t
}

func versionOfTemplate(t messages.TemplateVersion) Version {
	return Version{ID: int64(t.ID), Name: t.Name, Active: t.Active, Creator: t.Creator,
		Team: operation.Text(t.Team.Name), CreatedAt: t.CreatedAt.UTC(),
		kind: "template", creatorID: t.CreatorID, owner: t.Team}
}

func templateOf(t messages.TemplateDetails, by operation.Actor) Template {
	out := Template{Version: versionOfTemplate(t.TemplateVersion).seenBy(by), Content: make([]Text, len(t.Texts)),
		Plans: make([]string, len(t.Plans))}
	for i, c := range t.Texts {
		out.Content[i] = Text{c.Application, c.Mode, c.Subject, c.Body, operation.Text(c.EmailHTML)}
	}
	for i, p := range t.Plans {
		out.Plans[i] = p.Name
	}
	return out
}

func (t *Templates) list(ctx context.Context, _ operation.Actor, f Filter) (out operation.Page[TemplateRow], err error) {
	found, next, err := t.versions.list(ctx, f)
	return operation.PageTo(found, next, func(one messages.TemplateVersion) TemplateRow {
		return TemplateRow{versionOfTemplate(one), one.PlanCount}
	}), err
}

func (t *Templates) get(ctx context.Context, by operation.Actor, one OneTemplate) (Template, error) {
	found, err := t.versions.find(ctx, one.Template)
	return templateOf(found, by), err
}

// create stores the first version of a template. A name that has an active version is a Conflict fault.
func (t *Templates) create(ctx context.Context, by operation.Actor, n NewTemplate) (Template, error) {
	return t.save(ctx, by, n, new(messages.TemplateID))
}

func (t *Templates) replace(ctx context.Context, by operation.Actor, v TemplateVersion) (Template, error) {
	name, replaces, err := t.versions.replaces(ctx, v.Template, v.State)
	if err != nil {
		return Template{}, err
	}
	return t.save(ctx, by, NewTemplate{Name: name, Creator: v.Body.Creator, Texts: v.Body.Texts}, replaces)
}

func (t *Templates) save(ctx context.Context, by operation.Actor, n NewTemplate, replaces *messages.TemplateID) (Template, error) {
	creator, err := t.deps.Authors.creator(ctx, by, string(n.Creator))
	if err != nil {
		return Template{}, err
	}
	team, err := t.deps.Authors.team(ctx, by, string(n.Team))
	if err != nil {
		return Template{}, err
	}
	id, err := t.Save(ctx, by, messages.NewTemplate{Name: strings.TrimSpace(n.Name), CreatorID: creator.ID,
		Texts: n.texts(), Replaces: replaces, Team: team})
	if err != nil {
		return Template{}, err
	}
	saved, err := t.deps.Store.ByID(ctx, id)
	return templateOf(saved, by), err
}

// Save stores a new version of a template, which becomes the active one of its name. Wrong Jinja2 syntax is an Invalid
// fault. A caller who may not replace the active version gets a Forbidden fault.
func (t *Templates) Save(ctx context.Context, by operation.Actor, d messages.NewTemplate) (messages.TemplateID, error) {
	for i, w := range d.Texts {
		for _, part := range []struct{ name, text string }{{"subject", w.Subject}, {"body", w.Body}, {"email_html", w.EmailHTML}} {
			if err := t.deps.Syntax(part.text); err != nil {
				return 0, invalid(fmt.Sprintf("content[%d].%s", i, part.name), "Invalid jinja template", err.Error())
			}
		}
	}
	active, found := t.deps.Store.ByName(ctx, d.Name)
	if err := t.deps.Authors.mayReplace(ctx, by, versionOfTemplate(active.TemplateVersion), found); err != nil {
		return 0, err
	}
	if d.Team == 0 {
		d.Team = by.Service
	}
	id, err := t.deps.Store.Create(ctx, d)
	return id, titled(err, InvalidTemplate)
}

func (t *Templates) activate(ctx context.Context, by operation.Actor, a TemplateActivation) (Template, error) {
	found, err := t.versions.activate(ctx, by, a.Template, a.Version, a.State)
	return templateOf(found, by), err
}

func (t *Templates) remove(ctx context.Context, by operation.Actor, r TemplateRemoval) (none operation.None, err error) {
	return none, t.versions.remove(ctx, by, r.Template, r.Force, r.State,
		func(context.Context, messages.TemplateID) ([]string, error) { return nil, nil })
}

// SetActive activates or deactivates a version of a template, as clients of /v0 do. Callers for whom MayChange is false
// get a Forbidden fault.
func (t *Templates) SetActive(ctx context.Context, by operation.Actor, id messages.TemplateID, active bool) error {
	return t.versions.setActive(ctx, by, id, active)
}

func (t *Templates) owner(ctx context.Context, _ operation.Actor, one OneTemplate) (Owner, error) {
	return t.versions.owner(ctx, one.Template)
}

func (t *Templates) give(ctx context.Context, by operation.Actor, g TemplateGiving) (Owner, error) {
	return t.versions.give(ctx, by, g.Template, g.Body, g.State)
}
