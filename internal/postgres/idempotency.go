package postgres

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/postgres/internal/db"
)

// replayFor is how long an answer is kept.
const replayFor = 24 * time.Hour

// Idempotency makes requests that carry an Idempotency-Key act once. Such a request is one transaction: all that the adapters
// of this package do for it, and its answer. It is safe for concurrent use.
type Idempotency struct {
	db *DB
	// slots bounds how many connections such requests hold: they may wait for what another request reads, and that needs one.
	slots chan struct{}
}

// NewIdempotency returns the adapter over d.
func NewIdempotency(d *DB) *Idempotency {
	return &Idempotency{db: d, slots: make(chan struct{}, max(1, d.pool.Config().MaxConns/2))}
}

// joinedKey holds the pgx.Tx of the request in its context.
type joinedKey struct{}

// joined returns the transaction that the request of ctx is; nil when each of its changes commits by itself.
func joined(ctx context.Context) pgx.Tx {
	tx, _ := ctx.Value(joinedKey{}).(pgx.Tx)
	return tx
}

// Once returns the answer that was stored for the same request, or runs work, commits all that it did with the context it
// gets together with the answer it returns, and returns nil. When work returns false, nothing of it stays and the key is free.
// A request whose process dies leaves nothing behind either. While another request with the key runs, Once waits for its
// end; longer than some seconds is a Conflict. The same key with another body is a Mismatch fault. work runs at most once, and must
// use its context from one goroutine at a time.
func (i *Idempotency) Once(ctx context.Context, k auth.ReplayKey, work func(context.Context) (auth.Answer, bool)) (stored *auth.Answer, err error) {
	ctx, cancel := i.db.bounded(ctx)
	defer cancel()
	select {
	case i.slots <- struct{}{}:
		defer func() { <-i.slots }()
	case <-ctx.Done():
		return nil, MapError(ctx.Err())
	}
	for try := 1; ; try++ {
		stored, begun, err := i.attempt(ctx, k, work)
		if begun || SqlState(err) != LockTimeout {
			return stored, MapError(err)
		}
		if try == LockTries {
			return nil, &fault.Error{Kind: fault.Conflict, RetryAfter: time.Second,
				Message: "The first request with this Idempotency-Key is still running"}
		}
	}
}

// attempt is one transaction of Once; begun tells that work was run.
func (i *Idempotency) attempt(ctx context.Context, k auth.ReplayKey, work func(context.Context) (auth.Answer, bool)) (stored *auth.Answer, begun bool, err error) {
	var tx pgx.Tx
	err = i.db.retry(ctx, func() (err error) {
		if tx, err = i.db.pool.Begin(ctx); err != nil {
			return &notBegun{err}
		}
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	defer rollback(ctx, tx)
	q := db.New(tx)
	if stored, err = answered(ctx, q, k); err != nil || stored != nil {
		return stored, false, err
	}
	answer, keep := work(context.WithValue(ctx, joinedKey{}, tx))
	if !keep {
		return nil, true, nil
	}
	err = q.KeepIdempotentAnswer(ctx, db.KeepIdempotentAnswerParams{ApplicationID: k.ApplicationID, Route: k.Route,
		Key: k.Key, BodyHash: k.BodyHash, Status: int16(answer.Status), Location: &answer.Location, Body: answer.Body})
	if err == nil {
		err = tx.Commit(ctx)
	}
	return nil, true, err
}

// LockTimeout is the SQLSTATE of a statement that waited too long for a lock.
const LockTimeout = "55P03"

// answered waits until no other request with the key runs, and returns the answer that is stored for it; nil when there is none.
func answered(ctx context.Context, q *db.Queries, k auth.ReplayKey) (*auth.Answer, error) {
	err := q.LockIdempotencyKey(ctx, db.LockIdempotencyKeyParams{ApplicationID: k.ApplicationID, Route: k.Route, Key: k.Key})
	if err != nil {
		return nil, err
	}
	row, err := q.IdempotentAnswer(ctx, db.IdempotentAnswerParams{ApplicationID: k.ApplicationID, Route: k.Route, Key: k.Key,
		KeepSeconds: replayFor.Seconds()})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, err
	case !bytes.Equal(row.BodyHash, k.BodyHash):
		return nil, fault.New(fault.Mismatch, "Idempotency-Key was used for another request")
	}
	stored := &auth.Answer{Status: int(row.Status), Body: row.Body}
	if row.Location != nil {
		stored.Location = *row.Location
	}
	return stored, nil
}

// Expire removes answers older than a day, some thousands at a time, and returns how many.
func (i *Idempotency) Expire(ctx context.Context) (n int64, err error) {
	err = i.db.Do(ctx, func(ctx context.Context, q *db.Queries) (err error) {
		n, err = q.ExpireIdempotencyKeys(ctx, replayFor.Seconds())
		return err
	})
	return n, err
}
