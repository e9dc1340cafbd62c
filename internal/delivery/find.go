package delivery

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/instant"
	"github.com/iris-oncall/iris/internal/users"
)

const (
	// lowMargin is how long a transaction may take from making a message to committing it. Messages that are older than the
	// oldest known one by more are not searched for, because deleted index entries make such a search slow.
	lowMargin = 20 * time.Second
	// sweepEvery is how often they are searched for all the same.
	sweepEvery = 30 * time.Second
	// restAfter is the pause after a search, as a multiple of how long the search took.
	restAfter = 3
)

// low is the instant before which no message waits, as far as we know.
func (w *Worker) low() time.Time {
	if t := w.lowMark.Load(); t != nil {
		return *t
	}
	return time.Time{}
}

// revisit has a bucket searched at an instant.
func (w *Worker) revisit(bucket int, at time.Time) {
	w.wakeMu.Lock()
	first := w.revisits[bucket].IsZero() || at.Before(w.revisits[bucket])
	if first {
		w.revisits[bucket] = at
	}
	w.wakeMu.Unlock()
	if first {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

// calling returns the buckets to search now, and when the next one is due (zero = not known).
func (w *Worker) calling(now time.Time) (bs buckets.Set, next time.Time) {
	w.wakeMu.Lock()
	defer w.wakeMu.Unlock()
	bs, w.woken = w.woken, buckets.Set{}
	for b, at := range w.revisits {
		switch {
		case at.IsZero():
		case at.After(now):
			next = instant.Sooner(next, at)
		default:
			bs.Add(b)
			w.revisits[b] = time.Time{}
		}
	}
	return bs, next
}

// findLoop finds out which lanes have work: in the buckets that were woken, and every second in all.
func (w *Worker) findLoop(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var polled, swept time.Time
	var known buckets.Set
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		case <-timer.C:
		}
		now := time.Now()
		bs, next := w.calling(now)
		held := setOf(w.deps.Leases.Leases())
		// A message in a bucket that was not ours may be older than any that this process knows.
		gained := held.Len() > 0 && !within(held, known)
		all := gained || now.Sub(polled) >= w.cfg.Poll
		if all {
			bs, polled = buckets.All(), now
		}
		bs.Intersect(held)
		sweep := gained || all && now.Sub(swept) >= sweepEvery
		if !bs.Empty() {
			if err := w.find(ctx, bs, all, sweep); err != nil {
				if ctx.Err() != nil {
					return
				}
				w.failed("find", err)
				if !w.rest(ctx, 200*time.Millisecond) {
					return
				}
				w.Wake(bs)
				held.Intersect(known) // the gained buckets have not been searched yet
			} else if sweep {
				swept = now
			}
		}
		known = held
		w.lastPass.Store(time.Now().UnixNano())
		took := time.Since(now)
		if !w.rest(ctx, min(restAfter*took, w.cfg.Poll/2)) {
			return
		}
		timer.Reset(max(0, min(time.Until(polled.Add(w.cfg.Poll)), untilOr(next, w.cfg.Poll))))
	}
}

// within reports whether all of a is in b.
func within(a, b buckets.Set) bool {
	both := a
	both.Intersect(b)
	return both == a
}

func untilOr(t time.Time, d time.Duration) time.Duration {
	if t.IsZero() {
		return d
	}
	return time.Until(t)
}

func (w *Worker) rest(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// find searches some buckets and wakes the modes that have work there.
func (w *Worker) find(ctx context.Context, bs buckets.Set, all, sweep bool) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	low := w.low()
	if sweep {
		low = time.Time{}
	}
	found, err := w.deps.Queue.Waiting(ctx, bs.List(), low)
	if err != nil {
		return err
	}
	now := time.Now()
	for _, x := range found.Waiting {
		if x.DueIn > 0 {
			w.revisit(x.Bucket, now.Add(x.DueIn))
		}
	}
	busy := w.shared.Demand.Update(bs, found.Waiting)
	for m := range busy {
		if l := w.modes[m]; l != nil {
			l.kick()
		}
	}
	if all && !found.Clock.IsZero() {
		w.lower(found, sweep)
		depth := map[users.Mode]int{}
		for _, l := range w.shared.Demand.All() {
			depth[l.Mode]++
		}
		w.metrics.queues(found, depth)
	}
	return nil
}

// lower moves the low watermark to a little before the oldest message that waits.
func (w *Worker) lower(found Found, sweep bool) {
	mark := found.Clock
	if !found.Oldest.IsZero() && found.Oldest.Before(mark) {
		mark = found.Oldest
	}
	mark = mark.Add(-lowMargin)
	if old := w.lowMark.Load(); sweep || old == nil || mark.After(*old) {
		w.lowMark.Store(&mark)
	}
}

