package postgres

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
	"github.com/iris-oncall/iris/internal/users"
)

// BucketPending is the message of a bucket that has waited longest to be taken.
type BucketPending struct {
	Bucket      int
	MessageID   messages.ID
	Mode        users.Mode
	Application string
	Age         time.Duration // since it could have been taken, on the database's clock
}

// OldestPending returns the message of every bucket that has waited longest although it may be taken, whoever owns the
// bucket: what every process watches. What is paused by an operator is left out.
func (r *Runner) OldestPending(ctx context.Context) ([]BucketPending, error) {
	var out []BucketPending
	err := r.db.Do(ctx, func(q *db.Queries) error {
		rows, err := q.OldestPendingByBucket(ctx)
		if err != nil {
			return err
		}
		out = make([]BucketPending, len(rows))
		for i, row := range rows {
			out[i] = BucketPending{
				Bucket: int(row.Bucket), MessageID: messages.ID(row.ID), Mode: users.Mode(row.Mode), Application: row.Application,
				Age: time.Duration(row.AgeSeconds * float64(time.Second)),
			}
		}
		return nil
	})
	return out, err
}
