package oncall

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/kit/cache"
)

// Recent caches what was read a short time ago, so that a burst of incidents reads each team and person once, in
// batches. It caches absence, too. It is safe for concurrent use. Callers must not change a value that they get.
type Recent[K comparable, V any] struct {
	read   func(ctx context.Context, keys []K) (map[K]V, error)
	values *cache.Cache[K, V]
}

// NewRecent returns a Recent over read, which returns the values of all keys that exist. A value is cached for ttl; 0 =
// not at all.
func NewRecent[K comparable, V any](ttl time.Duration, read func(ctx context.Context, keys []K) (map[K]V, error)) *Recent[K, V] {
	return &Recent[K, V]{read: read, values: cache.New(cache.Config[K, V]{TTL: ttl})}
}

// Get returns the values of the keys that exist. It makes at most one read.
func (r *Recent[K, V]) Get(ctx context.Context, keys ...K) (map[K]V, error) {
	return r.values.GetAll(ctx, keys, r.read)
}
