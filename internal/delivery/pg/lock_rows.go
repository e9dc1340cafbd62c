package pg

import (
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/kit/cache"
)

// KnownKeys are keys of rows that existed a moment ago, so that the insert can be left out: that saves a statement that
// could wait for a lock. A key may be wrong, if its row was rolled back or deleted.
type KnownKeys[K comparable] struct {
	*cache.Cache[K, struct{}]
}

// NewKnownKeys returns an empty set of keys.
func NewKnownKeys[K comparable]() KnownKeys[K] {
	return KnownKeys[K]{cache.New(cache.Config[K, struct{}]{TTL: time.Hour})}
}

func (k KnownKeys[K]) all(keys []K) bool {
	return !slices.ContainsFunc(keys, func(key K) bool { _, ok := k.Lookup(key); return !ok })
}

func (k KnownKeys[K]) add(keys []K) {
	for _, key := range keys {
		k.Put(key, struct{}{})
	}
}

// lockRows locks the rows of the keys with lock, which returns those that exist. It first creates the rows that are not
// known to exist, so that all are locked in the order of their keys.
func lockRows[K comparable, V any](known KnownKeys[K], keys []K, create func() error, lock func() (map[K]V, error)) (map[K]V, error) {
	if !known.all(keys) {
		if err := create(); err != nil {
			return nil, err
		}
	}
	rows, err := lock()
	if err == nil && len(rows) < len(keys) { // a known row does not exist any more
		if err = create(); err == nil {
			rows, err = lock()
		}
	}
	if err != nil {
		return nil, err
	}
	known.add(keys)
	return rows, nil
}
