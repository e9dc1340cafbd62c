package batch

import (
	"context"
	"sync"
	"time"
)

// Queue gathers items while its workers are busy. All methods may be called from any goroutine.
type Queue[T any] struct {
	mu     sync.Mutex
	line   line[T]
	signal chan struct{}
}

// NewQueue returns an empty queue. In a flood, batches begin at least a gap apart; a full batch begins at once.
func NewQueue[T any](gap time.Duration) *Queue[T] {
	return &Queue[T]{line: line[T]{gap: gap}, signal: make(chan struct{}, 1)}
}

// Add appends items.
func (q *Queue[T]) Add(items ...T) {
	if len(items) == 0 {
		return
	}
	q.mu.Lock()
	q.line.waiting = append(q.line.waiting, items...)
	q.mu.Unlock()
	q.notify()
}

func (q *Queue[T]) notify() {
	select {
	case q.signal <- struct{}{}:
	default:
	}
}

// Len returns how many items wait.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.line.waiting)
}

// Next waits for items, removes at most that many and returns them in the order in which they were added. It returns
// nil if ctx has ended and no item waits. A worker calls Next as soon as its batch is done: the time of the call is the
// end of that batch.
func (q *Queue[T]) Next(ctx context.Context, most int) []T {
	done := time.Now()
	for {
		batch, wait := q.take(most, done, ctx.Err() != nil)
		switch {
		case len(batch) > 0:
			return batch
		case wait > 0:
			pause(ctx, wait)
			continue
		case ctx.Err() != nil:
			return nil
		}
		select {
		case <-q.signal:
		case <-ctx.Done():
		}
	}
}

// take removes a batch, or returns how long to wait for more items. Both are zero when no item waits.
func (q *Queue[T]) take(most int, done time.Time, ending bool) ([]T, time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.line.waiting) == 0 {
		return nil, 0
	}
	if wait := q.line.wait(most, done); wait > 0 && !ending {
		return nil, wait
	}
	batch := q.line.take(most)
	if len(q.line.waiting) > 0 {
		q.notify() // another worker can take the rest
	}
	return batch, 0
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
