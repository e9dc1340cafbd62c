package access

import (
	"context"
	"math"

	"github.com/iris-oncall/iris/internal/auth"
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

// Newest returns the latest changes, newest first.
func (a *Audit) Newest(ctx context.Context, limit int) ([]AuditRecord, error) {
	return a.Before(ctx, math.MaxInt64, limit)
}

// Before returns the latest of the changes with a smaller number than before, newest first.
func (a *Audit) Before(ctx context.Context, before int64, limit int) ([]AuditRecord, error) {
	rows, err := postgres.Query(ctx, a.db, (*db.Queries).Audit, db.AuditParams{
		Before: before, MaxRows: int32(min(limit, postgres.MaxListRows)),
	})
	return postgres.Convert(rows, func(r db.AuditLog) AuditRecord {
		return AuditRecord{ID: r.ID, At: r.At, Actor: r.Actor, Action: r.Action, Object: r.Object, Detail: r.Detail}
	}), err
}
