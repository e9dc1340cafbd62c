package postgres

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	// gatherGap is how far apart batches begin in a flood, and crowd how many items in a batch make it one. What a small
	// batch costs is mostly the same for a large one: a machine that spends itself on small ones never gets to large ones.
	gatherGap = 10 * time.Millisecond
	crowd     = 8
)

// Gather turns many small calls that come at the same time into few large ones: while some batches are being run, the
// calls that come in wait and go together in the next. A lone call runs at once, in a flood batches begin a gap apart. There is no background goroutine:
// callers run the batches, each only until its own call is done, and then hand over. It is safe for concurrent use.
type Gather[T, R any] struct {
	// run does the work of a batch and returns a result for each item. When it fails, the items are run one by one, so
	// that a bad one fails alone.
	Run     func(ctx context.Context, items []T) ([]R, error)
	MaxSize int // items in a batch
	MaxRuns int // batches run at the same time

	mu      sync.Mutex
	waiting []*gathered[T, R]
	runs    int
	last    time.Time // when the latest batch was begun; zero if that was no crowd
}

type gathered[T, R any] struct {
	item   T
	ctx    context.Context // its values and deadline; a batch runs under its first call's
	result R
	err    error
	done   chan struct{} // closed when result and err are set
	lead   chan struct{} // receives once when this caller is to run the next batch
}

// Do has item done in some batch. When ctx ends first, the work may still be done. What belongs to a request's transaction
// goes alone: others must not depend on its end.
func (g *Gather[T, R]) Do(ctx context.Context, item T) (R, error) {
	if joined(ctx) != nil {
		results, err := g.Run(ctx, []T{item})
		if err != nil {
			var none R
			return none, err
		}
		return results[0], nil
	}
	c := &gathered[T, R]{item: item, ctx: ctx, done: make(chan struct{}), lead: make(chan struct{}, 1)}
	g.mu.Lock()
	g.waiting = append(g.waiting, c)
	if g.runs < g.MaxRuns {
		g.runs++
		c.lead <- struct{}{}
	}
	g.mu.Unlock()
	for {
		select {
		case <-c.done:
			g.leave(c, false)
			return c.result, c.err
		case <-c.lead:
			g.batch()
		case <-ctx.Done():
			g.leave(c, true)
			var none R
			return none, ctx.Err()
		}
	}
}

// batch runs one batch and hands over to the first who still waits.
func (g *Gather[T, R]) batch() {
	g.mu.Lock()
	if wait := gatherGap - time.Since(g.last); wait > 0 && len(g.waiting) < g.MaxSize {
		g.mu.Unlock()
		<-time.After(wait)
		g.mu.Lock()
	}
	n := min(len(g.waiting), g.MaxSize)
	g.last = time.Time{}
	if n >= crowd {
		g.last = time.Now()
	}
	calls := g.waiting[:n:n]
	g.waiting = g.waiting[n:]
	g.mu.Unlock()
	if n > 0 {
		g.runAll(calls)
	}
	g.mu.Lock()
	g.handOver()
	g.mu.Unlock()
}

// handOver passes the right to run a batch on, or gives it up when nobody waits.
func (g *Gather[T, R]) handOver() {
	for _, c := range g.waiting {
		select {
		case c.lead <- struct{}{}:
			return
		default: // leads already
		}
	}
	g.runs--
}

func (g *Gather[T, R]) runAll(calls []*gathered[T, R]) {
	items := make([]T, len(calls))
	for i, c := range calls {
		items[i] = c.item
	}
	// Whoever runs a batch may give up; the others must not suffer for it. The storage layer sets a deadline.
	results, err := g.Run(context.WithoutCancel(calls[0].ctx), items)
	if err != nil && len(calls) > 1 {
		for _, c := range calls {
			results, err := g.Run(context.WithoutCancel(c.ctx), []T{c.item})
			g.settle(c, results, err)
		}
		return
	}
	for i, c := range calls {
		if err != nil {
			g.settle(c, nil, err)
			continue
		}
		g.settle(c, results[i:i+1], nil)
	}
}

func (g *Gather[T, R]) settle(c *gathered[T, R], results []R, err error) {
	if err == nil {
		c.result = results[0]
	}
	c.err = err
	close(c.done)
}

// leave passes on the right to run a batch if a call that ends has it unused: it may have been given just now, or the
// call's item may have gone with the batch of another. A call that gives up is also taken out of the queue.
func (g *Gather[T, R]) leave(c *gathered[T, R], givesUp bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if givesUp {
		g.waiting = slices.DeleteFunc(g.waiting, func(other *gathered[T, R]) bool { return other == c })
	}
	select {
	case <-c.lead:
		g.handOver()
	default:
	}
}
