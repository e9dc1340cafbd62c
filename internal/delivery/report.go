package delivery

import (
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/delivery/stage"
)

// reporter counts and logs the failures of delivery's steps. It implements stage.Reporter and rate.Observer. It is safe
// for concurrent use.
type reporter struct {
	log     *zap.Logger
	metrics *metrics

	mu   sync.Mutex
	last map[string]time.Time // when a step was last logged
}

// logEvery is the time between two log lines about the same step.
const logEvery = 5 * time.Second

// Failed implements stage.Reporter. It counts every failure, and logs each step at most once in logEvery.
func (r *reporter) Failed(step string, err error, fields ...zap.Field) {
	r.metrics.failures.WithLabelValues(step).Inc()
	if !r.due(step, time.Now()) {
		return
	}
	fields = append(fields, zap.String("stage", step), zap.Error(err))
	if !stage.InData(err) {
		r.log.Warn("delivery step failed, trying again", fields...)
		return
	}
	r.log.Error("delivery step failed", fields...)
}

// due reports whether a step may be logged again.
func (r *reporter) due(step string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now.Sub(r.last[step]) < logEvery {
		return false
	}
	r.last[step] = now
	return true
}

// Batch implements stage.Reporter.
func (r *reporter) Batch(step string, n int) {
	r.metrics.batches.WithLabelValues(step).Observe(float64(n))
}

// SlotsExpired implements rate.Observer.
func (r *reporter) SlotsExpired(kind string, n int) {
	r.metrics.lateSlots.WithLabelValues(kind).Add(float64(n))
}

// ReserveFailed implements rate.Observer.
func (r *reporter) ReserveFailed(key string, err error) {
	r.Failed("reserve", err, zap.String("limit", key))
}
