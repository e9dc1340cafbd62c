package pg

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/catalog/applications"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// mostZones is the number of time zones for which totals are kept ready. Times three periods that is less than
// mostWhole.
const mostZones = 4

// Warm reads the totals of the packed days that the page of statistics shows, unless this process has them. Then no
// person waits for them. It does so in the time zones of the last callers, and before there are enough, in those of
// most people. Filters are left out. After each period it pauses, rest times as long as the period took. It may run
// beside Figures.
func (s *Counts) Warm(ctx context.Context, rest int) error {
	now, err := s.db.Clock(ctx)
	if err != nil {
		return err
	}
	zones, err := s.zonesToWarm(ctx)
	if err != nil {
		return err
	}
	for _, zone := range zones {
		for _, p := range applications.Periods {
			if p.Days == 1 {
				continue // has at most one packed day
			}
			began := time.Now()
			if err := s.warm(ctx, p.Until(now.In(zone))); err != nil {
				return err
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Duration(rest) * time.Since(began)):
			}
		}
	}
	return nil
}

func (s *Counts) warm(ctx context.Context, f applications.FigureQuery) error {
	return s.db.Do(ctx, func(ctx context.Context, q *db.Queries) error {
		at, err := q.StatisticsCountedTo(ctx)
		if err != nil {
			return err
		}
		packed, err := q.PackedDays(ctx, db.PackedDaysParams{After: f.From, Until: f.To})
		if err != nil || len(packed.Days) == 0 {
			return err
		}
		_, err = s.wholeDays(ctx, q, f, at.DaysTo, packed, counted{})
		return err
	})
}

// zonesToWarm returns at most mostZones time zones.
func (s *Counts) zonesToWarm(ctx context.Context) ([]*time.Location, error) {
	common, err := postgres.Get(ctx, s.db, func(ctx context.Context, q *db.Queries) ([]string, error) {
		return q.CommonTimeZones(ctx, mostZones)
	})
	if err != nil {
		return nil, err
	}
	var out []*time.Location
	seen := map[string]bool{}
	for _, name := range append(s.zones.Keys(), common...) {
		zone, err := time.LoadLocation(name)
		if err != nil || seen[zone.String()] || len(out) == mostZones {
			continue
		}
		seen[zone.String()] = true
		out = append(out, zone)
	}
	return out, nil
}
