package quotas

import (
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/postgres"
)

// KnownKeys are keys of rows that were there a moment ago, so that making them again can be left out: that is a statement less,
// and one that would wait for whoever has the row. It may be wrong about a row that was rolled back or forgotten.
type KnownKeys[K comparable] struct {
	*postgres.Remembered[K, struct{}]
}

func NewKnownKeys[K comparable]() KnownKeys[K] {
	return KnownKeys[K]{postgres.NewRemembered[K, struct{}](time.Hour, 10_000)}
}

func (k KnownKeys[K]) all(keys []K) bool {
	return !slices.ContainsFunc(keys, func(key K) bool { _, ok := k.Get(key); return !ok })
}

func (k KnownKeys[K]) add(keys []K) {
	now := time.Now()
	for _, key := range keys {
		k.Put(key, struct{}{}, now)
	}
}

// lockRows locks the rows of the keys with lock, which returns those that are there, after making those that are not known to
// be. Making comes first, so that all are locked in the order of their keys.
func lockRows[K comparable, V any](known KnownKeys[K], keys []K, create func() error, lock func() (map[K]V, error)) (map[K]V, error) {
	if !known.all(keys) {
		if err := create(); err != nil {
			return nil, err
		}
	}
	rows, err := lock()
	if err == nil && len(rows) < len(keys) { // one was not there after all
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
