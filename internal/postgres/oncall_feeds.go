package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
	"github.com/iris-oncall/iris/internal/users"
)

// maxFeed bounds a calendar feed. Of longer ones the oldest shifts are left out: a feed that is refused is a calendar without
// any shift.
const maxFeed = 10_000

// Feed returns what a calendar feed shows, by start. Every UID is there once.
func (s *OncallShifts) Feed(ctx context.Context, by oncall.FeedQuery) ([]oncall.FeedShift, error) {
	p := db.FeedShiftsParams{
		Since: by.Since, UserID: optional(by.User), TeamID: optional(users.ID(by.TeamID)), Subscribed: by.Subscribed, Roles: by.Roles,
		Excluded: storables(by.ExcludedTeams), MaxRows: maxFeed,
	}
	var out []oncall.FeedShift
	err := s.db.Do(ctx, func(q *db.Queries) error {
		rows, err := q.FeedShifts(ctx, p)
		out = make([]oncall.FeedShift, 0, len(rows))
		for _, r := range rows {
			out = append(out, oncall.FeedShift{
				ShiftRow: oncall.ShiftRow{
					Shift: oncall.Shift{TeamID: r.TeamID, Role: r.Role, User: users.ID(r.UserID), Start: r.StartsAt.UTC(), End: r.EndsAt.UTC()},
					Team:  r.Team, UserName: r.UserName, FullName: r.FullName,
				},
				Feed: r.FeedID, Sequence: int(r.Sequence), Changed: r.ChangedAt.UTC().Truncate(time.Second), Cancelled: r.Cancelled,
			})
		}
		return err
	})
	return latest(out), err
}

// latest keeps what was last known of each shift and orders it by start: who had a shift before somebody else had it is no
// news when it is cancelled.
func latest(shifts []oncall.FeedShift) []oncall.FeedShift {
	last := map[int64]int{}
	for i, s := range shifts {
		if at, seen := last[s.Feed]; !seen || s.Sequence > shifts[at].Sequence {
			last[s.Feed] = i
		}
	}
	out := make([]oncall.FeedShift, 0, len(last))
	for i, s := range slices.Backward(shifts) {
		if last[s.Feed] == i {
			out = append(out, s)
		}
	}
	return out
}

func storables(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = storable(s)
	}
	return out
}
