package buckets

import (
	"cmp"
	"context"
	"slices"
	"time"

	"go.uber.org/zap"
)

// minGap limits how often hints cause statements.
const minGap = 10 * time.Millisecond

// passLoop makes a pass after every heartbeat, after every hint, when a member becomes stale, and when a bucket is due
// for release.
func (h *Holder) passLoop(ctx context.Context) {
	next := h.cfg.Heartbeat
	for {
		t := time.NewTimer(next)
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-h.hints:
		case <-t.C:
		}
		t.Stop()
		next = h.pass(ctx)
		if !sleep(ctx, minGap) {
			return
		}
	}
}

// pass adjusts the held buckets to the view. It returns how long the next pass may wait.
func (h *Holder) pass(ctx context.Context) time.Duration {
	h.passMu.Lock()
	defer h.passMu.Unlock()
	begun := time.Now()
	v, err := h.readView(ctx)
	if err != nil {
		if ctx.Err() == nil {
			h.metrics.failures.WithLabelValues("view").Inc()
			h.note("view", zap.Error(err))
		}
		h.publish()
		return h.cfg.Heartbeat / 2
	}
	h.clear("view")
	h.view.Store(&v)
	h.viewAt.Store(h.since(begun))

	s := h.survey(&v)
	h.reconcile(&v)
	stands := StandInsOf(&v, h.deps.Self)
	h.standIns.Store(&stands)
	h.probeDead(ctx, &v, s)
	if !s.living[h.ProcessID()] && !h.retiring.Load() {
		// The database is reachable again, and no heartbeat is written yet. Owned buckets stay unless others took them.
		h.publish()
		h.measure(&v, s)
		return h.cfg.Heartbeat / 2
	}
	want := Assign(s.able, s.owners)
	var acquire, release Set
	for b := range want {
		_, held := h.held[b]
		mine := want[b] == h.ProcessID() && !h.retiring.Load()
		switch {
		case held && mine:
			delete(h.given, b)
		case held:
			release.Add(b)
		case mine && v.Leases[b].Owner == "", mine && !s.living[v.Leases[b].Owner] && !h.recovering():
			acquire.Add(b)
		}
	}
	h.giveUp(release, begun)
	h.publish()
	if err := h.releaseDue(ctx, begun); err != nil && ctx.Err() == nil {
		h.metrics.failures.WithLabelValues("release").Inc()
		h.note("release", zap.Error(err))
	}
	gained := h.acquire(ctx, acquire, s.suspects)
	h.publish()
	if !gained.Empty() && h.deps.Gained != nil {
		h.deps.Gained(gained)
	}
	h.measure(&v, s)
	return h.nextPass(s, acquire.Len() > gained.Len())
}

// readView reads the view with a deadline.
func (h *Holder) readView(ctx context.Context) (View, error) {
	ctx, cancel := context.WithTimeout(ctx, h.statementTimeout())
	defer cancel()
	return h.deps.Store.View(ctx)
}

// survey holds the live members of a view.
type survey struct {
	able     []string // live and not draining: they may own buckets
	living   map[string]bool
	suspects []string
	owners   [Count]string
	soonest  time.Duration // until the first of the other live members becomes stale
}

func (h *Holder) survey(v *View) survey {
	s := survey{living: map[string]bool{}, soonest: h.cfg.Limits.Fresh}
	suspected := map[string]bool{}
	for _, id := range h.deps.Detector.Suspects() {
		if id != h.ProcessID() {
			suspected[id] = true
			s.suspects = append(s.suspects, id)
		}
	}
	for _, m := range v.Members {
		alive, left := h.cfg.Limits.alive(m, suspected)
		if !alive {
			continue
		}
		s.living[m.ProcessID] = true
		if m.ProcessID != h.ProcessID() {
			s.soonest = min(s.soonest, left)
		}
		if !m.Draining {
			s.able = append(s.able, m.ProcessID)
		}
	}
	for b, l := range v.Leases {
		s.owners[b] = l.Owner
	}
	return s
}

// reconcile drops held buckets that belong to others in the view. It adds buckets that belong to this process in the
// view and are not held, such as after an acquire whose answer was lost.
func (h *Holder) reconcile(v *View) {
	var lost Set
	for b, epoch := range h.held {
		if l := v.Leases[b]; l.Owner != h.ProcessID() || l.Epoch != epoch {
			lost.Add(b)
			delete(h.held, b)
			delete(h.given, b)
		}
	}
	for b, l := range v.Leases {
		if l.Owner == h.ProcessID() {
			h.held[b] = l.Epoch
		}
	}
	if !lost.Empty() {
		h.metrics.lost.Add(float64(lost.Len()))
		h.log.Warn("bucket leases lost to others", zap.Ints("buckets", lost.List()))
	}
}

