package wire

import (
	"sync"
	"time"

	"go.uber.org/zap"
)

// repeatsEvery is the interval of the log lines that count requests with the same failure.
const repeatsEvery = 10 * time.Second

// mostReasons is the maximum number of reasons that are counted at a time. Requests with further reasons are logged one
// by one.
const mostReasons = 100

// repeats counts requests that fail because something is unavailable, usually the database. The first request with a
// reason is logged; further ones are counted. It is safe for concurrent use.
type repeats struct {
	mu     sync.Mutex
	counts map[string]int // requests since the last line, by reason
}

// again counts a request. It reports whether its reason was logged in the last repeatsEvery.
func (r *repeats) again(reason string, log *zap.Logger) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.counts[reason]; known {
		r.counts[reason]++
		return true
	}
	if len(r.counts) >= mostReasons {
		return false
	}
	if r.counts == nil {
		r.counts = map[string]int{}
	}
	r.counts[reason] = 0
	time.AfterFunc(repeatsEvery, func() { r.logCount(reason, log) })
	return false
}

// logCount logs how many requests failed since the last line. Without further requests the reason is deleted.
func (r *repeats) logCount(reason string, log *zap.Logger) {
	r.mu.Lock()
	n := r.counts[reason]
	if n == 0 {
		delete(r.counts, reason)
	} else {
		r.counts[reason] = 0
		time.AfterFunc(repeatsEvery, func() { r.logCount(reason, log) })
	}
	r.mu.Unlock()
	if n > 0 {
		log.Warn("further requests failed for the same reason", zap.Int("requests", n), zap.String("reason", reason))
	}
}
