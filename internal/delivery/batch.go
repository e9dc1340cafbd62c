package delivery

import (
	"context"
	"sync"
)

// batcher gathers what arrives while earlier batches are being worked on: a single item is worked on at once, a flood in
// large batches. Nothing waits for a timer. add may be called from any goroutine.
type batcher[T any] struct {
	mu      sync.Mutex
	waiting []T
	signal  chan struct{}
}

func newBatcher[T any]() *batcher[T] { return &batcher[T]{signal: make(chan struct{}, 1)} }

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
	for {
		b.mu.Lock()
		n := min(most, len(b.waiting))
		if n > 0 {
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
