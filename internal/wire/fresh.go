package wire

import (
	"context"
	"sync"

	"github.com/iris-oncall/iris/internal/fault"
)

// Fresh reads values for many who ask at the same time with few reads, and yet never answers with what was read before
// the question came: whoever asks while a read of the same key runs waits for the next one, together with all others
// who came meanwhile. Nothing is remembered. It is safe for concurrent use; a value must not be changed.
type Fresh[K comparable, V any] struct {
	read func(context.Context, K) (V, error)

	mu      sync.Mutex
	running map[K]*reading[V]
}

type reading[V any] struct {
	done  chan struct{} // closed when value and err are set
	value V
	err   error
	next  *reading[V] // the one that begins when this one is done; nil = nobody waits
}

// NewFresh returns a Fresh over read.
func NewFresh[K comparable, V any](read func(context.Context, K) (V, error)) *Fresh[K, V] {
	return &Fresh[K, V]{read: read, running: map[K]*reading[V]{}}
}

// Get returns what a read that began after the call gives.
func (f *Fresh[K, V]) Get(ctx context.Context, k K) (V, error) {
	f.mu.Lock()
	now := f.running[k]
	switch {
	case now == nil:
		r := &reading[V]{done: make(chan struct{})}
		f.running[k] = r
		f.mu.Unlock()
		return f.run(ctx, k, r)
	case now.next == nil:
		r := &reading[V]{done: make(chan struct{})}
		now.next = r
		f.mu.Unlock()
		<-now.done // others rely on this one: it does not give up; the read before it has a deadline
		return f.run(ctx, k, r)
	default:
		r := now.next
		f.mu.Unlock()
		select {
		case <-r.done:
			return r.value, r.err
		case <-ctx.Done():
			var none V
			return none, ctx.Err()
		}
	}
}

// run reads for everybody who waits for r, then lets the next begin.
func (f *Fresh[K, V]) run(ctx context.Context, k K, r *reading[V]) (V, error) {
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if r.next == nil {
			delete(f.running, k)
		} else {
			f.running[k] = r.next
		}
		close(r.done)
	}()
	r.err = fault.New(fault.Internal, "reading did not return") // what others get if it panics
	r.value, r.err = f.read(context.WithoutCancel(ctx), k)
	return r.value, r.err
}
