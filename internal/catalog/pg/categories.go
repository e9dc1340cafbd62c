package pg

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/postgres"
)

const categoryList = `select c.id, a.name, c.name, c.description, c.mode
from notification_categories c
join applications a on a.id = c.application_id
where true`

// The wire compares ids of categories as text.
var categoryColumns = map[string]postgres.Column{
	"id":          {Expr: "c.id::text", Kind: filters.Text},
	"name":        {Expr: "c.name", Kind: filters.Text},
	"application": {Expr: "a.name", Kind: filters.Text},
	"mode":        {Expr: "c.mode", Kind: filters.Text},
}

// Categories returns the categories of all applications by number.
func (a *Applications) Categories(ctx context.Context, q filters.Query) ([]applications.Category, error) {
	l := postgres.NewListQuery("CategoryList", categoryList)
	if err := l.Filter(q, categoryColumns); err != nil {
		return nil, err
	}
	sql, args := l.Order(0, "c.id", "c.id")
	return postgres.List(ctx, a.db, sql, args, pgx.RowToStructByPos[applications.Category])
}