// giveUp stops offering buckets and sets the time of their release a moment later, so that loops which have just read
// their leases can finish a pass.
func (h *Holder) giveUp(bs Set, now time.Time) {
	before := len(h.given)
	for _, b := range bs.List() {
		if _, already := h.given[b]; !already {
			h.given[b] = now.Add(h.cfg.Grace)
		}
	}
	if len(h.given) > before {
		h.metrics.rebalances.Inc()
	}
}

// releaseDue frees buckets that were given up at least Grace ago. Buckets in use by a transaction wait for the next
// pass.
func (h *Holder) releaseDue(ctx context.Context, now time.Time) error {
	var due Set
	for b, at := range h.given {
		if !now.Before(at) {
			due.Add(b)
		}
	}
	if due.Empty() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, h.statementTimeout())
	defer cancel()
	freed, err := h.deps.Store.Release(ctx, h.ProcessID(), due)
	if err != nil {
		return err
	}
	h.clear("release")
	for _, b := range freed.List() {
		delete(h.held, b)
		delete(h.given, b)
	}
	if !freed.Empty() {
		h.deps.Detector.Announce()
		h.log.Info("buckets released", zap.Int("count", freed.Len()))
	}
	return nil
}

// acquire acquires buckets in the database. It returns the leases it got.
func (h *Holder) acquire(ctx context.Context, bs Set, suspects []string) Set {
	if bs.Empty() || !h.fresh(&h.beatAt) {
		return Set{}
	}
	ctx, cancel := context.WithTimeout(ctx, h.statementTimeout())
	defer cancel()
	got, taken, err := h.deps.Store.Acquire(ctx, Acquisition{
		ProcessID: h.ProcessID(), Buckets: bs, Suspects: suspects, Limits: h.cfg.Limits,
	})
	if err != nil {
		h.metrics.failures.WithLabelValues("acquire").Inc()
		h.note("acquire", zap.Error(err))
		return Set{}
	}
	h.clear("acquire")
	var gained Set
	for _, l := range got {
		h.held[l.Bucket] = l.Epoch
		gained.Add(l.Bucket)
	}
	if len(got) > 0 {
		h.metrics.rebalances.Inc()
		h.metrics.takeovers.Add(float64(taken))
		h.log.Info("buckets acquired", zap.Int("count", len(got)), zap.Int("from_the_dead", taken))
	}
	return gained
}

// publish offers the held buckets without those given up, and records if none may be used because the heartbeats are
// stale.
func (h *Holder) publish() {
	o := &offer{}
	if !h.retiring.Load() {
		for b, epoch := range h.held {
			if _, leaving := h.given[b]; !leaving {
				o.leases = append(o.leases, Lease{Bucket: b, Epoch: epoch})
				o.set.Add(b)
			}
		}
		slices.SortFunc(o.leases, func(a, b Lease) int { return cmp.Compare(a.Bucket, b.Bucket) })
	}
	h.offer.Store(o)
	switch {
	case len(o.leases) == 0:
	case h.current():
		h.clear("stale")
	default:
		h.note("stale")
	}
}

// hideFromOffer removes buckets from the offer until the next pass.
func (h *Holder) hideFromOffer(bs Set) {
	for {
		old := h.offer.Load()
		o := &offer{set: old.set}
		for _, l := range old.leases {
			if bs.Has(l.Bucket) {
				o.set.Remove(l.Bucket)
			} else {
				o.leases = append(o.leases, l)
			}
		}
		if h.offer.CompareAndSwap(old, o) {
			return
		}
	}
}

func (h *Holder) measure(v *View, s survey) {
	unowned := 0
	for b, l := range v.Leases {
		if _, mine := h.held[b]; !mine && !s.living[l.Owner] {
			unowned++
		}
	}
	h.metrics.unowned.Set(float64(unowned))
	h.metrics.owned.Set(float64(len(h.Leases())))
	h.metrics.members.Set(float64(len(s.living)))
}

// nextPass is the time until something may change without a hint. Refused buckets (in use by a transaction, or of an
// owner that is not dead yet) are tried again soon.
func (h *Holder) nextPass(s survey, refused bool) time.Duration {
	next := min(h.cfg.Heartbeat, s.soonest+time.Millisecond)
	if refused {
		next = min(next, h.cfg.Heartbeat/10)
	}
	for _, at := range h.given {
		next = min(next, max(time.Until(at), h.cfg.Heartbeat/20))
	}
	return max(next, time.Millisecond)
}
