package pg

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Audit reads the audit log, and deletes old entries. It is safe for concurrent use.
type Audit struct{ db *postgres.DB }

// NewAudit returns the adapter over d.
func NewAudit(d *postgres.DB) *Audit { return &Audit{db: d} }

// auditColumns are the fields of filters.
var auditColumns = map[string]postgres.Column{
	"id":         {Expr: "l.id", Kind: filters.Int},
	"actor":      {Expr: "l.actor", Kind: filters.Text},
	"actor_kind": {Expr: "l.actor_kind", Kind: filters.Text},
	"action":     {Expr: "l.action", Kind: filters.Text},
	"object":     {Expr: "l.object", Kind: filters.Text},
	"address":    {Expr: "l.address", Kind: filters.Text},
	"request_id": {Expr: "l.request_id", Kind: filters.Text},
	"created":    {Expr: "l.at", Kind: filters.Time},
}

// List returns the entries that match, newest first.
func (a *Audit) List(ctx context.Context, query filters.Query) ([]audit.Record, error) {
	list := postgres.NewListQuery("AuditList",
		`select l.id, l.at, l.actor, l.action, l.object, l.detail, l.actor_kind, coalesce(l.actor_id, 0), l.through,
    coalesce(l.token_id, 0), l.address, l.request_id, l.changes from audit_log l where true`).Tagged("audit", "l.id")
	if err := list.Filter(query, auditColumns); err != nil {
		return nil, err
	}
	sql, args := list.Order(query.Limit, "l.at", "l.id")
	return postgres.List(ctx, a.db, sql, args, func(row pgx.CollectableRow) (r audit.Record, err error) {
		err = row.Scan(&r.ID, &r.At, &r.Actor, &r.Action, &r.Object, &r.Detail, &r.From.Kind, &r.From.ActorID,
			&r.From.Through, &r.From.TokenID,
			&r.From.Address, &r.From.Request, &r.Changes)
		return r, err
	})
}

// Expire deletes entries that are older than retention, also those of the on-call API: at most 10,000 of each. It
// returns how many.
func (a *Audit) Expire(ctx context.Context, retention time.Duration) (deleted int64, err error) {
	for _, forget := range []func(*postgresdb.Queries, context.Context, int64) (int64, error){(*postgresdb.Queries).ForgetAudit, (*postgresdb.Queries).ForgetOncallAudit} {
		n, err := postgres.Query(ctx, a.db, forget, retention.Microseconds())
		if err != nil {
			return deleted, err
		}
		deleted += n
	}
	return deleted, nil
}
