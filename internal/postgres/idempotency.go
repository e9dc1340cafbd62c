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

const (
	// replayFor is how long an answer is kept.
	replayFor = 24 * time.Hour
	// abandonedAfter is when a request that never stored its answer counts as dead; far beyond every request's deadline.
	abandonedAfter = 2 * time.Minute
)

// Idempotency keeps the answers to requests that carry an Idempotency-Key. It is safe for concurrent use.
type Idempotency struct{ db *DB }

// NewIdempotency returns the adapter over d.
func NewIdempotency(d *DB) *Idempotency { return &Idempotency{db: d} }

// Claim takes the key for a request that is about to run and returns nil, or returns the answer that was stored for the
// same request. The same key with another body is a Mismatch fault; while the first request runs it is a Conflict.
func (i *Idempotency) Claim(ctx context.Context, k auth.ReplayKey) (stored *auth.Answer, err error) {
	err = i.db.Do(ctx, func(q *db.Queries) error {
		// Between the two statements the key may be released: then it is claimed anew.
		for range maxTries {
			n, err := q.ClaimIdempotencyKey(ctx, db.ClaimIdempotencyKeyParams{ApplicationID: k.ApplicationID, Route: k.Route,
				Key: k.Key, BodyHash: k.BodyHash, KeepSeconds: replayFor.Seconds(), AbandonedSeconds: abandonedAfter.Seconds()})
			if err != nil {
				return err
			}
			if n > 0 {
				stored = nil
				return nil
			}
			row, err := q.IdempotencyKey(ctx, db.IdempotencyKeyParams{ApplicationID: k.ApplicationID, Route: k.Route, Key: k.Key})
			if errors.Is(err, pgx.ErrNoRows) {
				continue
			}
			if err != nil {
				return err
			}
			switch {
			case !bytes.Equal(row.BodyHash, k.BodyHash):
				return fault.New(fault.Mismatch, "Idempotency-Key was used for another request")
			case row.Status == nil && row.Opened != nil: // whoever served it has not stored the answer, or never will
				stored = &auth.Answer{Opened: *row.Opened}
				return nil
			case row.Status == nil:
				return &fault.Error{Kind: fault.Conflict, RetryAfter: time.Second,
					Message: "The first request with this Idempotency-Key is still running"}
			}
			stored = &auth.Answer{Status: int(*row.Status), Body: row.Body}
			if row.Location != nil {
				stored.Location = *row.Location
			}
			return nil
		}
		return fault.New(fault.Conflict, "The first request with this Idempotency-Key is still running")
	})
	return stored, err
}

// Store keeps the answer of the request that claimed the key.
func (i *Idempotency) Store(ctx context.Context, k auth.ReplayKey, a auth.Answer) error {
	status := int16(a.Status)
	return i.db.Do(ctx, func(q *db.Queries) error {
		return q.StoreIdempotentAnswer(ctx, db.StoreIdempotentAnswerParams{ApplicationID: k.ApplicationID, Route: k.Route,
			Key: k.Key, BodyHash: k.BodyHash, Status: &status, Location: &a.Location, Body: a.Body})
	})
}

// Release gives the key back: the request changed nothing and may be tried again.
func (i *Idempotency) Release(ctx context.Context, k auth.ReplayKey) error {
	return i.db.Do(ctx, func(q *db.Queries) error {
		return q.ReleaseIdempotencyKey(ctx, db.ReleaseIdempotencyKeyParams{ApplicationID: k.ApplicationID, Route: k.Route,
			Key: k.Key, BodyHash: k.BodyHash})
	})
}

// Expire removes answers older than a day, some thousands at a time, and returns how many.
func (i *Idempotency) Expire(ctx context.Context) (n int64, err error) {
	err = i.db.Do(ctx, func(q *db.Queries) (err error) {
		n, err = q.ExpireIdempotencyKeys(ctx, replayFor.Seconds())
		return err
	})
	return n, err
}
