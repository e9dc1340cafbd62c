package pg

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Reasons why a role and a name do not refer to a target. Faults of Targets.Resolve wrap one of these.
var (
	ErrRoleNotFound       = errors.New("role not found")
	ErrTargetNotFound     = errors.New("target not found")
	ErrRoleNotAppropriate = errors.New("role not appropriate for target")
)

// Targets finds what plans and incidents may name. It is safe for concurrent use.
type Targets struct{ db *postgres.DB }

// NewTargets returns the adapter over d.
func NewTargets(d *postgres.DB) *Targets { return &Targets{db: d} }

// Resolve returns the public number of the active target with a role and a name, ignoring case. Otherwise it returns an
// Invalid fault that wraps ErrRoleNotFound, ErrTargetNotFound (no active target of any kind has the name) or
// ErrRoleNotAppropriate (the target is of another kind).
func (t *Targets) Resolve(ctx context.Context, role, name string) (int64, error) {
	var row postgresdb.ResolveTargetRow
	err := t.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) (err error) {
		row, err = q.ResolveTarget(ctx, postgresdb.ResolveTargetParams{Role: postgres.Storable(role),
			Target: postgres.Storable(name)})
		if errors.Is(err, pgx.ErrNoRows) {
			return fault.Wrap(fault.Invalid, ErrRoleNotFound, "Role "+role+" not found")
		}
		return err
	})
	switch {
	case err != nil:
		return 0, err
	case row.TargetID != 0:
		return row.TargetID, nil
	case row.OtherKind != "":
		return 0, fault.Wrap(fault.Invalid, ErrRoleNotAppropriate, "Role "+role+" is not appropriate for target "+name)
	}
	return 0, fault.Wrap(fault.Invalid, ErrTargetNotFound, "Target "+name+" not found")
}
