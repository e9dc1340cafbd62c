package pg

import (
	"context"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
)

// QuietLimits returns the quiet-time limits that a person chose; without a choice they are zero.
func (s *Settings) QuietLimits(ctx context.Context, id users.ID) (users.QuietLimits, error) {
	row, err := postgres.Query(ctx, s.db, (*db.Queries).QuietLimitsOfUser, id)
	if fault.Is(err, fault.NotFound) {
		return users.QuietLimits{}, nil
	}
	out := users.QuietLimits{WorkingDays: postgres.Convert(row.WorkingDays,
		func(p string) users.Priority { return users.Priority(p) })}
	if row.PerDay != nil {
		n := *row.PerDay
		out.PerDay = &n
	}
	return out, err
}

// SetQuietLimits replaces the quiet-time limits of a person. limits must have passed its Check.
func (s *Settings) SetQuietLimits(ctx context.Context, u users.User, limits users.QuietLimits, by string) error {
	p := db.SetQuietLimitsParams{UserID: u.ID, WorkingDays: postgres.Convert(limits.WorkingDays,
		func(p users.Priority) string { return string(p) })}
	if limits.PerDay != nil {
		n := *limits.PerDay
		p.PerDay = &n
	}
	return s.changing(ctx, u, by, audit.QuietTimeLimitsSet, func(ctx context.Context, q *db.Queries) error {
		if limits.PerDay == nil && len(limits.WorkingDays) == 0 {
			return q.RemoveQuietLimits(ctx, u.ID)
		}
		return q.SetQuietLimits(ctx, p)
	})
}
