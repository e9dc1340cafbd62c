package pg

import (
	"context"
	"errors"
	"time"

	"github.com/iris-oncall/iris/internal/auth/pg"
	"github.com/iris-oncall/iris/internal/delivery"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// History is where finished messages go, one partition per month: it implements history.Archive. It is safe for
// concurrent use by several processes.
type History struct {
	db *postgres.DB
}

var _ delivery.Archive = (*History)(nil)

// NewHistory returns the history of a database.
func NewHistory(d *postgres.DB) *History { return &History{d} }

// Move moves finished messages. See history.Archive.
func (h *History) Move(ctx context.Context, age time.Duration, most int) (round delivery.Round, err error) {
	err = h.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		limits := postgresdb.MoveToHistoryParams{AgeUs: age.Microseconds(), Most: most, Revisits: most/10 + 1}
		row, err := q.MoveToHistory(ctx, limits)
		more := row.Passed == limits.Most || row.Revisited == limits.Revisits
		round = delivery.Round{Moved: row.Moved, More: more, Through: row.SettledAt}
		return err
	})
	return round, err
}

// Prepare creates the partitions of this month and the next two.
func (h *History) Prepare(ctx context.Context) error {
	for ahead := range 3 {
		err := h.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
			_, err := q.MakeHistoryPartition(ctx, ahead)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Forget deletes rows older than retention, a bounded number at a time, and reports whether there may be more.
func (h *History) Forget(ctx context.Context, retention time.Duration) (more bool, err error) {
	us := retention.Microseconds()
	steps := []func(context.Context, *postgresdb.Queries) (int64, error){
		func(ctx context.Context, q *postgresdb.Queries) (int64, error) { return q.ForgetStrayReceipts(ctx) },
		func(ctx context.Context, q *postgresdb.Queries) (int64, error) { return q.ForgetVendorMessages(ctx) },
		func(ctx context.Context, q *postgresdb.Queries) (int64, error) { return q.ForgetIdempotencyKeys(ctx) },
		func(ctx context.Context, q *postgresdb.Queries) (int64, error) { return q.ForgetPauses(ctx) },
		func(ctx context.Context, q *postgresdb.Queries) (int64, error) { return q.ForgetHandovers(ctx) },
		func(ctx context.Context, q *postgresdb.Queries) (int64, error) {
			return q.ForgetKnownAddresses(ctx, pg.KeepAddress.Microseconds())
		},
		func(ctx context.Context, q *postgresdb.Queries) (int64, error) { return q.ForgetResolvedGroups(ctx) },
		func(ctx context.Context, q *postgresdb.Queries) (int64, error) {
			return q.ForgetEarlyResolves(ctx, incidents.KeepEarlyResolves.Seconds())
		},
		func(ctx context.Context, q *postgresdb.Queries) (int64, error) { return q.ForgetRestarts(ctx) },
		func(ctx context.Context, q *postgresdb.Queries) (int64, error) { return q.ForgetHeldEvents(ctx) },
		func(ctx context.Context, q *postgresdb.Queries) (int64, error) { return q.ForgetEventGroups(ctx) },
		func(ctx context.Context, q *postgresdb.Queries) (int64, error) {
			return q.ForgetMessageChanges(ctx, us)
		},
		func(ctx context.Context, q *postgresdb.Queries) (int64, error) { return q.ForgetReceipts(ctx, us) },
		func(ctx context.Context, q *postgresdb.Queries) (int64, error) { return q.ForgetUnpartitioned(ctx, us) },
		func(ctx context.Context, q *postgresdb.Queries) (int64, error) {
			return q.ForgetNotificationRequests(ctx, us)
		},
		func(ctx context.Context, q *postgresdb.Queries) (int64, error) { return q.ForgetCounts(ctx) },
		func(ctx context.Context, q *postgresdb.Queries) (int64, error) { return q.ForgetAggregations(ctx) },
		func(ctx context.Context, q *postgresdb.Queries) (int64, error) { return q.ForgetBatches(ctx, us) },
		func(ctx context.Context, q *postgresdb.Queries) (int64, error) {
			_, err := q.DropHistoryPartitions(ctx, us)
			return 0, err
		},
	}
	var failed []error // a step that fails must not stop the others
	for _, step := range steps {
		err := h.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
			n, err := step(ctx, q)
			more = more || n >= 1000
			return err
		})
		if err != nil {
			failed = append(failed, err)
		}
	}
	return more, errors.Join(failed...)
}
