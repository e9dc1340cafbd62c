package delivery

import (
	"context"
	"sync"
	"time"
)

// crowd is how many items in a batch make the next one wait for company.
const crowd = 8

// batcher gathers what arrives while earlier batches are being worked on: a single item is worked on at once, a flood in
// large batches. In a flood the beginnings of two batches are a gap apart, and after a batch there is a rest as long as it took
// (a gap at most), unless the next one is full: most of what a small batch costs is the same for a large one, and a machine that
// spends itself on small ones never gets to large ones. add may be called from any goroutine.
type batcher[T any] struct {
	gap time.Duration

	mu      sync.Mutex
	waiting []T
	signal  chan struct{}
	last    time.Time // when the latest batch was begun; zero if that was no crowd
}

func newBatcher[T any](gap time.Duration) *batcher[T] {
	return &batcher[T]{gap: gap, signal: make(chan struct{}, 1)}
}

func (b *batcher[T]) add(items ...T) {
	if len(items) == 0 {
		return
	}
	b.mu.Lock()
	b.waiting = append(b.waiting, items...)
	b.mu.Unlock()
	b.poke()
}

func (b *batcher[T]) poke() {
	select {
	case b.signal <- struct{}{}:
	default:
	}
}

// len returns how many items wait.
func (b *batcher[T]) len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.waiting)
}

// next waits for items and returns at most that many, in the order they came; nil when ctx has ended and none wait.
func (b *batcher[T]) next(ctx context.Context, most int) []T {
	done := time.Now()
	for {
		b.mu.Lock()
		n := min(most, len(b.waiting))
		if wait := b.rest(done); n > 0 && n < most && wait > 0 && ctx.Err() == nil {
			b.mu.Unlock()
			pause(ctx, wait)
			continue
		}
		if n > 0 {
			b.last = time.Time{}
			if n >= crowd {
				b.last = time.Now()
			}
			out := b.waiting[:n:n]
			b.waiting = b.waiting[n:]
			if len(b.waiting) > 0 {
				b.poke() // another worker may go on with the rest
			} else {
				b.waiting = nil
			}
			b.mu.Unlock()
			return out
		}
		b.mu.Unlock()
		select {
		case <-b.signal:
		case <-ctx.Done():
			if b.len() == 0 {
				return nil
			}
		}
	}
}

// rest is how long to wait for company after a batch that was worked on until done.
func (b *batcher[T]) rest(done time.Time) time.Duration {
	if b.gap == 0 || b.last.IsZero() {
		return 0
	}
	return max(time.Until(b.last.Add(b.gap)), time.Until(done.Add(min(done.Sub(b.last), b.gap))))
}

func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// split works on a batch, and on its halves when that fails for a reason that lies in the data, so that one bad item
// fails alone. alone is called with each such item and what was wrong with it.
func split[T any](items []T, work func([]T) error, inData func(error) bool, alone func(T, error)) error {
	err := work(items)
	if err == nil || !inData(err) {
		return err
	}
	if len(items) == 1 {
		alone(items[0], err)
		return nil
	}
	half := len(items) / 2
	if err := split(items[:half], work, inData, alone); err != nil {
		return err
	}
	return split(items[half:], work, inData, alone)
}
