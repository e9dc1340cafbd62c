package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
)

// Recently remembers for a moment what was read by key, and lets only one of many who ask at once read it. What does
// not exist, and what failed, is not remembered. It is safe for concurrent use; a value must not be changed.
type Recently[K comparable, V any] struct {
	ttl time.Duration

	mu      sync.Mutex
	entries map[K]*recent[V]
}

type recent[V any] struct {
	done  chan struct{} // closed when value and err are set
	value V
	err   error
	until time.Time
}

// sweepAt is how many entries make a sweep of the stale ones worth its while.
const sweepAt = 1024

func NewRecently[K comparable, V any](ttl time.Duration) *Recently[K, V] {
	return &Recently[K, V]{ttl: ttl, entries: map[K]*recent[V]{}}
}

// Get returns what read gives for k, now or at most ttl ago. read runs without the caller's cancellation, since others
// may wait for its answer.
func (c *Recently[K, V]) Get(ctx context.Context, k K, read func(context.Context) (V, error)) (V, error) {
	c.mu.Lock()
	e, ok := c.entries[k]
	if ok {
		select {
		case <-e.done:
			ok = e.err == nil && time.Now().Before(e.until)
		default:
		}
	}
	if !ok {
		e = &recent[V]{done: make(chan struct{})}
		c.sweep()
		c.entries[k] = e
		c.mu.Unlock()
		return c.fill(ctx, k, e, read)
	}
	c.mu.Unlock()
	select {
	case <-e.done:
		return e.value, e.err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}

// fill reads for everybody who waits for e. They are answered even if read panics.
func (c *Recently[K, V]) fill(ctx context.Context, k K, e *recent[V], read func(context.Context) (V, error)) (V, error) {
	e.err = errNotRead
	defer func() {
		if e.err != nil {
			c.forgetEntry(k, e)
		}
		close(e.done)
	}()
	e.value, e.err = read(context.WithoutCancel(ctx))
	e.until = time.Now().Add(c.ttl)
	return e.value, e.err
}

var errNotRead = fault.New(fault.Internal, "reading did not return")

// Forget makes the next get of every key read again, also those that are being read now.
func (c *Recently[K, V]) Forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.entries)
}

func (c *Recently[K, V]) forgetEntry(k K, e *recent[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[k] == e {
		delete(c.entries, k)
	}
}

func (c *Recently[K, V]) sweep() {
	if len(c.entries) < sweepAt {
		return
	}
	now := time.Now()
	for k, e := range c.entries {
		select {
		case <-e.done:
			if !now.Before(e.until) {
				delete(c.entries, k)
			}
		default:
		}
	}
}
