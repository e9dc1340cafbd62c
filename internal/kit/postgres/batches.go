package postgres

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/kit/batch"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// batchGap is the least time between the starts of two batches while calls wait.
const batchGap = 10 * time.Millisecond

// Batches runs calls that come at the same time as one statement or transaction. It is safe for concurrent use.
type Batches[T, R any] struct {
	db    *DB
	calls *batch.Calls[T, R]
	run   func(ctx context.Context, items []T) ([]R, error)
}

// NewBatches returns batches on d of at most size items. As many as runs run at the same time. run returns a result for
// each item. When run fails because of an item, the batch is split until that item fails alone.
func NewBatches[T, R any](d *DB, size, runs int, run func(ctx context.Context, items []T) ([]R, error)) *Batches[T, R] {
	return &Batches[T, R]{db: d, run: run, calls: batch.NewCalls(batch.Config[T, R]{
		Run: run, Bad: IsItemFault, Size: size, Runs: runs, Gap: batchGap,
	})}
}

// IsItemFault reports whether one item of a batch may have caused an error. If the database is unreachable or busy,
// splitting the batch would only take longer.
func IsItemFault(err error) bool { return !fault.Is(MapError(err), fault.Unavailable) }

// Do runs an item in some batch. When ctx ends first, the item may still be run. With the context of a Unit the item
// runs alone: calls of other requests must not depend on how the unit ends.
func (b *Batches[T, R]) Do(ctx context.Context, item T) (R, error) {
	if b.db.unitOf(ctx) == nil {
		return b.calls.Do(ctx, item)
	}
	results, err := b.run(ctx, []T{item})
	if err != nil {
		var none R
		return none, err
	}
	return results[0], nil
}
