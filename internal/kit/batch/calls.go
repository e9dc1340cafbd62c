package batch

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Calls runs simultaneous calls as few batches. While the maximum number of batches runs, new calls wait and go into
// the next batch. Calls is safe for concurrent use. It has no goroutine while no call waits.
type Calls[T, R any] struct {
	cfg Config[T, R]

	mu   sync.Mutex
	line line[*call[T, R]]
	runs int
}

// Config of Calls.
type Config[T, R any] struct {
	// Run does the work of a batch and returns a result for each item, in the same order. Its context has no deadline
	// and carries the values of one of the callers. A panic of Run becomes an error.
	Run func(ctx context.Context, items []T) ([]R, error)
	// Bad reports whether one of the items caused an error of Run. Then the batch is split until that item fails alone.
	// nil = always.
	Bad func(error) bool
	// Size is the maximum number of items in a batch. Runs is the maximum number of simultaneous batches. Both are at
	// least 1.
	Size, Runs int
	// Gap is the time from the begin of one batch to the begin of the next in a flood. 0 = none.
	Gap time.Duration
}

type call[T, R any] struct {
	item   T
	result R
	err    error
	done   chan struct{} // closed when result and err are set
}

// NewCalls returns Calls that runs batches as cfg says.
func NewCalls[T, R any](cfg Config[T, R]) *Calls[T, R] {
	if cfg.Bad == nil {
		cfg.Bad = func(error) bool { return true }
	}
	return &Calls[T, R]{cfg: cfg, line: line[*call[T, R]]{gap: cfg.Gap}}
}

// Do works on an item as part of a batch. It returns the result, or the error of the batch or the item. If ctx ends
// first, Do returns ctx.Err(), and the work may still be done.
func (c *Calls[T, R]) Do(ctx context.Context, item T) (R, error) {
	mine := &call[T, R]{item: item, done: make(chan struct{})}
	c.mu.Lock()
	c.line.waiting = append(c.line.waiting, mine)
	if c.runs < c.cfg.Runs {
		c.runs++
		go c.work(context.WithoutCancel(ctx))
	}
	c.mu.Unlock()
	select {
	case <-mine.done:
		return mine.result, mine.err
	case <-ctx.Done():
		c.giveUp(mine)
		var none R
		return none, ctx.Err()
	}
}

// work runs batches until no call waits.
func (c *Calls[T, R]) work(ctx context.Context) {
	for batch := c.next(); batch != nil; batch = c.next() {
		err := Split(batch, func(calls []*call[T, R]) error { return c.run(ctx, calls) }, c.cfg.Bad,
			func(failed *call[T, R], err error) { failed.end(err) })
		for _, one := range batch {
			one.end(err)
		}
	}
}

// next returns the next batch. It returns nil if no call waits; the goroutine that called next must end then.
func (c *Calls[T, R]) next() []*call[T, R] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if wait := c.line.wait(c.cfg.Size, time.Time{}); wait > 0 && len(c.line.waiting) > 0 {
		c.mu.Unlock()
		pause(context.Background(), wait)
		c.mu.Lock()
	}
	if len(c.line.waiting) == 0 {
		c.runs--
		return nil
	}
	return c.line.take(c.cfg.Size)
}

func (c *Calls[T, R]) run(ctx context.Context, calls []*call[T, R]) (err error) {
	defer fault.Recover(&err)
	items := make([]T, len(calls))
	for i, one := range calls {
		items[i] = one.item
	}
	results, err := c.cfg.Run(ctx, items)
	if err != nil {
		return err
	}
	for i, one := range calls {
		one.result = results[i]
		one.end(nil)
	}
	return nil
}

// end sets the error and wakes the caller of Do. Only the first end of a call counts. It needs no lock: only one
// goroutine works on a call.
func (c *call[T, R]) end(err error) {
	select {
	case <-c.done:
	default:
		c.err = err
		close(c.done)
	}
}

// giveUp removes a call that still waits. A call that is in a batch already is not changed.
func (c *Calls[T, R]) giveUp(waiting *call[T, R]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.line.waiting = slices.DeleteFunc(c.line.waiting, func(other *call[T, R]) bool { return other == waiting })
}
