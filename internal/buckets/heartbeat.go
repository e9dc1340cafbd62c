package buckets

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"
)

// beatLoop writes heartbeats until ctx ends or we have left. Each success triggers a pass.
func (h *Holder) beatLoop(ctx context.Context) {
	for {
		begun := time.Now()
		gone := h.beat(ctx)
		if gone {
			return
		}
		h.Hint()
		pause := h.cfg.Heartbeat
		if h.disputed() {
			pause /= 2
		}
		if !sleep(ctx, pause-time.Since(begun)) {
			return
		}
	}
}

// beat writes one heartbeat unless a watched loop hangs. It reports whether we have left the cluster for good.
func (h *Holder) beat(ctx context.Context) (gone bool) {
	h.beatMu.Lock()
	defer h.beatMu.Unlock()
	if h.left {
		return true
	}
	begun := time.Now()
	// On the way out the loops have ended, and what they had begun to send is still in our hands.
	if name := h.stalled(begun); name != "" && !h.retiring.Load() {
		h.note("loop", zap.String("loop", name), zap.Duration("for", h.cfg.Stall))
		return false
	}
	h.clear("loop")
	self := h.deps.Self
	self.GossipAddr = h.deps.Ear.Addr()
	self.Draining = h.retiring.Load()
	writing, cancel := context.WithTimeout(ctx, h.patience())
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

// disputed reports whether gossip holds a member for dead that is alive by the database: probably a split, whose other
// side believes the same of us. Then only half the silence is allowed to us, so we speak twice as often.
func (h *Holder) disputed() bool {
	suspects, v := h.deps.Ear.Suspects(), h.view.Load()
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

// convalescent reports whether we have just come back from a time without the database. If it was the database that was
// away, everybody comes back about now, and those who come a moment later are not dead.
func (h *Holder) convalescent() bool {
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

// patience is how long one statement may take: an answer that comes later than that would come too late to keep us alive.
func (h *Holder) patience() time.Duration { return h.cfg.Limits.Fresh - h.cfg.Heartbeat }

// trouble remembers what is wrong now, so that the log tells beginnings and ends and not every second between.
type trouble struct {
	mu  sync.Mutex
	now map[string]bool
}

var troubleText = map[string]struct{ bad, good string }{
	"loop":      {"heartbeats stop because a loop hangs", "the loop completed a pass, heartbeats go on"},
	"heartbeat": {"heartbeat not written", "heartbeats are written again"},
	"view":      {"members and buckets not read", "members and buckets are read again"},
	"acquire":   {"buckets not acquired", "buckets are acquired again"},
	"release":   {"buckets not released", "buckets are released again"},
	"stale":     {"too long without the database, holding no bucket for now", "in touch with the database again"},
}

func (h *Holder) note(what string, fields ...zap.Field) {
	h.trouble.mu.Lock()
	defer h.trouble.mu.Unlock()
	if h.trouble.now[what] {
		return
	}
	if h.trouble.now == nil {
		h.trouble.now = map[string]bool{}
	}
	h.trouble.now[what] = true
	h.log.Warn(troubleText[what].bad, fields...)
}

func (h *Holder) clear(what string) {
	h.trouble.mu.Lock()
	defer h.trouble.mu.Unlock()
	if h.trouble.now[what] {
		delete(h.trouble.now, what)
		h.log.Info(troubleText[what].good)
	}
}

// sleep waits for d or until ctx ends; it reports whether to go on.
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