// rescueLoop repairs, every second, what dead processes left behind, and learns of pauses.
func (w *Worker) rescueLoop(ctx context.Context) {
	ticker := time.NewTicker(w.cfg.Poll)
	defer ticker.Stop()
	var expired time.Time
	var noted unsentPages
	for {
		w.learnPauses(ctx)
		w.rescue(ctx)
		w.noteUnsent(ctx, &noted)
		if time.Since(expired) > sweepEvery {
			expired = time.Now()
			w.expire(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (w *Worker) learnPauses(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	ps, err := w.deps.Limits.Pauses(ctx)
	if err != nil {
		w.failed("pauses", err)
		return
	}
	w.pauses.Set(time.Now(), ps)
}

// rescue finds attempts in doubt.
func (w *Worker) rescue(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	leases := w.deps.Leases.Leases()
	me := w.deps.Leases.ProcessID()
	overdue, err := w.deps.Rescuer.Sending(ctx, me, setOf(leases).List())
	if err != nil {
		w.failed("rescue", err)
		return
	}
	var lost []Recovered
	var touched buckets.Set
	for _, r := range overdue {
		if !w.inFlight.has(r.ID) {
			lost = append(lost, r)
			touched.Add(r.Bucket)
		}
	}
	if len(lost) > 0 {
		if err := w.deps.Rescuer.Doubt(ctx, lost); err != nil {
			w.failed("rescue", err)
			return
		}
		w.metrics.inDoubt.Add(float64(len(lost)))
		w.log.Warn("attempts in doubt are made again", zap.Int("messages", len(lost)))
		w.Wake(touched)
	}
}

const (
	// unsentAfter is when a page that has not left is late, whatever the reason.
	unsentAfter = 30 * time.Second
	// unsentEvery is how often late pages are searched for; each search covers the pages made since the one before, and a margin
	// for transactions that were slow to commit.
	unsentEvery  = 5 * time.Second
	unsentMargin = time.Minute
	// unsentSweep is how often the search covers all pages.
	unsentSweep = time.Minute
)

// unsentPages remembers the latest searches for late pages.
type unsentPages struct {
	searched, swept time.Time
}

// noteUnsent notes pages that have not been sent in time on their timelines, in the log and in a metric.
func (w *Worker) noteUnsent(ctx context.Context, last *unsentPages) {
	now := time.Now()
	if now.Sub(last.searched) < unsentEvery {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var low time.Time
	sweep := now.Sub(last.swept) >= unsentSweep
	if !sweep {
		low = last.searched.Add(-unsentAfter - unsentMargin)
	}
	late, err := w.deps.Rescuer.NoteUnsent(ctx, setOf(w.deps.Leases.Leases()).List(), unsentAfter, low)
	if err != nil {
		w.failed("note unsent pages", err)
		return
	}
	last.searched = now
	if sweep {
		last.swept = now
	}
	for _, u := range late {
		w.metrics.unsent.WithLabelValues(string(u.Mode)).Inc()
	}
	if len(late) > 0 {
		u := late[0]
		w.log.Error("pages have not been sent in time and are still tried", zap.Int("pages", len(late)),
			zap.Int64("incident_id", int64(u.IncidentID)), zap.Int64("message_id", int64(u.ID)), zap.String("mode", string(u.Mode)),
			zap.String("application", u.Application), zap.Duration("waiting", u.Age))
	}
}

func (w *Worker) expire(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	leases := w.deps.Leases.Leases()
	if len(leases) == 0 {
		return
	}
	n, err := w.deps.Rescuer.Expire(ctx, leases, w.deps.Leases.ProcessID())
	if err != nil {
		w.failed("expire", err)
		return
	}
	if n > 0 {
		w.log.Info("dropped messages that expired before they could be sent", zap.Int("messages", n))
	}
}

// hintLoop sends hints about the work that waits here to the other processes, if any limit is configured.
func (w *Worker) hintLoop(ctx context.Context) {
	if w.deps.Hints == nil || len(w.cfg.Limits) == 0 {
		<-ctx.Done()
		return
	}
	ticker := time.NewTicker(rate.HintLife / 6)
	defer ticker.Stop()
	silent := true
	for {
		lanes := w.shared.Demand.All()
		if len(lanes) > 0 || !silent {
			w.deps.Hints.Demand(rate.EncodeDemand(lanes))
		}
		silent = len(lanes) == 0
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
