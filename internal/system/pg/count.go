package pg

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

const (
	day = 24 * time.Hour
	// byHourFor is how long hours are kept apart. The figures of seven weeks need them.
	byHourFor = 50 * day
	// longestSpan is the most that one transaction counts.
	longestSpan = 32 * day
)

// Count counts the hours that have ended since the last call, and those that have changed, each step in a transaction
// of its own. It rests after each step, rest times as long as the step took. Several processes may call it; they take
// turns.
func (s *Counts) Count(ctx context.Context, rest int) error {
	for span := day; ; {
		began := time.Now()
		done, err := postgres.GetInTx(ctx, s.db,
			func(ctx context.Context, q *db.Queries) (bool, error) { return countStep(ctx, q, span) })
		if done || err != nil {
			return fault.Wrap(fault.KindOf(postgres.MapError(err)), err, "the statistics cannot be computed now")
		}
		took := time.Since(began)
		switch {
		case took < 250*time.Millisecond:
			span = min(2*span, longestSpan)
		case took > time.Second:
			span = max(span/2, time.Hour)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(rest) * took):
		}
	}
}

// countStep counts the next hours, at most a span of them; or one day whose hours are no longer kept apart; or some
// hours that have changed. done reports whether there was nothing to count.
func countStep(ctx context.Context, q *db.Queries, span time.Duration) (done bool, err error) {
	if err := lockStatistics(ctx, q); err != nil {
		return false, err
	}
	hour, err := q.ThisHour(ctx)
	if err != nil {
		return false, err
	}
	daysTo := hour.Add(-byHourFor).UTC().Truncate(day)
	at, err := q.StatisticsProgress(ctx)
	if errors.Is(err, pgx.ErrNoRows) {
		var from db.BeginStatisticsRow
		from, err = q.BeginStatistics(ctx, db.BeginStatisticsParams{Hour: hour, DaysTo: daysTo})
		at = db.StatisticsProgressRow(from)
	}
	switch {
	case err != nil:
		return false, err
	case at.CountedTo.Before(hour):
		return false, countNext(ctx, q, at, hour, span)
	case at.DaysTo.Before(daysTo):
		next := at.DaysTo.Add(day)
		if err := count(ctx, q, at.DaysTo, next, day); err != nil {
			return false, err
		}
		return false, q.AdvanceStatistics(ctx, db.AdvanceStatisticsParams{CountedTo: at.CountedTo, DaysTo: next})
	}
	return countChanged(ctx, q, at.DaysTo)
}

// countNext counts from where the last step ended.
func countNext(ctx context.Context, q *db.Queries, at db.StatisticsProgressRow, hour time.Time, span time.Duration) error {
	until, part := at.CountedTo.Add(span), time.Hour
	if until.After(hour) {
		until = hour
	}
	if at.CountedTo.Before(at.DaysTo) {
		until, part = at.CountedTo.Add(max(span, day)), day
		if until.After(at.DaysTo) {
			until = at.DaysTo
		}
	}
	if err := count(ctx, q, at.CountedTo, until, part); err != nil {
		return err
	}
	if err := q.AdvanceStatistics(ctx, db.AdvanceStatisticsParams{CountedTo: until, DaysTo: at.DaysTo}); err != nil {
		return err
	}
	return q.RecountHour(ctx, until)
}

// countChanged counts some of the hours again that have changed. done reports whether there were none.
func countChanged(ctx context.Context, q *db.Queries, daysTo time.Time) (done bool, err error) {
	hours, err := q.TakeChangedHours(ctx)
	if err != nil {
		return false, err
	}
	var counted time.Time
	for _, until := range hours {
		part := time.Hour
		if !until.After(daysTo) {
			until, part = until.Add(-1).Truncate(day).Add(day), day
		}
		if until.Equal(counted) {
			continue // another hour of the same day
		}
		if err := count(ctx, q, until.Add(-part), until, part); err != nil {
			return false, err
		}
		counted = until
	}
	return len(hours) == 0, nil
}

// count counts what happened after one instant until another, in parts of an hour or a day.
func count(ctx context.Context, q *db.Queries, after, until time.Time, part time.Duration) error {
	seconds := int(part / time.Second)
	if err := q.CountIncidents(ctx, db.CountIncidentsParams{After: after, Until: until, PartSeconds: seconds}); err != nil {
		return err
	}
	if err := q.CountMessages(ctx, db.CountMessagesParams{After: after, Until: until, PartSeconds: seconds}); err != nil {
		return err
	}
	if err := q.CountAttempts(ctx, db.CountAttemptsParams{After: after, Until: until, PartSeconds: seconds}); err != nil {
		return err
	}
	return q.CountPages(ctx, db.CountPagesParams{After: after, Until: until, PartSeconds: seconds})
}
