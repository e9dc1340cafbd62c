package oncall

import (
	"context"
	"sync"
	"time"
)

// Recent remembers for a moment what was read, so that a burst of incidents reads each team and person once, in batches.
// Absence is remembered too. It is safe for use by many goroutines; a value must not be changed by who receives it.
type Recent[K comparable, V any] struct {
	read func(ctx context.Context, keys []K) (map[K]V, error)
	ttl  time.Duration

	mu      sync.Mutex
	entries map[K]recentEntry[V]
	swept   time.Time
}

type recentEntry[V any] struct {
	value V
	ok    bool
	until time.Time
}

// NewRecent returns a Recent over read, which must answer for all keys that exist and leave out the others. An answer
// is kept for ttl; with a ttl of 0 or less it is kept for no time at all.
func NewRecent[K comparable, V any](ttl time.Duration, read func(ctx context.Context, keys []K) (map[K]V, error)) *Recent[K, V] {
	return &Recent[K, V]{read: read, ttl: ttl, entries: map[K]recentEntry[V]{}}
}

// Get returns what is known of the keys; those that do not exist are missing from the answer. At most one read is made.
func (r *Recent[K, V]) Get(ctx context.Context, keys ...K) (map[K]V, error) {
	out := make(map[K]V, len(keys))
	missing := r.known(keys, out)
	if len(missing) == 0 {
		return out, nil
	}
	found, err := r.read(ctx, missing)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	until := time.Now().Add(r.ttl)
	for _, k := range missing {
		v, ok := found[k]
		if r.ttl > 0 {
			r.entries[k] = recentEntry[V]{value: v, ok: ok, until: until}
		}
		if ok {
			out[k] = v
		}
	}
	return out, nil
}

// known fills out with what is remembered and returns the other keys, each once.
func (r *Recent[K, V]) known(keys []K, out map[K]V) []K {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if now.Sub(r.swept) >= r.ttl {
		for k, e := range r.entries {
			if !now.Before(e.until) {
				delete(r.entries, k)
			}
		}
		r.swept = now
	}
	var missing []K
	asked := make(map[K]bool, len(keys))
	for _, k := range keys {
		if asked[k] {
			continue
		}
		asked[k] = true
		e, ok := r.entries[k]
		switch {
		case !ok || !now.Before(e.until):
			missing = append(missing, k)
		case e.ok:
			out[k] = e.value
		}
	}
	return missing
}
