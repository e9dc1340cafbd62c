package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/applications"
	"github.com/iris-oncall/iris/internal/filters"
)

const categoryList = `select c.id, a.name, c.name, c.description, c.mode
from notification_categories c
join applications a on a.id = c.application_id
where true`

// The wire compares ids of categories as text.
var categoryColumns = map[string]filterColumn{
	"id":          {expr: "c.id::text", kind: filters.Text},
	"name":        {expr: "c.name", kind: filters.Text},
	"application": {expr: "a.name", kind: filters.Text},
	"mode":        {expr: "c.mode", kind: filters.Text},
}

// Categories returns the categories of all applications by number.
func (a *Applications) Categories(ctx context.Context, q filters.Query) ([]applications.Category, error) {
	l := newListQuery("CategoryList", categoryList)
	if err := l.filter(q, categoryColumns); err != nil {
		return nil, err
	}
	sql, args := l.order(0, "c.id", "c.id")
	return list(ctx, a.db, sql, args, pgx.RowToStructByPos[applications.Category])
}
