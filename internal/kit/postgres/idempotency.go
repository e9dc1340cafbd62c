package postgres

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// replayFor is how long an answer is kept.
const replayFor = 24 * time.Hour

// Idempotency makes a request with an Idempotency-Key act once: the changes of the request and its answer are one
// transaction. It is safe for concurrent use.
type Idempotency struct {
	db *DB
	// slots bounds the connections of units. The others stay free for reads outside of a unit, such as those of caches.
	slots chan struct{}
}

// NewIdempotency returns the adapter over d.
func NewIdempotency(d *DB) *Idempotency {
	return &Idempotency{db: d, slots: make(chan struct{}, max(1, d.pool.Config().MaxConns/2))}
}

// Unit is the transaction of one request with an Idempotency-Key: all calls with its Context work in it. One goroutine
// may use it at a time. If the process dies before Commit, nothing of the request is stored.
type Unit struct {
	db    *DB
	tx    pgx.Tx
	key   operation.ReplayKey
	done  func()   // frees the slot
	after []func() // run by Commit, see AfterCommit
}

type unitKey struct{}

// Context returns a context whose calls of a DB work in the transaction of the unit.
func (u *Unit) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, unitKey{}, u)
}

// unitOf returns the unit of a context, if it is on the database of d.
func (d *DB) unitOf(ctx context.Context) *Unit {
	u, _ := ctx.Value(unitKey{}).(*Unit)
	if u == nil || u.db.pool != d.pool {
		return nil
	}
	return u
}

// AfterCommit calls f when the work of ctx is committed: at once, or after the commit of its Unit. f is a hint, such as
// a wake-up: it also runs if the part of the unit that asked for it was rolled back.
func AfterCommit(ctx context.Context, f func()) {
	if u, _ := ctx.Value(unitKey{}).(*Unit); u != nil {
		u.after = append(u.after, f)
		return
	}
	f()
}

// Begin returns the answer that is stored for the key, or else a unit; the caller must Close the unit. While another
// request with the key runs, Begin waits for its end; after some seconds it returns a Conflict fault. A key that was
// used for another body is a Mismatch fault.
func (i *Idempotency) Begin(ctx context.Context, k operation.ReplayKey) (*operation.Answer, *Unit, error) {
	ctx, cancel := i.db.bounded(ctx)
	defer cancel()
	select {
	case i.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, MapError(ctx.Err())
	}
	stored, unit, err := i.lock(ctx, k)
	if unit == nil {
		<-i.slots
	}
	return stored, unit, err
}

// lock is Begin within a slot.
func (i *Idempotency) lock(ctx context.Context, k operation.ReplayKey) (*operation.Answer, *Unit, error) {
	for try := 1; ; try++ {
		stored, unit, err := i.attempt(ctx, k)
		if SqlState(err) != LockTimeout {
			return stored, unit, MapError(err)
		}
		if try == LockTries {
			return nil, nil, &fault.Error{Kind: fault.Conflict, RetryAfter: time.Second,
				Message: "The first request with this Idempotency-Key is still running"}
		}
	}
}

// attempt begins one transaction and locks the key in it.
func (i *Idempotency) attempt(ctx context.Context, k operation.ReplayKey) (stored *operation.Answer, unit *Unit, err error) {
	var tx pgx.Tx
	err = i.db.retry(ctx, func() (err error) {
		if tx, err = i.db.pool.Begin(ctx); err != nil {
			return &notBegun{err}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	if stored, err = answered(ctx, postgresdb.New(tx), k); err != nil || stored != nil {
		rollback(ctx, tx)
		return stored, nil, err
	}
	return nil, &Unit{db: i.db, tx: tx, key: k, done: func() { <-i.slots }}, nil
}

// Commit stores the answer and commits the unit. Then it calls the functions of AfterCommit.
func (u *Unit) Commit(ctx context.Context, a operation.Answer) error {
	ctx, cancel := u.db.bounded(ctx)
	defer cancel()
	k := u.key
	err := postgresdb.New(u.tx).KeepIdempotentAnswer(ctx,
		postgresdb.KeepIdempotentAnswerParams{ApplicationID: k.ApplicationID, Route: k.Route,
			Key: k.Key, BodyHash: k.BodyHash, Status: a.Status, Location: &a.Location, Body: a.Body})
	if err == nil {
		err = u.tx.Commit(ctx)
	}
	if err != nil {
		return MapError(err)
	}
	for _, f := range u.after {
		f()
	}
	return nil
}

// Close rolls back an uncommitted transaction and frees the connection. It must be called once.
func (u *Unit) Close(ctx context.Context) {
	defer u.done()
	rollback(ctx, u.tx)
}

// LockTimeout is the SQLSTATE of a statement that waited too long for a lock.
const LockTimeout = "55P03"

// queryCanceled is the SQLSTATE of a statement that took longer than statement_timeout.
const queryCanceled = "57014"

// answered locks the key until the transaction ends, and returns the answer that is stored for it; nil = none.
func answered(ctx context.Context, q *postgresdb.Queries, k operation.ReplayKey) (*operation.Answer, error) {
	err := q.LockIdempotencyKey(ctx, postgresdb.LockIdempotencyKeyParams{ApplicationID: k.ApplicationID,
		Route: k.Route, Key: k.Key})
	if err != nil {
		return nil, err
	}
	row, err := q.IdempotentAnswer(ctx, postgresdb.IdempotentAnswerParams{ApplicationID: k.ApplicationID,
		Route: k.Route, Key: k.Key,
		KeepSeconds: replayFor.Seconds()})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, err
	case !bytes.Equal(row.BodyHash, k.BodyHash):
		return nil, fault.New(fault.Mismatch, "Idempotency-Key was used for another request")
	}
	return &operation.Answer{Status: row.Status, Body: row.Body, Location: Deref(row.Location)}, nil
}

// expireBatch is how many answers one statement of Expire deletes.
const expireBatch = 5000

// Expire deletes answers older than a day and returns how many.
func (i *Idempotency) Expire(ctx context.Context) (all int64, err error) {
	for n := int64(expireBatch); n == expireBatch && err == nil; all += n {
		n, err = Query(ctx, i.db, (*postgresdb.Queries).ExpireIdempotencyKeys, postgresdb.ExpireIdempotencyKeysParams{
			KeepSeconds: replayFor.Seconds(), Most: expireBatch,
		})
	}
	return all, err
}
