package pg

import (
	"context"
	"fmt"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
)

// Warnings warns teams of future times with nobody on call. Each warning is sent once: the transaction that makes the
// message also records the warning, fenced by the lease of the team's bucket. It is safe for concurrent use.
type Warnings struct{ reminders *Reminders }

// NewWarnings returns the adapter. The messages count for the quota of their application.
func NewWarnings(n *Notifications) *Warnings {
	return &Warnings{reminders: NewReminders(n, 0, "")}
}

// Warn records the warnings that are new to the team. It stores the notification that word makes of them, if that has
// recipients. It returns the new warnings and the buckets of the stored messages.
func (w *Warnings) Warn(ctx context.Context, processID string, lease buckets.Lease, team int64, warnings []scheduling.Warning,
	word func(fresh []scheduling.Warning) messages.Notification,
) ([]scheduling.Warning, buckets.Set, error) {
	var fresh []scheduling.Warning
	result, err := w.reminders.ofTeam(ctx, processID, lease, func(ctx context.Context, q *db.Queries) (Result, []messages.Notification, error) {
		fresh = nil
		if err := q.ForgetWarnings(ctx, team); err != nil {
			return Result{}, nil, err
		}
		for _, one := range warnings {
			rows, err := q.WarnOnce(ctx, db.WarnOnceParams{TeamID: team, Kind: one.Kind, StartsAt: one.Since,
				EndsAt: one.End, Role: one.Role})
			if err != nil {
				return Result{}, nil, fmt.Errorf("note a warning: %w", err)
			}
			if rows > 0 {
				fresh = append(fresh, one)
			}
		}
		if len(fresh) == 0 {
			return Result{}, nil, nil
		}
		n := word(fresh)
		if len(n.Recipients) == 0 {
			return Result{}, nil, nil
		}
		return Result{}, []messages.Notification{n}, nil
	})
	if err != nil {
		return nil, buckets.Set{}, err
	}
	return fresh, result.Buckets, nil
}
