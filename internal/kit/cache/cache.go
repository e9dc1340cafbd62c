// Package cache keeps values that were read a short time ago, so that many callers cost one read. It is a library: it
// imports nothing of Iris but faults. Storage, the resolver, the edges and the vendors use it.
//
// A value is never older than the TTL of the cache at the time of the call. With a TTL of 0 no value is kept, but
// concurrent calls still share reads: a call joins only a read that begins after the call.
package cache

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Forever is the TTL of values that never change.
const Forever time.Duration = math.MaxInt64

// defaultEntries is the bound of a cache whose Config names none.
const defaultEntries = 10_000

// Config of a cache.
type Config[K comparable, V any] struct {
	// TTL is how old a value may be, counted from the begin of its read. 0 = nothing is kept.
	TTL time.Duration
	// Entries is how many keys are kept; the least recently used one goes first. 0 = 10,000.
	Entries int
	// Weigh returns the size of an entry in any unit, and MaxWeight bounds the sum of the sizes. nil or 0 = no bound.
	Weigh     func(K, V) int
	MaxWeight int
}

// Cache keeps values by key. It is safe for concurrent use. Callers must not change a value that they get.
type Cache[K comparable, V any] struct {
	cfg Config[K, V]

	mu      sync.Mutex
	entries *simplelru.LRU[K, *entry[V]]
	weight  int
}

// entry is a value, or a running read. value, err and absent do not change after done is closed. The mutex of the cache
// guards next and weight.
type entry[V any] struct {
	began  time.Time
	done   chan struct{} // closed when value and err are set
	value  V
	err    error
	absent bool // GetAll did not find the key
	weight int
	next   *entry[V] // the read that begins when this one is done; nil = no call waits for another read
}

// New returns an empty cache.
func New[K comparable, V any](cfg Config[K, V]) *Cache[K, V] {
	if cfg.Entries <= 0 {
		cfg.Entries = defaultEntries
	}
	c := &Cache[K, V]{cfg: cfg}
	c.entries, _ = simplelru.NewLRU(cfg.Entries,
		func(_ K, e *entry[V]) { c.weight -= e.weight }) // fails for a size below 1 only
	return c
}

