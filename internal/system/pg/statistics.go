package pg

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/cache"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Counts computes figures from incidents, timelines, messages and attempts. Incidents and messages are counted by hour
// into tables; the figures of an hour are summed up from those tables, once for all processes. Messages count as long
// as their history is kept. It is safe for concurrent use.
type Counts struct {
	db    *postgres.DB
	whole *cache.Cache[wholeKey, *whole]
	zones *cache.Cache[string, struct{}] // in which callers asked last
}

// NewStatistics returns the adapter over d.
func NewStatistics(d *postgres.DB) *Counts {
	return &Counts{db: d, whole: cache.New(cache.Config[wholeKey, *whole]{TTL: cache.Forever, Entries: mostWhole}),
		zones: cache.New(cache.Config[string, struct{}]{TTL: cache.Forever, Entries: mostZones})}
}

// statisticsTimeout bounds one call of Current, waiting for other processes included.
const statisticsTimeout = 2 * time.Minute

// Current returns the figures of the current hour. The first call of an hour counts what is not counted yet and
// computes the figures. The others read them. Until all past hours are counted (after an upgrade or an import), calls
// may end at their time limit with an error of kind Unavailable; what they have counted is kept.
func (s *Counts) Current(ctx context.Context) (applications.Statistics, error) {
	ctx, cancel := context.WithTimeout(ctx, statisticsTimeout)
	defer cancel()
	out, found, err := s.stored(ctx)
	if found || err != nil {
		return out, err
	}
	if err := s.Count(ctx, 0); err != nil {
		return out, err
	}
	return postgres.GetInTx(ctx, s.db, func(ctx context.Context, q *postgresdb.Queries) (out applications.Statistics, err error) {
		if err := lockStatistics(ctx, q); err != nil { // one process computes, the others read
			return out, err
		}
		counted, err := q.StatisticsProgress(ctx)
		if err != nil {
			return out, err
		}
		hour := counted.CountedTo.UTC()
		if found, err := known(ctx, q, hour, &out); found || err != nil {
			return out, err
		}
		if out, err = compute(ctx, q, hour); err != nil {
			return out, err
		}
		body, err := json.Marshal(out)
		if err != nil {
			return out, err
		}
		if err := q.KeepStatistics(ctx, postgresdb.KeepStatisticsParams{Hour: hour, Body: body}); err != nil {
			return out, err
		}
		return out, q.ForgetStatistics(ctx, hour.Add(-24*time.Hour))
	})
}

// stored returns the figures of the current hour if they were computed.
func (s *Counts) stored(ctx context.Context) (out applications.Statistics, found bool, err error) {
	err = s.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		hour, err := q.ThisHour(ctx)
		if err != nil {
			return err
		}
		found, err = known(ctx, q, hour, &out)
		return err
	})
	return out, found, err
}

// lockStatistics waits until no other process counts or computes. It allows long statements in this transaction.
func lockStatistics(ctx context.Context, q *postgresdb.Queries) error {
	if err := q.AllowLongReading(ctx); err != nil {
		return err
	}
	return q.LockStatistics(ctx)
}

func known(ctx context.Context, q *postgresdb.Queries, hour time.Time, out *applications.Statistics) (bool, error) {
	body, err := q.StatisticsSnapshot(ctx, hour)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	*out = applications.Statistics{}
	return json.Unmarshal(body, out) == nil && out.ByID != nil, nil // rows of another release are computed again
}

func compute(ctx context.Context, q *postgresdb.Queries, hour time.Time) (applications.Statistics, error) {
	s := applications.NewStatistics(hour)
	for _, step := range []func(context.Context, *postgresdb.Queries, *applications.Statistics) error{
		readTotals, readIncidents, readMedians, readMessages, readCallRetries,
	} {
		if err := step(ctx, q, &s); err != nil {
			return s, fault.Wrap(fault.KindOf(postgres.MapError(err)), err, "the statistics cannot be computed now")
		}
	}
	return s, nil
}

func readTotals(ctx context.Context, q *postgresdb.Queries, s *applications.Statistics) error {
	points := make([]time.Time, applications.Points)
	for i := range points {
		points[i] = s.Hour.Add(-time.Duration(i) * applications.Week)
	}
	rows, err := q.TotalsAt(ctx, points)
	for i, r := range rows {
		s.Plans[i], s.Users[i], s.Applications[i] = r.Plans, r.Users, r.Applications
	}
	return err
}

func readIncidents(ctx context.Context, q *postgresdb.Queries, s *applications.Statistics) error {
	rows, err := q.IncidentWeeks(ctx, s.Hour)
	for _, r := range rows {
		f := s.Of(r.ApplicationID)
		f.Incidents[r.Week], f.Claimed[r.Week], f.High[r.Week] = r.Incidents, r.Claimed, r.High
	}
	return err
}

func readMedians(ctx context.Context, q *postgresdb.Queries, s *applications.Statistics) error {
	rows, err := q.ClaimMedians(ctx, s.Hour)
	for _, r := range rows {
		switch {
		case r.Week < 0 || r.Week >= applications.Points:
		case r.ApplicationID == 0:
			s.ClaimMedian[r.Week] = r.Median
		default:
			s.Of(r.ApplicationID).ClaimMedian[r.Week] = r.Median
		}
	}
	return err
}

func readMessages(ctx context.Context, q *postgresdb.Queries, s *applications.Statistics) error {
	rows, err := q.MessageWeeks(ctx, s.Hour)
	for _, r := range rows {
		d := s.Of(r.ApplicationID).Mode(r.Mode)
		d.Sent[r.Week], d.Delivered[r.Week], d.Failed[r.Week], d.Tried[r.Week] = r.Sent, r.Delivered, r.Failed, r.Tried
	}
	return err
}

func readCallRetries(ctx context.Context, q *postgresdb.Queries, s *applications.Statistics) error {
	rows, err := q.CallRetryWeeks(ctx, s.Hour)
	for _, r := range rows {
		if r.Week >= 0 && r.Week < applications.Points {
			s.Of(r.ApplicationID).CallRetries[r.Week] = r.Retries
		}
	}
	return err
}
