package pg

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/messages"
)

// Templates stores versions of templates. It is safe for concurrent use.
type Templates struct{ db *postgres.DB }

// NewTemplates returns the adapter over d.
func NewTemplates(d *postgres.DB) *Templates { return &Templates{db: d} }

// ByID returns a version of a template, active or not, with its text. Unknown: NotFound.
func (t *Templates) ByID(ctx context.Context, id messages.TemplateID) (details messages.TemplateDetails, err error) {
	return postgres.Get(ctx, t.db, func(ctx context.Context, q *postgresdb.Queries) (details messages.TemplateDetails, err error) {
		row, err := q.TemplateByID(ctx, int64(id))
		if err != nil {
			return details, err
		}
		return loadTemplate(ctx, q, row)
	})
}

// ByName returns the active version of a template with its text. Unknown or without an active version: NotFound.
func (t *Templates) ByName(ctx context.Context, name string) (details messages.TemplateDetails, err error) {
	return postgres.Get(ctx, t.db, func(ctx context.Context, q *postgresdb.Queries) (details messages.TemplateDetails, err error) {
		row, err := q.TemplateByName(ctx, name)
		if err != nil {
			return details, err
		}
		return loadTemplate(ctx, q, postgresdb.TemplateByIDRow(row))
	})
}

const templateList = `select t.id, t.name, t.created_at, u.name as creator, t.creator_id, (ta.template_id is not null) as active,
	coalesce(o.id, 0) as team_id, coalesce(o.name, '') as team,
	coalesce(o.members, '{}') as members, coalesce(o.managers, '{}') as managers
from templates t
join users u on u.id = t.creator_id
left join (template_owners po join owning_teams o on o.id = po.team_id) on po.name_key = lower(t.name)
left join template_active ta on ta.template_id = t.id
where true`

var templateColumns = map[string]postgres.Column{
	"id":      {Expr: "t.id", Kind: filters.Int},
	"name":    {Expr: "t.name", Kind: filters.Text},
	"creator": {Expr: "u.name", Kind: filters.Text},
	"created": {Expr: "t.created_at", Kind: filters.Time},
	"team":    {Expr: "o.name", Kind: filters.Text},
	// The person who wrote the version, or a member of the team that owns the template.
	"member": {Expr: "w.name", Kind: filters.Text,
		Within: "exists (select from users w where (w.id = t.creator_id or w.id = any(o.members)) and %)"},
	"active": {Expr: "(ta.template_id is not null)", Kind: filters.Bool},
	"application": {Expr: "a.name", Kind: filters.Text, Within: "exists (select from template_contents c " +
		"join applications a on a.id = c.application_id where c.template_id = t.id and %)"},
}

// List returns template versions: newest first with a limit, else by id.
func (t *Templates) List(ctx context.Context, q filters.Query) ([]messages.TemplateVersion, error) {
	l := postgres.NewListQuery("TemplateList", templateList).Tagged("template", "t.id")
	if err := l.Filter(q, templateColumns); err != nil {
		return nil, err
	}
	sql, args := l.Order(q.Limit, "t.created_at", "t.id")
	found, err := postgres.List(ctx, t.db, sql, args, pgx.RowToStructByPos[postgresdb.TemplateByIDRow])
	if err != nil {
		return nil, err
	}
	out := postgres.Convert(found, templateHead)
	if q.Limit > 0 {
		err = t.countPlans(ctx, out)
	}
	return out, err
}

const countPlansOfTemplates = `-- name: CountPlansOfTemplates :many
select lower(n.template), count(distinct n.plan_id)
from plan_active pa
join plan_notifications n on n.plan_id = pa.plan_id
where lower(n.template) = any($1::text[])
group by 1`

// countPlans fills PlanCount.
func (t *Templates) countPlans(ctx context.Context, to []messages.TemplateVersion) error {
	names := make([]string, len(to))
	for i, v := range to {
		names[i] = strings.ToLower(v.Name)
	}
	type row struct {
		Name  string
		Plans int
	}
	found, err := postgres.List(ctx, t.db, countPlansOfTemplates, []any{names}, pgx.RowToStructByPos[row])
	if err != nil {
		return err
	}
	for i := range to {
		for _, r := range found {
			if r.Name == names[i] {
				to[i].PlanCount = r.Plans
			}
		}
	}
	return nil
}

// Create saves a new version of a template and makes it the active one of its name. An application that does not exist
// is an Invalid fault. Replaces is as for plans.
func (t *Templates) Create(ctx context.Context, d messages.NewTemplate) (id messages.TemplateID, err error) {
	err = t.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		return auditedTemplate.changing(ctx, q, audit.TemplateSaved, d.Name, "", func() error {
			id, err = saveTemplate(ctx, q, d)
			return err
		})
	})
	return id, err
}

