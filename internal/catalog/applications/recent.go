package applications

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/iris-oncall/iris/internal/kit/cache"
)

// StatisticsStore computes the statistics of the current full hour, or reads them if they are stored.
type StatisticsStore interface {
	Current(ctx context.Context) (Statistics, error)
}

// readAgain is how long statistics are cached. An import may compute them again within their hour.
const readAgain = time.Minute

// RecentStatistics reads the statistics at most once a minute, because a computation may be slow. After a failure it
// returns earlier statistics of the same hour, else the error, for a minute. It is safe for concurrent use.
type RecentStatistics struct {
	store StatisticsStore
	reads *cache.Cache[int64, outcome] // by hour, in Unix seconds
	last  atomic.Pointer[Statistics]
}

// outcome is the result of a read.
type outcome struct {
	found *Statistics
	err   error
}

// NewRecentStatistics returns an empty cache of the statistics in store.
func NewRecentStatistics(store StatisticsStore) *RecentStatistics {
	return &RecentStatistics{store: store, reads: cache.New(cache.Config[int64, outcome]{TTL: readAgain, Entries: 2})}
}

// Current returns the statistics. Callers must not change them.
func (r *RecentStatistics) Current(ctx context.Context) (*Statistics, error) {
	hour := time.Now().Truncate(time.Hour)
	got, err := r.reads.Get(ctx, hour.Unix(), func(ctx context.Context) (outcome, error) {
		found, err := r.store.Current(ctx)
		if err == nil {
			r.last.Store(&found)
			return outcome{found: &found}, nil
		}
		if last := r.last.Load(); last != nil && last.Hour.Equal(hour) {
			return outcome{found: last}, nil
		}
		return outcome{err: err}, nil
	})
	if err != nil {
		return nil, err
	}
	return got.found, got.err
}
