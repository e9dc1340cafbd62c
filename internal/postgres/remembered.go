package postgres

import (
	"sync"
	"time"
)

// Remembered keeps values that were read in batches for a moment, at most limit of them. It is safe for concurrent use;
// a value must not be changed.
type Remembered[K comparable, V any] struct {
	ttl   time.Duration
	limit int

	mu      sync.Mutex
	entries map[K]dated[V]
}

type dated[V any] struct {
	value V
	until time.Time
}

func NewRemembered[K comparable, V any](ttl time.Duration, limit int) *Remembered[K, V] {
	return &Remembered[K, V]{ttl: ttl, limit: limit, entries: map[K]dated[V]{}}
}

func (r *Remembered[K, V]) Get(k K) (V, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, ok := r.entries[k]
	if !ok || !time.Now().Before(e.until) {
		var none V
		return none, false
	}
	return e.value, true
}

// Put keeps a value; asked is when reading it began, so that its age is never understated.
func (r *Remembered[K, V]) Put(k K, v V, asked time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.entries) >= r.limit {
		clear(r.entries)
	}
	r.entries[k] = dated[V]{value: v, until: asked.Add(r.ttl)}
}
