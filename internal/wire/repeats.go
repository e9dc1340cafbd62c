package wire

import (
	"sync"
	"time"

	"go.uber.org/zap"
)

// repeatsEvery is how often requests that fail for the same reason are counted in the log.
const repeatsEvery = 10 * time.Second

// mostReasons bounds how many reasons are counted at once; others are logged one by one.
const mostReasons = 100

// repeats counts requests that fail because something is unavailable, the database above all: the first one is logged, the
// others of the same reason are counted. Safe for concurrent use.
type repeats struct {
	mu     sync.Mutex
	counts map[string]int // requests since the last line, by reason
}

// again counts a request, and reports whether its reason was logged a short while ago.
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
	time.AfterFunc(repeatsEvery, func() { r.report(reason, log) })
	return false
}

// report logs how many requests failed since the last line. After a time without failures the reason is forgotten.
func (r *repeats) report(reason string, log *zap.Logger) {
	r.mu.Lock()
	n := r.counts[reason]
	if n == 0 {
		delete(r.counts, reason)
	} else {
		r.counts[reason] = 0
		time.AfterFunc(repeatsEvery, func() { r.report(reason, log) })
	}
	r.mu.Unlock()
	if n > 0 {
		log.Warn("further requests failed for the same reason", zap.Int("requests", n), zap.String("reason", reason))
	}
}
