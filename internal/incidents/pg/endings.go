// This file ends open incidents that their sources do not end: it closes those without news, and resolves those without
// deliveries.

package pg

import (
	"context"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// endBatch is how many incidents one transaction closes or resolves.
const endBatch = 500

// Endings ends incidents. It is safe for concurrent use.
type Endings struct{ db *postgres.DB }

// NewEndings returns the endings of incidents in d.
func NewEndings(d *postgres.DB) *Endings { return &Endings{d} }

// Ended are the incidents that were closed or resolved.
type Ended []incidents.ID

// Buckets returns the buckets of the incidents.
func (e Ended) Buckets() (s buckets.Set) {
	for _, id := range e {
		s.Add(BucketOf(int64(id)))
	}
	return s
}

// End is an integration whose incidents end in another way than configured.
type End struct {
	Integration  int64
	ResolveAfter time.Duration  // 0 = never
	CloseAfter   *time.Duration // nil = as configured
}

// Ends returns the integrations whose incidents end in another way than configured.
func (s *Endings) Ends(ctx context.Context) ([]End, error) {
	rows, err := postgres.Read(ctx, s.db, (*postgresdb.Queries).IntegrationEnds)
	return postgres.Convert(rows, func(r postgresdb.IntegrationEndsRow) End {
		e := End{Integration: r.ID, ResolveAfter: postgres.FromSeconds(postgres.Deref(r.ResolveAfterSeconds))}
		if r.CloseAfterSeconds != nil {
			d := postgres.FromSeconds(*r.CloseAfterSeconds)
			e.CloseAfter = &d
		}
		return e
	}), err
}

// CloseQuiet closes a batch of open incidents that had no news for so long: those of an integration, or if it is 0,
// those of no integration and of integrations that are not in except. A delivery, a comment, a page and every change of
// the state are news. more reports whether there may be further incidents.
func (s *Endings) CloseQuiet(ctx context.Context, after time.Duration, integration int64, except []int64) (closed Ended, more bool, err error) {
	return s.end(ctx, incidents.Close, after, "there was no news for "+humanize.Duration(after)+
		": the incident is closed",
		func(ctx context.Context, q *postgresdb.Queries, since time.Time) ([]postgresdb.Incident, error) {
			rows, err := q.LockWithoutNews(ctx, postgresdb.LockWithoutNewsParams{Since: since,
				Integration: integration, Excepted: postgres.NonNil(except), Most: endBatch})
			return postgres.Convert(rows,
				func(r postgresdb.LockWithoutNewsRow) postgresdb.Incident { return r.Incident }), err
		})
}

// ResolveUndelivered resolves a batch of open incidents of an integration that had no delivery for so long. The results
// are like those of CloseQuiet.
func (s *Endings) ResolveUndelivered(ctx context.Context, after time.Duration, integration int64) (resolved Ended, more bool, err error) {
	return s.end(ctx, incidents.Resolve, after, "resolved, because there was no delivery for "+humanize.Duration(after),
		func(ctx context.Context, q *postgresdb.Queries, since time.Time) ([]postgresdb.Incident, error) {
			rows, err := q.LockWithoutDelivery(ctx, postgresdb.LockWithoutDeliveryParams{Since: since,
				Integration: integration, Most: endBatch})
			return postgres.Convert(rows,
				func(r postgresdb.LockWithoutDeliveryRow) postgresdb.Incident { return r.Incident }), err
		})
}

// end writes an event for incidents that lock returns.
func (s *Endings) end(ctx context.Context, e incidents.Event, after time.Duration, text string,
	lock func(ctx context.Context, q *postgresdb.Queries, since time.Time) ([]postgresdb.Incident, error),
) (ended Ended, more bool, err error) {
	err = s.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		now, err := q.ServerClock(ctx)
		if err != nil {
			return err
		}
		rows, err := lock(ctx, q, now.Add(-after))
		if err != nil {
			return err
		}
		made, err := Transit(ctx, q, e, postgresdb.SetStatesParams{}, rows...)
		if err != nil || len(made) == 0 {
			ended = nil
			return err
		}
		ended = postgres.Convert(rows, func(r postgresdb.Incident) incidents.ID { return r.ID })
		ids := postgres.Numbers(ended)
		err = q.AddEntries(ctx, postgresdb.AddEntriesParams{IncidentIds: ids, Kind: made[0].Kind,
			Texts: slices.Repeat([]string{text}, len(ids))})
		if err == nil && e == incidents.Resolve {
			err = Resolved(ctx, q, ids, "")
		}
		return err
	})
	return ended, len(ended) == endBatch, err
}
