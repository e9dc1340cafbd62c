package pg

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// Bench reads figures for `iris bench` that are not visible from outside. Safe for concurrent use.
type Bench struct{ db *postgres.DB }

// NewBench returns the adapter over d.
func NewBench(d *postgres.DB) *Bench { return &Bench{db: d} }

// OwnedSince reports whether every bucket is owned by a member that has written a heartbeat after since, and how long
// ago that instant is, by the database's clock.
func (b *Bench) OwnedSince(ctx context.Context, since time.Time) (owned bool, after time.Duration, err error) {
	err = b.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		row, err := q.BucketsOwnedSince(ctx, since)
		owned, after = row.Owned, postgres.FloatSeconds(row.AfterSeconds)
		return err
	})
	return owned, after, err
}

// AttemptsInDoubt counts an application's vendor calls whose outcome is unknown. It reads whole tables.
func (b *Bench) AttemptsInDoubt(ctx context.Context, application string) (int, error) {
	var n int
	err := b.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) (err error) {
		n, err = q.CountAttemptsInDoubt(ctx, application)
		return err
	})
	return n, err
}

// MessagesUnsettled counts an application's messages that are not sent yet or in doubt.
func (b *Bench) MessagesUnsettled(ctx context.Context, application string) (int, error) {
	var n int
	err := b.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) (err error) {
		n, err = q.CountUnsettledMessages(ctx, application)
		return err
	})
	return n, err
}

// Size is what the queue's tables hold at one moment.
type Size struct {
	Waiting  int           // messages that are not settled
	Oldest   time.Duration // age of the oldest of them; 0 = none waits
	Finished int           // settled messages that are not in history yet
	Settled  time.Duration // how long ago the first of them settled
}

// Size reads the size of the queue. It reads whole tables.
func (b *Bench) Size(ctx context.Context) (s Size, err error) {
	err = b.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		row, err := q.ReadQueueSize(ctx)
		s = Size{int(row.Waiting), postgres.FloatSeconds(row.OldestSeconds), int(row.Finished),
			postgres.FloatSeconds(row.OldestFinishedSeconds)}
		return err
	})
	return s, err
}
