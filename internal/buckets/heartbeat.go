package buckets

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"
)

// beatLoop writes heartbeats until ctx ends or the process has left. Each success triggers a pass.
func (h *Holder) beatLoop(ctx context.Context) {
	for {
		begun := time.Now()
		gone := h.beat(ctx)
		if gone {
			return
		}
		h.Hint()
		pause := h.cfg.Heartbeat
		if h.suspectsLive() {
			pause /= 2
		}
		if !sleep(ctx, pause-time.Since(begun)) {
			return
		}
	}
}

// beat writes one heartbeat unless a watched loop hangs. It reports whether the process has left the cluster.
func (h *Holder) beat(ctx context.Context) (gone bool) {
	h.beatMu.Lock()
	defer h.beatMu.Unlock()
	if h.left {
		return true
	}
	begun := time.Now()
	// During a stop the loops have ended. Heartbeats continue for the calls that are still running.
	if name := h.stalled(begun); name != "" && !h.retiring.Load() {
		h.note("loop", zap.String("loop", name), zap.Duration("for", h.cfg.Stall))
		return false
	}
	h.clear("loop")
	self := h.deps.Self
	self.GossipAddr = h.deps.Detector.Addr()
	self.Draining = h.retiring.Load()
	if h.deps.Skew != nil {
		if skew, known := h.deps.Skew(); known {
			self.ClockSkew = &skew
		}
	}
	writing, cancel := context.WithTimeout(ctx, h.statementTimeout())
	defer cancel()
	if err := h.deps.Store.Beat(writing, self); err != nil {
		if ctx.Err() == nil {
			h.metrics.failures.WithLabelValues("heartbeat").Inc()
			h.note("heartbeat", zap.Error(err))
		}
		return false
	}
	h.clear("heartbeat")
	if h.beatAt.Load() != 0 && !h.fresh(&h.beatAt) {
		h.backAt.Store(h.since(time.Now()))
	}
	h.beatAt.Store(h.since(begun))
	return false
}

// suspectsLive reports whether gossip reports a member as dead that is live in the database. That is probably a network
// split, and the other side suspects this process too. Then only half the usual age is allowed, so heartbeats are twice
// as frequent.
func (h *Holder) suspectsLive() bool {
	suspects, v := h.deps.Detector.Suspects(), h.view.Load()
	if len(suspects) == 0 || v == nil {
		return false
	}
	for _, m := range v.Members {
		if m.ProcessID != h.ProcessID() && m.Age < h.cfg.Limits.Fresh && slices.Contains(suspects, m.ProcessID) {
			return true
		}
	}
	return false
}

// recovering reports whether this process has just reached the database again. After an outage of the database all
// members return at about the same time. A member that returns a moment later must not lose its buckets.
func (h *Holder) recovering() bool {
	back := h.backAt.Load()
	return back != 0 && time.Since(h.base)-time.Duration(back) < 3*h.cfg.Heartbeat/2
}

// stalled returns the name of a watched loop that has not completed a pass for too long, or "".
func (h *Holder) stalled(now time.Time) string {
	from := h.started.Load()
	if from == 0 {
		return ""
	}
	start := h.base.Add(time.Duration(from))
	for _, w := range h.loops {
		last := w.lastPass()
		if last.Before(start) {
			last = start
		}
		if now.Sub(last) >= h.cfg.Stall {
			return w.name
		}
	}
	return ""
}

// statementTimeout bounds one statement: a later answer could not keep this process live.
func (h *Holder) statementTimeout() time.Duration { return h.cfg.Limits.Fresh - h.cfg.Heartbeat }

// problems remembers current failures, so that only their begin and end are logged.
type problems struct {
	mu  sync.Mutex
	now map[string]bool
}

var problemTexts = map[string]struct{ bad, good string }{
	"loop":      {"heartbeats stop because a loop hangs", "the loop completed a pass, heartbeats continue"},
	"heartbeat": {"heartbeat not written", "heartbeats are written again"},
	"view":      {"members and buckets not read", "members and buckets are read again"},
	"acquire":   {"buckets not acquired", "buckets are acquired again"},
	"release":   {"buckets not released", "buckets are released again"},
	"stale":     {"too long without the database, holding no bucket for now", "in touch with the database again"},
}

func (h *Holder) note(what string, fields ...zap.Field) {
	h.problems.mu.Lock()
	defer h.problems.mu.Unlock()
	if h.problems.now[what] {
		return
	}
	if h.problems.now == nil {
		h.problems.now = map[string]bool{}
	}
	h.problems.now[what] = true
	h.log.Warn(problemTexts[what].bad, fields...)
}

func (h *Holder) clear(what string) {
	h.problems.mu.Lock()
	defer h.problems.mu.Unlock()
	if h.problems.now[what] {
		delete(h.problems.now, what)
		h.log.Info(problemTexts[what].good)
	}
}

// sleep waits for d or until ctx ends. It reports whether d has passed.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