// Get returns the value of a key, from the cache or from read. Concurrent calls for a key share one read. The read does
// not end with the context of its caller, and has none of its values. An error goes to all callers of that read and is
// not kept.
func (c *Cache[K, V]) Get(ctx context.Context, k K, read func(context.Context) (V, error)) (V, error) {
	c.mu.Lock()
	e, known := c.entries.Get(k)
	switch {
	case known && c.fresh(e, time.Now()) && !e.absent:
	case known && !e.isDone() && e.next != nil:
		e = e.next
	case known && !e.isDone():
		before := e
		e = &entry[V]{done: make(chan struct{})}
		before.next = e
		c.mu.Unlock()
		<-before.done // does not end with ctx: others rely on this read
		return c.fill(ctx, k, e, read)
	default:
		e = &entry[V]{done: make(chan struct{}), began: time.Now()}
		c.store(k, e)
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

// fill reads the value of e for all callers that wait for e. A panic of read becomes an error for all of them.
func (c *Cache[K, V]) fill(ctx context.Context, k K, e *entry[V], read func(context.Context) (V, error)) (v V, err error) {
	if e.began.IsZero() { // e waited for the previous read
		c.mu.Lock()
		e.began = time.Now()
		c.store(k, e)
		c.mu.Unlock()
	}
	e.err = errNotRead
	defer func() {
		c.finish(k, e)
		v, err = e.value, e.err
	}()
	defer fault.Recover(&e.err)
	e.value, e.err = read(shared{context.WithoutCancel(ctx)})
	return v, err
}

// shared is the context of a read for all callers: it has no values of the caller that begins the read, such as its
// transaction.
type shared struct{ context.Context }

// Value implements context.Context.
func (shared) Value(any) any { return nil }

var errNotRead = fault.New(fault.Internal, "reading did not return")

// finish wakes the callers that wait for e. It keeps e, unless the read failed or e was removed or replaced meanwhile.
func (c *Cache[K, V]) finish(k K, e *entry[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(e.done)
	if current, _ := c.entries.Peek(k); current != e {
		return
	}
	c.entries.Remove(k)
	if e.err == nil && c.cfg.TTL > 0 {
		c.store(k, e)
	}
}

// GetAll returns the values of the keys that exist: from the cache, and from one read of all missing keys. read leaves
// out keys that do not exist; the cache remembers them too. Concurrent calls of GetAll do not share reads.
func (c *Cache[K, V]) GetAll(ctx context.Context, keys []K, read func(ctx context.Context, missing []K) (map[K]V, error)) (map[K]V, error) {
	out := make(map[K]V, len(keys))
	began := time.Now()
	missing := c.known(keys, out, began)
	if len(missing) == 0 {
		return out, nil
	}
	found, err := read(shared{ctx}, missing)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range missing {
		v, exists := found[k]
		if exists {
			out[k] = v
		}
		c.keep(k, v, !exists, began)
	}
	return out, nil
}

// known adds the values of known keys to out and returns the other keys, each once.
func (c *Cache[K, V]) known(keys []K, out map[K]V, now time.Time) []K {
	c.mu.Lock()
	defer c.mu.Unlock()
	var missing []K
	seen := make(map[K]bool, len(keys))
	for _, k := range keys {
		if seen[k] {
			continue
		}
		seen[k] = true
		e, found := c.entries.Get(k)
		switch {
		case !found || !e.isDone() || !c.fresh(e, now):
			missing = append(missing, k)
		case !e.absent:
			out[k] = e.value
		}
	}
	return missing
}

// Lookup returns the value of a key if it is in the cache.
func (c *Cache[K, V]) Lookup(k K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, found := c.entries.Get(k)
	if !found || !e.isDone() || e.absent || !c.fresh(e, time.Now()) {
		var none V
		return none, false
	}
	return e.value, true
}

// Keys returns the keys that are in the cache, the most recently used first.
func (c *Cache[K, V]) Keys() []K {
	c.mu.Lock()
	defer c.mu.Unlock()
	keys := c.entries.Keys()
	slices.Reverse(keys)
	return keys
}

// Put stores a value that was read now.
func (c *Cache[K, V]) Put(k K, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keep(k, v, false, time.Now())
}

// Forget removes keys. The result of a running read is not kept, and a call after Forget does not join that read.
func (c *Cache[K, V]) Forget(keys ...K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, k := range keys {
		c.entries.Remove(k)
	}
}

// Clear removes all keys, as Forget does.
func (c *Cache[K, V]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries.Purge()
}

// fresh reports whether a call at now may use the value or the running read of e. With a TTL of 0 no entry is fresh: a
// call needs a read that begins after it.
func (c *Cache[K, V]) fresh(e *entry[V], now time.Time) bool {
	return c.cfg.TTL > 0 && now.Sub(e.began) < c.cfg.TTL
}

func (c *Cache[K, V]) keep(k K, v V, absent bool, began time.Time) {
	if c.cfg.TTL <= 0 {
		return
	}
	e := &entry[V]{began: began, done: make(chan struct{}), value: v, absent: absent}
	close(e.done)
	c.store(k, e)
}

// store replaces the entry of k by e. It evicts the least recently used entries until the weight is within MaxWeight.
func (c *Cache[K, V]) store(k K, e *entry[V]) {
	c.entries.Remove(k)
	if c.cfg.Weigh != nil && e.isDone() && !e.absent {
		e.weight = c.cfg.Weigh(k, e.value)
		c.weight += e.weight
	}
	c.entries.Add(k, e)
	for c.cfg.MaxWeight > 0 && c.weight > c.cfg.MaxWeight && c.entries.Len() > 1 {
		c.entries.RemoveOldest()
	}
}

func (e *entry[V]) isDone() bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}
