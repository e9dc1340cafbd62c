package access

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/filters"
	"github.com/iris-oncall/iris/internal/postgres"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
)

// Audit stores the audit log: changes of settings and people. It is safe for concurrent use.
type Audit struct{ db *postgres.DB }

// NewAudit returns the adapter over d.
func NewAudit(d *postgres.DB) *Audit { return &Audit{db: d} }

// AuditRecord is one entry of the audit log.
type AuditRecord = auth.AuditRecord

// Record stores a change; ID and At are ignored.
func (a *Audit) Record(ctx context.Context, r AuditRecord) error {
	return postgres.Exec(ctx, a.db, (*db.Queries).AppendAudit, db.AppendAuditParams{
		Actor: postgres.Storable(r.Actor), Action: r.Action, Object: postgres.Storable(r.Object), Detail: postgres.Storable(r.Detail),
	})
}

// auditColumns are the fields of filters.
var auditColumns = map[string]postgres.Column{
	"id":      {Expr: "l.id", Kind: filters.Int},
	"actor":   {Expr: "l.actor", Kind: filters.Text},
	"action":  {Expr: "l.action", Kind: filters.Text},
	"object":  {Expr: "l.object", Kind: filters.Text},
	"created": {Expr: "l.at", Kind: filters.Time},
}

// List returns the entries that match, newest first.
func (a *Audit) List(ctx context.Context, q filters.Query) ([]AuditRecord, error) {
	l := postgres.NewListQuery("AuditList", "select l.id, l.at, l.actor, l.action, l.object, l.detail from audit_log l where true").Tagged("audit", "l.id")
	if err := l.Filter(q, auditColumns); err != nil {
		return nil, err
	}
	sql, args := l.Order(q.Limit, "l.at", "l.id")
	rows, err := postgres.List(ctx, a.db, sql, args, pgx.RowToStructByPos[db.AuditLog])
	return postgres.Convert(rows, func(r db.AuditLog) AuditRecord {
		return AuditRecord{ID: r.ID, At: r.At, Actor: r.Actor, Action: r.Action, Object: r.Object, Detail: r.Detail}
	}), err
}
