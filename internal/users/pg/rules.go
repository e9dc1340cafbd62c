package pg

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
)

// NotificationRules returns a person's rules, one for every priority, most urgent first.
func (s *Settings) NotificationRules(ctx context.Context, id users.ID) ([]users.NotificationRule, error) {
	return postgres.GetInTx(ctx, s.db, func(ctx context.Context, q *db.Queries) ([]users.NotificationRule, error) {
		modes, err := modesOf(ctx, q, int64(id))
		if err != nil {
			return nil, err
		}
		followUps, err := q.FollowUpsOfUser(ctx, id)
		out := make([]users.NotificationRule, len(users.Priorities))
		for i, p := range users.Priorities {
			out[i] = users.NotificationRule{Priority: p, Mode: modes[p]}
			for _, f := range followUps {
				if f.Priority == p {
					out[i].FollowUps = append(out[i].FollowUps,
						users.FollowUp{Mode: f.Mode, After: time.Duration(f.DelaySeconds) * time.Second})
				}
			}
		}
		return out, err
	})
}

// SetNotificationRules replaces a person's rules. rules must come from users.CheckRules.
func (s *Settings) SetNotificationRules(ctx context.Context, u users.User, rules []users.NotificationRule, by string) error {
	return s.changing(ctx, u, by, audit.NotificationRulesSet, func(ctx context.Context, q *db.Queries) error {
		p := db.AddFollowUpsParams{UserID: int64(u.ID), Priorities: []string{}, Positions: []int{}, Modes: []string{},
			Delays: []int{}}
		for _, r := range rules {
			if err := setMode(ctx, q, int64(u.ID), 0, users.ModeChoice{Priority: r.Priority, Mode: r.Mode}); err != nil {
				return err
			}
			for i, f := range r.FollowUps {
				p.Priorities, p.Positions = append(p.Priorities, string(r.Priority)), append(p.Positions, i+1)
				p.Modes, p.Delays = append(p.Modes, string(f.Mode)), append(p.Delays, int(f.After/time.Second))
			}
		}
		if err := q.RemoveFollowUps(ctx, u.ID); err != nil {
			return err
		}
		return q.AddFollowUps(ctx, p)
	})
}
