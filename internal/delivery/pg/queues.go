package pg

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/kit/cache"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/messages"
)

// queueTTL is how old a cached view of the queues may be.
const queueTTL = time.Second

// Queues counts the messages that wait for delivery. It is safe for concurrent use.
type Queues struct {
	db     *postgres.DB
	depths *cache.Cache[struct{}, []messages.QueueDepth]
}

// NewQueues returns the adapter over d.
func NewQueues(d *postgres.DB) *Queues {
	return &Queues{db: d, depths: cache.New(cache.Config[struct{}, []messages.QueueDepth]{TTL: queueTTL})}
}

// Depths returns how many messages wait per mode, class and application, without those with nothing pending or in
// flight. The answer is up to a second old; the slice must not be changed.
func (s *Queues) Depths(ctx context.Context) ([]messages.QueueDepth, error) {
	return s.depths.Get(ctx, struct{}{}, func(ctx context.Context) (out []messages.QueueDepth, err error) {
		err = s.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
			rows, err := q.QueueDepths(ctx)
			if err != nil {
				return err
			}
			out = make([]messages.QueueDepth, len(rows))
			for i, r := range rows {
				out[i] = messages.QueueDepth{Mode: r.Mode, Application: r.Application, Class: r.Class,
					Waiting: r.Waiting, InFlight: r.InFlight, OldestAge: time.Duration(r.OldestSeconds * float64(time.Second))}
			}
			return nil
		})
		return out, err
	})
}

// Pending returns, by application id, the number of messages that are not being sent yet, plus the number of incidents
// with an overdue step.
func (s *Queues) Pending(ctx context.Context) (out map[int64]int64, err error) {
	err = s.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		rows, err := q.PendingByApplication(ctx)
		if err != nil {
			return err
		}
		out = make(map[int64]int64, len(rows))
		for _, r := range rows {
			out[r.ApplicationID] = r.Pending
		}
		return nil
	})
	return out, err
}
