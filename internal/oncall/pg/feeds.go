package pg

import (
	"context"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/oncall"
)

// maxFeed bounds the shifts of a calendar feed. A longer feed lacks its oldest shifts; after an error the subscriber
// would see none.
const maxFeed = 10_000

// Feed returns the shifts of a calendar feed, by start. Each FeedShift.Feed, from which the UID is made, occurs once.
func (s *Shifts) Feed(ctx context.Context, by oncall.FeedQuery) ([]oncall.FeedShift, error) {
	excluded := postgres.Convert(by.ExcludedTeams, postgres.Storable)
	var out []oncall.FeedShift
	err := s.db.Do(ctx, func(ctx context.Context, q *db.Queries) error {
		out = nil
		if by.TeamID == 0 {
			rows, err := q.UserFeed(ctx, db.UserFeedParams{
				UserID: by.User, Since: by.Since, Roles: by.Roles, Excluded: excluded, MaxRows: maxFeed,
			})
			for _, r := range rows {
				out = append(out, feedShift(db.TeamFeedRow(r)))
			}
			return err
		}
		p := db.TeamFeedParams{TeamID: by.TeamID, OtherIds: []int64{}, Since: by.Since, Roles: by.Roles,
			Excluded: excluded, MaxRows: maxFeed}
		if by.Subscribed {
			subscriptions, err := q.CalendarSubscriptions(ctx, []int64{by.TeamID})
			if err != nil {
				return err
			}
			for _, b := range subscriptions {
				p.OtherIds = append(p.OtherIds, b.SubscriptionID)
			}
		}
		rows, err := q.TeamFeed(ctx, p)
		for _, r := range rows {
			out = append(out, feedShift(r))
		}
		return err
	})
	return latest(out), err
}

func feedShift(r db.TeamFeedRow) oncall.FeedShift {
	return oncall.FeedShift{
		ShiftRow: oncall.ShiftRow{
			Shift: oncall.Shift{TeamID: r.TeamID, Role: r.Role, User: r.UserID, Start: r.StartsAt.UTC(),
				End: r.EndsAt.UTC()},
			Team: r.Team, UserName: r.UserName, FullName: r.FullName,
		},
		Feed: r.FeedID, Sequence: r.Sequence, Changed: r.ChangedAt.UTC().Truncate(time.Second), Cancelled: r.Cancelled,
	}
}

// latest keeps the last version of each shift, ordered by start. Earlier holders of a cancelled shift are left out.
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
