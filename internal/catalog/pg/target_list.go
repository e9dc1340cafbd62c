package pg

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Names returns the names of all targets that begin with prefix, ignoring case, each once, alphabetically. Inactive
// targets are among them.
func (t *Targets) Names(ctx context.Context, prefix string) ([]string, error) {
	return postgres.Query(ctx, t.db, (*db.Queries).TargetNames, postgres.LikeEscape.Replace(postgres.Storable(prefix))+
		"%")
}

var targetColumns = map[string]postgres.Column{
	"name":   {Expr: "t.name", Kind: filters.Text},
	"active": {Expr: "t.active", Kind: filters.Bool},
}

// NamesOfKind returns the names of the targets of a kind (user, team, mailing-list) that the query asks for, by number:
// clients pick the first and the second. There is no bound, because they keep the whole list.
func (t *Targets) NamesOfKind(ctx context.Context, kind string, query filters.Query) ([]string, error) {
	l := postgres.NewListQuery("TargetList", "select t.name from targets t where true").Tagged("target", "t.target_id")
	l.Where("t.kind = " + l.Arg(kind) + "::text")
	if err := l.Filter(query, targetColumns); err != nil {
		return nil, err
	}
	l.SQL.WriteString("\norder by t.target_id")
	var out []string
	err := t.db.DoRaw(ctx, func(ctx context.Context, conn db.DBTX) error {
		rows, err := conn.Query(ctx, l.SQL.String(), l.Args...)
		if err != nil {
			return err
		}
		out, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return out, err
}

// Exists reports whether there is a target of that name, ignoring case, active or not.
func (t *Targets) Exists(ctx context.Context, name string) (bool, error) {
	return postgres.Query(ctx, t.db, (*db.Queries).TargetExists, postgres.Storable(name))
}

// Roles returns the roles that /v0 lists, in a fixed order.
func (t *Targets) Roles(ctx context.Context) ([]escalation.TargetRole, error) {
	rows, err := postgres.Query(ctx, t.db, (*db.Queries).TargetRoles, true)
	return postgres.Convert(rows, roleOf), err
}

// OnAnyList reports whether the person of that name is on any of the mailing lists of these names, ignoring case.
func (t *Targets) OnAnyList(ctx context.Context, user string, lists []string) (bool, error) {
	names := postgres.Convert(lists, postgres.Storable)
	return postgres.Query(ctx, t.db, (*db.Queries).OnAnyList,
		db.OnAnyListParams{Name: postgres.Storable(user), Lists: names})
}
