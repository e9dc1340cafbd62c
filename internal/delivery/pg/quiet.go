package pg

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/escalation/floods"
	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/users"
)

// HoldQuiet decides which messages are held because of a quiet-time limit of their recipients. It returns the messages
// to be made and lines for the timelines. The counts of the day and the floods stay locked until the transaction ends.
func (p Policy) HoldQuiet(ctx context.Context, q *db.Queries, known KnownKeys[escalation.AggregationKey], news []floods.Message, tally floods.Tally) ([]floods.Message, []floods.Entry, error) {
	if !p.Quiet || len(news) == 0 {
		return news, nil, nil
	}
	people, err := p.quietPeople(ctx, q, news)
	if err != nil || len(people) == 0 {
		return news, nil, err
	}
	counts := floods.Counts{Days: people.Days(news)}
	if err := lockCounts(ctx, q, p.counted, counts); err != nil {
		return nil, nil, err
	}
	news, release, entries := floods.Quiet(news, people, counts.Days, tally)
	if err := storeCounts(ctx, q, counts); err != nil || len(release) == 0 {
		return news, entries, err
	}
	keys := make([]escalation.AggregationKey, 0, len(release))
	for _, user := range slices.Sorted(maps.Keys(release)) {
		keys = append(keys, floods.QuietKey(user))
	}
	locked, err := lockFloods(ctx, q, known, keys)
	if err != nil {
		return nil, nil, err
	}
	for k, f := range locked {
		f.Release = clock.Sooner(f.Release, release[k.UserID])
	}
	return news, entries, storeFloods(ctx, q, locked)
}

func (p Policy) quietPeople(ctx context.Context, q *db.Queries, news []floods.Message) (floods.QuietPeople, error) {
	ids := make([]users.ID, 0, len(news))
	for i := range news {
		ids = append(ids, floods.RecipientOf(&news[i]).User)
	}
	return ReadQuiet(ctx, q, ids, p.PerDay, news[0].At)
}

// ReadQuiet returns the quiet-time limits of people. perDay is the limit of people without one of their own; 0 = none.
func ReadQuiet(ctx context.Context, q *db.Queries, ids []users.ID, perDay int, at time.Time) (floods.QuietPeople, error) {
	numbers := make([]int64, len(ids))
	for i, id := range ids {
		numbers[i] = int64(id)
	}
	rows, err := q.QuietPeople(ctx, db.QuietPeopleParams{UserIds: numbers, Everybody: perDay > 0, At: at})
	if err != nil {
		return nil, fmt.Errorf("read quiet-time limits: %w", err)
	}
	out := floods.QuietPeople{}
	for _, r := range rows {
		zone, err := time.LoadLocation(r.TimeZone)
		if err != nil {
			zone = time.UTC
		}
		limits := floods.QuietLimits{Limited: perDay > 0, PerDay: perDay, Zone: zone, Holidays: r.Holidays,
			WorkingDays: postgres.Convert(r.WorkingDays, func(p string) users.Priority { return users.Priority(p) })}
		if r.PerDay != nil {
			limits.Limited, limits.PerDay = true, *r.PerDay
		}
		out[r.ID] = limits
	}
	return out, nil
}
