package pg

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/users"
)

const applicationSelection = `select a.id, a.name, a.created_at, a.context_template, a.summary_template, a.mobile_template, a.sample_context,
    coalesce(a.title_variable, ''),
    array(select v.name from application_variables v where v.application_id = a.id order by v.required desc, v.name),
    array(select v.name from application_variables v where v.application_id = a.id and v.required order by v.name),
    array(select m.mode from application_modes m join modes o on o.name = m.mode where m.application_id = a.id order by o.id),
    array(select u.name from application_owners o join users u on u.id = o.user_id where o.application_id = a.id order by lower(u.name)),
    array(select o.user_id from application_owners o where o.application_id = a.id order by o.user_id),
    coalesce(w.id, 0), coalesce(w.name, ''), coalesce(w.members, '{}'), coalesce(w.managers, '{}'),
    a.secondary_key_sealed is not null,
    (select coalesce(json_object_agg(d.priority, d.mode), '{}') from application_default_modes d where d.application_id = a.id),
    (select coalesce(json_object_agg(s.mode, s.address), '{}') from application_sender_addresses s where s.application_id = a.id),
    (select coalesce(json_agg(json_build_object('ID', c.id, 'Name', c.name, 'Description', c.description, 'Mode', c.mode) order by c.id), '[]')
        from notification_categories c where c.application_id = a.id)
from applications a
left join owning_teams w on w.id = a.team_id
where true`

var applicationColumns = map[string]postgres.Column{
	"id":               {Expr: "a.id", Kind: filters.Int},
	"name":             {Expr: "a.name", Kind: filters.Text},
	"auth_only":        {Expr: "a.auth_only", Kind: filters.Flag},
	"context_template": {Expr: "a.context_template", Kind: filters.Text},
	"summary_template": {Expr: "a.summary_template", Kind: filters.Text},
	"mobile_template":  {Expr: "a.mobile_template", Kind: filters.Text},
	"sample_context":   {Expr: "a.sample_context", Kind: filters.Text},
	"title_variable":   {Expr: "a.title_variable", Kind: filters.Text},
	"team":             {Expr: "w.name", Kind: filters.Text},
	"created":          {Expr: "a.created_at", Kind: filters.Time},
	"variables": {Expr: "v.name", Kind: filters.Text,
		Within: "exists (select from application_variables v where v.application_id = a.id and %)"},
	"required_variables": {Expr: "v.name", Kind: filters.Text,
		Within: "exists (select from application_variables v where v.application_id = a.id and v.required and %)"},
	"supported_modes": {Expr: "m.mode", Kind: filters.Text,
		Within: "exists (select from application_modes m where m.application_id = a.id and %)"},
	"owners": {Expr: "u.name", Kind: filters.Text, Within: "exists (select from application_owners o " +
		"join users u on u.id = o.user_id where o.application_id = a.id and %)"},
}

// List returns the applications that match, by name, or newest first when there is a limit. Those that only
// authenticate are left out.
func (a *Applications) List(ctx context.Context, q filters.Query) ([]applications.Application, error) {
	q.Conditions = append(q.Conditions[:len(q.Conditions):len(q.Conditions)],
		filters.Condition{Field: "auth_only", Op: filters.Eq, Values: []any{false}})
	return a.list(ctx, q)
}

// Describe returns an application by name, ignoring case, those that only authenticate included; NotFound when there is
// none.
func (a *Applications) Describe(ctx context.Context, name string) (applications.Application, error) {
	found, err := postgres.First(a.list(ctx, filters.Query{Conditions: []filters.Condition{
		{Field: "name", Op: filters.Eq, Values: []any{postgres.Storable(name)}}}}))
	return found, postgres.Named(err, "no such application")
}

func (a *Applications) list(ctx context.Context, q filters.Query) ([]applications.Application, error) {
	l := postgres.NewListQuery("ListApplications", applicationSelection).Tagged("application", "a.id")
	if err := l.Filter(q, applicationColumns); err != nil {
		return nil, err
	}
	sql, args := l.Order(q.Limit, "a.created_at", "lower(a.name)")
	return postgres.List(ctx, a.db, sql, args, scanApplication)
}

func scanApplication(row pgx.CollectableRow) (applications.Application, error) {
	var out applications.Application
	var modes []string
	var defaults, addresses, categories []byte
	err := row.Scan(&out.ID, &out.Name, &out.CreatedAt, &out.ContextTemplate, &out.SummaryTemplate, &out.MobileTemplate,
		&out.SampleContext, &out.TitleVariable, &out.Variables, &out.RequiredVariables, &modes, &out.Owners, &out.OwnerIDs,
		&out.Team.ID, &out.Team.Name, &out.Team.Members, &out.Team.Admins, &out.SecondKey, &defaults,
		&addresses, &categories)
	if err != nil {
		return out, err
	}
	for _, m := range modes {
		out.Modes = append(out.Modes, users.Mode(m))
	}
	for _, part := range []struct {
		raw  []byte
		into any
	}{{defaults, &out.DefaultModes}, {addresses, &out.SenderAddresses}, {categories, &out.Categories}} {
		if err := json.Unmarshal(part.raw, part.into); err != nil {
			return out, fault.Wrap(fault.Internal, err, "read the settings of an application")
		}
	}
	for i := range out.Categories {
		out.Categories[i].Application = out.Name
	}
	return out, nil
}
