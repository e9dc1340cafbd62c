package delivery

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/users"
)

const (
	// lowMargin is how long a transaction may take from making a message to committing it. Searches leave out messages
	// that are older than the oldest known message by more than that, because deleted index entries make such a search
	// slow.
	lowMargin = 20 * time.Second
	// sweepEvery is how often a search leaves out no message.
	sweepEvery = 30 * time.Second
	// restAfter is the pause after a search, as a multiple of how long the search took.
	restAfter = 3
)

// finder finds the lanes that have work. It searches woken buckets at once, and all buckets every Poll. Wake and
// revisit may be called at any time from any goroutine.
type finder struct {
	queue  Queue
	leases Leases
	demand *rate.Demand
	modes  map[users.Mode]*modeWorker // kicked when there is work for them
	report *reporter
	poll   time.Duration
	dry    DryRun

	mu       sync.Mutex
	woken    buckets.Set
	revisits [buckets.Count]time.Time // when a bucket is to be searched; zero = not known
	wake     chan struct{}
	lowMark  atomic.Pointer[time.Time]
	lastPass atomic.Int64 // unix nanoseconds
}

func newFinder(deps Deps, cfg Config, d *rate.Demand, modes map[users.Mode]*modeWorker, r *reporter) *finder {
	return &finder{
		queue: deps.Queue, leases: deps.Leases, demand: d, modes: modes, report: r, poll: cfg.Poll, dry: cfg.DryRun,
		wake: make(chan struct{}, 1),
	}
}

// Wake makes the finder search buckets now. It does not block.
func (f *finder) Wake(bs buckets.Set) {
	f.mu.Lock()
	f.woken.Union(bs)
	f.mu.Unlock()
	f.signal()
}

func (f *finder) signal() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// low is an instant before which, as far as this process knows, no message waits.
func (f *finder) low() time.Time {
	if t := f.lowMark.Load(); t != nil {
		return *t
	}
	return time.Time{}
}

// revisit makes the finder search a bucket at an instant. It does not block.
func (f *finder) revisit(bucket int, at time.Time) {
	f.mu.Lock()
	first := f.revisits[bucket].IsZero() || at.Before(f.revisits[bucket])
	if first {
		f.revisits[bucket] = at
	}
	f.mu.Unlock()
	if first {
		f.signal()
	}
}

// due returns the buckets to search now, and when the next one is due (zero = not known).
func (f *finder) due(now time.Time) (bs buckets.Set, next time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	bs, f.woken = f.woken, buckets.Set{}
	for b, at := range f.revisits {
		switch {
		case at.IsZero():
		case at.After(now):
			next = clock.Sooner(next, at)
		default:
			bs.Add(b)
			f.revisits[b] = time.Time{}
		}
	}
	return bs, next
}

// run searches until ctx ends.
func (f *finder) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	var polled, swept time.Time
	var known buckets.Set
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.wake:
		case <-timer.C:
		}
		now := time.Now()
		bs, next := f.due(now)
		where := scopeOf(f.leases, f.dry)
		held := where.all()
		// A message in a newly acquired bucket may be older than all messages that this process knows.
		gained := held.Len() > 0 && !held.Within(known)
		all := gained || now.Sub(polled) >= f.poll
		if all {
			bs, polled = buckets.All(), now
		}
		bs.Intersect(held)
		sweep := gained || all && now.Sub(swept) >= sweepEvery
		if !bs.Empty() {
			if err := f.search(ctx, where, bs, all, sweep); err != nil {
				if ctx.Err() != nil {
					return
				}
				f.report.Failed("find", err)
				if !rest(ctx, 200*time.Millisecond) {
					return
				}
				f.Wake(bs)
				held.Intersect(known) // the gained buckets have not been searched yet
			} else if sweep {
				swept = now
			}
		}
		known = held
		f.lastPass.Store(time.Now().UnixNano())
		took := time.Since(now)
		if !rest(ctx, min(restAfter*took, f.poll/2)) {
			return
		}
		timer.Reset(max(0, min(time.Until(polled.Add(f.poll)), untilOr(next, f.poll))))
	}
}

func untilOr(t time.Time, d time.Duration) time.Duration {
	if t.IsZero() {
		return d
	}
	return time.Until(t)
}

func rest(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// kick wakes modes.
func (f *finder) kick(busy map[users.Mode]bool) {
	for m := range busy {
		if l := f.modes[m]; l != nil {
			l.kick()
		}
	}
}

// search searches some buckets and wakes the modes that have work there.
func (f *finder) search(ctx context.Context, where scope, bs buckets.Set, all, sweep bool) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	low := f.low()
	if sweep {
		low = time.Time{}
	}
	f.demand.Begin()
	found, err := f.queue.Waiting(ctx, bs.List(), low)
	if err != nil {
		return err
	}
	found.Waiting = where.reachable(found.Waiting)
	now := time.Now()
	for _, x := range found.Waiting {
		if x.DueIn > 0 {
			f.revisit(x.Bucket, now.Add(x.DueIn))
		}
	}
	f.kick(f.demand.Update(bs, found.Waiting))
	if all && !found.Clock.IsZero() {
		f.lower(found, sweep)
		depth := map[users.Mode]int{}
		for _, l := range f.demand.All() {
			depth[l.Mode]++
		}
		f.report.metrics.queues(found, depth)
	}
	return nil
}

// lower sets the low watermark to lowMargin before the oldest waiting message. Only a sweep may set it to an earlier
// time.
func (f *finder) lower(found Found, sweep bool) {
	mark := found.Clock
	if !found.Oldest.IsZero() && found.Oldest.Before(mark) {
		mark = found.Oldest
	}
	mark = mark.Add(-lowMargin)
	if old := f.lowMark.Load(); sweep || old == nil || mark.After(*old) {
		f.lowMark.Store(&mark)
	}
}
