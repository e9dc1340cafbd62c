package postgres

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
	"github.com/iris-oncall/iris/internal/users"
)

// UnsentMessage is a message that has not left.
type UnsentMessage struct {
	Bucket      int
	MessageID   messages.ID
	Mode        users.Mode
	Application string
	Age         time.Duration // since it first became due, on the database's clock
}

// OldestUnsent returns the message of every application and class that became due first and has not left, whoever owns its
// bucket and whatever the reason: the oldest first, a hundred at most. What an operator has paused is left out.
func (r *Runner) OldestUnsent(ctx context.Context) ([]UnsentMessage, error) {
	var out []UnsentMessage
	err := r.db.Do(ctx, func(q *db.Queries) error {
		rows, err := q.OldestUnsent(ctx)
		if err != nil {
			return err
		}
		out = make([]UnsentMessage, len(rows))
		for i, row := range rows {
			out[i] = UnsentMessage{
				Bucket: int(row.Bucket), MessageID: messages.ID(row.ID), Mode: users.Mode(row.Mode), Application: row.Application,
				Age: ageOf(row.AgeSeconds),
			}
		}
		return nil
	})
	return out, err
}

func ageOf(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
