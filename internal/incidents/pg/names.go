package pg

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// tables are the tables of the names in filters. The column of the ids is the field with "_id".
var tables = map[string]string{"plan": "plans", "application": "applications", "owner": "users",
	"integration": "integrations"}

// ofTeams is a condition with two lists, the numbers of applications and of plans: an incident has one of either. It
// replaces "teams_of", the number of a person whose teams own the application or the plan, or are paged by the plan.
const ofTeams = "of teams"

// ofTeam is a condition with two lists, the numbers of applications and of plans: an incident has one of the plans, or
// one of the applications and a plan that no team owns. It replaces incidents.FieldTeam.
const ofTeam = "of team"

// targetUser is a condition with the number of the person whose name a condition on "target" has.
const targetUser = "target_user_id"

// withIDs replaces conditions on names and on a person's teams by conditions on the ids of the rows that have these
// names. So the planner knows the values, and whether few or many rows of a list match. A name may belong to several
// versions of a plan.
func withIDs(ctx context.Context, d *postgres.DB, q filters.Query) (filters.Query, error) {
	given := q.Conditions
	q.Conditions = make([]filters.Condition, 0, len(given)+1)
	for _, c := range given {
		if c.Field == "target" && c.Op == filters.Eq { // messages have an index by person, and none by target
			ids, err := named(ctx, d, "users", c)
			if err != nil {
				return q, err
			}
			if len(ids) == 1 {
				q.Conditions = append(q.Conditions, filters.Condition{Field: targetUser, Op: filters.Eq, Values: ids})
			}
		}
		if c.Field == "teams_of" {
			found, err := postgres.Query(ctx, d, (*db.Queries).ConcernsOfPerson, c.Values[0].(int64))
			if err != nil {
				return q, err
			}
			c = filters.Condition{Field: ofTeams, Op: filters.In, Values: []any{found.Applications, found.Plans}}
		}
		if c.Field == incidents.FieldTeam {
			name, _ := c.Values[0].(string)
			found, err := postgres.Query(ctx, d, (*db.Queries).OwnedByTeam, db.OwnedByTeamParams{Team: name,
				None: name == incidents.NoTeam})
			if err != nil {
				return q, err
			}
			c = filters.Condition{Field: ofTeam, Op: filters.In, Values: []any{found.Applications, found.Plans}}
		}
		if table, ok := tables[c.Field]; ok {
			ids, err := named(ctx, d, table, c)
			if err != nil {
				return q, err
			}
			c = filters.Condition{Field: c.Field + "_id", Op: map[bool]filters.Op{true: filters.Eq,
				false: filters.In}[len(ids) == 1], Values: ids}
		}
		q.Conditions = append(q.Conditions, c)
	}
	return q, nil
}

// named returns the ids of the rows of a table whose names meet a condition.
func named(ctx context.Context, d *postgres.DB, table string, c filters.Condition) ([]any, error) {
	l := postgres.NewListQuery("FindNames", "select x.id from "+table+" x where true")
	column := map[string]postgres.Column{c.Field: {Expr: "x.name", Kind: filters.Text}}
	if err := l.Filter(filters.Query{Conditions: []filters.Condition{c}}, column); err != nil {
		return nil, err
	}
	found, err := postgres.List(ctx, d, l.SQL.String(), l.Args, pgx.RowTo[int64])
	return postgres.Convert(found, func(id int64) any { return id }), err
}
