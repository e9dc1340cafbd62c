package pg

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/messages"
)

// Requests reads out-of-band notifications as they were accepted. It is safe for concurrent use.
type Requests struct{ db *postgres.DB }

// NewRequests returns the adapter over d.
func NewRequests(d *postgres.DB) *Requests { return &Requests{d} }

const requestList = `select n.id, a.name, n.subject, coalesce(n.template, ''), n.created_at
from notification_requests n
join applications a on a.id = n.application_id
where true`

var requestColumns = map[string]postgres.Column{
	"id":             {Expr: "n.id", Kind: filters.Int},
	"application_id": {Expr: "n.application_id", Kind: filters.Int},
	"created":        {Expr: "n.created_at", Kind: filters.Time},
}

// List returns notifications as they were accepted: newest first with a limit, else by number.
func (n *Requests) List(ctx context.Context, q filters.Query) ([]messages.Accepted, error) {
	q, err := withIDs(ctx, n.db, q)
	if err != nil {
		return nil, err
	}
	l := postgres.NewListQuery("NotificationList", requestList)
	if err := l.Filter(q, requestColumns); err != nil {
		return nil, err
	}
	sql, args := l.Order(q.Limit, "n.created_at", "n.id")
	return postgres.List(ctx, n.db, sql, args, pgx.RowToStructByPos[messages.Accepted])
}

// Get returns one notification; a NotFound fault when there is none.
func (n *Requests) Get(ctx context.Context, id int64) (messages.Accepted, error) {
	found, err := postgres.First(n.List(ctx, filters.Query{Conditions: []filters.Condition{
		{Field: "id", Op: filters.Eq, Values: []any{id}},
	}}))
	return found, postgres.Named(err, "there is no such notification")
}
