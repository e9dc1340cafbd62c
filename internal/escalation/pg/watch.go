package pg

import (
	"context"
	"encoding/json"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// UnsentMessage is a message that was not sent yet.
type UnsentMessage struct {
	Bucket      int
	MessageID   messages.ID
	Mode        users.Mode
	Application string
	Age         time.Duration // since it first became due, on the database's clock
}

const (
	// unsentWatch is the name of the check for unsent messages in watch_results.
	unsentWatch = "unsent"
	// watchFresh is how old a result may be before a process makes the check again.
	watchFresh = 4 * time.Second
	// watchStale is how old a result may be while another process makes the check. After that a process makes the check
	// itself.
	watchStale = 15 * time.Second
)

// OldestUnsent returns, of every application and class, the unsent message that became due first, of all buckets:
// oldest first, at most a hundred. Paused messages are left out. One process makes this check at a time, because it
// reads much; the others get its result, which is up to a few seconds old.
func (r *Runner) OldestUnsent(ctx context.Context) ([]UnsentMessage, error) {
	found, age, err := r.sharedUnsent(ctx)
	if err != nil || age <= watchFresh {
		return found, err
	}
	var mine int64
	err = r.db.Do(ctx, func(ctx context.Context, q *db.Queries) (err error) {
		mine, err = q.ClaimWatch(ctx, db.ClaimWatchParams{Name: unsentWatch, WithinUs: watchFresh.Microseconds()})
		return err
	})
	if err != nil || mine == 0 && age <= watchStale {
		return found, err
	}
	if found, err = r.checkUnsent(ctx); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(found)
	if err != nil {
		return nil, err
	}
	return found, r.db.Do(ctx, func(ctx context.Context, q *db.Queries) error {
		return q.StoreWatch(ctx, db.StoreWatchParams{Name: unsentWatch, Result: string(raw)})
	})
}

// sharedUnsent returns the result of another process and its age. Without a result the age is above every limit.
func (r *Runner) sharedUnsent(ctx context.Context) (found []UnsentMessage, age time.Duration, err error) {
	var row db.WatchResultRow
	err = r.db.Do(ctx, func(ctx context.Context, q *db.Queries) (err error) {
		row, err = q.WatchResult(ctx, unsentWatch)
		return err
	})
	if fault.Is(err, fault.NotFound) {
		return nil, time.Hour, nil
	}
	if err != nil {
		return nil, 0, err
	}
	age = max(0, postgres.FloatSeconds(row.AgeSeconds))
	if err := json.Unmarshal([]byte(row.Result), &found); err != nil {
		return nil, time.Hour, nil // written by a release with another format
	}
	for i := range found {
		found[i].Age += age
	}
	return found, age, nil
}

func (r *Runner) checkUnsent(ctx context.Context) ([]UnsentMessage, error) {
	var out []UnsentMessage
	err := r.db.Do(ctx, func(ctx context.Context, q *db.Queries) error {
		rows, err := q.OldestUnsent(ctx)
		if err != nil {
			return err
		}
		out = make([]UnsentMessage, len(rows))
		for i, row := range rows {
			out[i] = UnsentMessage{
				Bucket: row.Bucket, MessageID: messages.ID(row.ID), Mode: users.Mode(row.Mode), Application: row.Application,
				Age: postgres.FloatSeconds(row.AgeSeconds),
			}
		}
		return nil
	})
	return out, err
}