// saveTemplate stores a new version of a template and makes it the active one.
func saveTemplate(ctx context.Context, q *postgresdb.Queries, d messages.NewTemplate) (id messages.TemplateID, err error) {
	n, err := q.InsertTemplate(ctx, postgresdb.InsertTemplateParams{Name: d.Name, CreatorID: d.CreatorID})
	if err != nil {
		return id, fmt.Errorf("insert template: %w", err)
	}
	id = messages.TemplateID(n)
	for _, w := range d.Texts {
		found, err := q.InsertTemplateContent(ctx, postgresdb.InsertTemplateContentParams{TemplateID: n,
			Application: w.Application,
			Mode:        w.Mode, Subject: w.Subject, Body: w.Body, EmailHtml: w.EmailHTML})
		if err != nil {
			return id, fmt.Errorf("insert template content: %w", err)
		}
		if found == 0 {
			return id, fault.Invalidf("content", "Application %s not found", w.Application)
		}
	}
	if d.Team != 0 {
		if err := q.OwnNewTemplate(ctx, postgresdb.OwnNewTemplateParams{Name: d.Name, TeamID: d.Team}); err != nil {
			return id, err
		}
	}
	if d.Replaces == nil {
		return id, q.ActivateNewestTemplate(ctx, n)
	}
	return id, activate(templateActivation(ctx, q), int64(*d.Replaces), n, "template "+d.Name)
}

// templateActivation returns the statements that change the active version of a template.
func templateActivation(ctx context.Context, q *postgresdb.Queries) activation {
	return activation{
		first: func(id int64) (int64, error) { return q.ActivateFirstTemplate(ctx, id) },
		instead: func(replaced, id int64) (int64, error) {
			return q.ReplaceActiveTemplate(ctx, postgresdb.ReplaceActiveTemplateParams{ID: id, Replaced: replaced})
		},
		none: func(replaced int64) (int64, error) { return q.DeactivateTemplate(ctx, replaced) },
	}
}

// Switch changes the active version as Plans.Switch does.
func (t *Templates) Switch(ctx context.Context, from, to messages.TemplateID, by string) error {
	return t.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		template, err := q.TemplateByID(ctx, int64(cmp.Or(to, from)))
		if err != nil {
			return err
		}
		return auditedTemplate.changing(ctx, q, auditedTemplate.switching(int64(to), audit.TemplateDeleted), template.Name, by, func() error {
			return templateActivation(ctx, q).change(int64(from), int64(to))
		})
	})
}

// SetActive makes a version the active one of its name, or inactive. Plans still name the template. Deactivating a
// version that is not active changes nothing. Unknown: NotFound.
func (t *Templates) SetActive(ctx context.Context, id messages.TemplateID, active bool) error {
	return t.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		template, err := q.TemplateByID(ctx, int64(id))
		if err != nil || !active && !template.Active {
			return err
		}
		action, change := audit.TemplateSwitchedOff, q.DeactivateTemplate
		if active {
			action, change = audit.TemplateVersionActivated, q.ActivateTemplate
		}
		return auditedTemplate.changing(ctx, q, action, template.Name, "", func() error {
			_, err := change(ctx, int64(id))
			return err
		})
	})
}

func loadTemplate(ctx context.Context, q *postgresdb.Queries, row postgresdb.TemplateByIDRow) (messages.TemplateDetails, error) {
	d := messages.TemplateDetails{TemplateVersion: templateHead(row)}
	contents, err := q.TemplateContents(ctx, row.ID)
	if err != nil {
		return d, fmt.Errorf("read template contents: %w", err)
	}
	for _, c := range contents {
		d.Texts = append(d.Texts, messages.TemplateText{Application: c.Application, Mode: c.Mode,
			TemplateContent: messages.TemplateContent{Subject: c.Subject, Body: c.Body, EmailHTML: c.EmailHtml}})
	}
	plans, err := q.PlansOfTemplate(ctx, row.Name)
	if err != nil {
		return d, fmt.Errorf("read plans of template: %w", err)
	}
	for _, p := range plans {
		d.Plans = append(d.Plans, messages.NamedPlan(p))
	}
	return d, nil
}

func templateHead(row postgresdb.TemplateByIDRow) messages.TemplateVersion {
	return messages.TemplateVersion{ID: messages.TemplateID(row.ID), Name: row.Name, Creator: row.Creator,
		CreatorID: row.CreatorID,
		CreatedAt: row.CreatedAt, Active: row.Active, Team: owningTeam(row.TeamID, row.Team, row.Members, row.Managers)}
}

// UsedBy returns what uses a template; see Uses.OfTemplate.
func (t *Templates) UsedBy(ctx context.Context, name string) ([]string, error) {
	return NewUses(t.db).OfTemplate(ctx, name)
}
