package delivery

import (
	"context"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

const (
	// refusedBatch bounds how many messages are looked at together while no outlet of their mode is open.
	refusedBatch = 256
	// shortPause is how long a closed outlet is waited for before messages are sent another way.
	shortPause = 2 * time.Second
	// gather is how long a nearly full line waits for more room, and one in a flood for company, so that it takes in batches.
	gather = 10 * time.Millisecond
)

// line delivers the messages of one mode. One goroutine runs it; what it takes goes through the later stages on their
// goroutines and comes back as a count.
type line struct {
	w       *Worker
	mode    users.Mode
	outlets []*outlet // preferred first; empty = nobody carries the mode
	fair    fairQueue
	pools   map[string]*pool
	gates   map[string]*gate
	pace    pace
	desk    *desk

	kicked   chan struct{}
	inFlight atomic.Int64
	lastTake time.Time
	flooded  bool         // the last take was a crowd
	lastPass atomic.Int64 // unix nanoseconds
}

// pick is a turn of a lane, with the slot that it may use.
type pick struct {
	key     fairKey
	slot    slot
	limited bool
}

func newLine(w *Worker, m users.Mode) *line {
	l := &line{w: w, mode: m, pools: map[string]*pool{}, gates: map[string]*gate{}, kicked: make(chan struct{}, 1)}
	for _, v := range w.deps.Vendors {
		for _, vm := range v.Modes() {
			if vm == m {
				l.outlets = append(l.outlets, newOutlet(v, m, w.cfg, &w.pauses))
			}
		}
	}
	l.desk = newDesk(l)
	return l
}

// kick makes the line look for work now. It does not block.
func (l *line) kick() {
	select {
	case l.kicked <- struct{}{}:
	default:
	}
}

func (l *line) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		began := time.Now()
		again := l.pass(ctx)
		now := time.Now()
		l.pace.passed(now.Sub(began))
		l.lastPass.Store(now.UnixNano())
		wait := l.w.cfg.Poll
		if !again.IsZero() {
			wait = min(wait, max(0, again.Sub(now)))
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			return
		case <-l.kicked:
		case <-timer.C:
		}
	}
}

// room is how many more messages may be taken now, and how many in all.
func (l *line) room(now time.Time) (free, all int) {
	all = 16
	if len(l.outlets) > 0 {
		all = l.outlets[0].most
	}
	all += l.pace.ahead(now)
	return all - int(l.inFlight.Load()), all
}

// open returns the outlet to use now, or why there is none and how long that lasts (0 = unknown).
func (l *line) open(now time.Time) (o *outlet, why string, left time.Duration) {
	if len(l.outlets) == 0 {
		return nil, "no vendor for " + string(l.mode) + " is configured", 0
	}
	for i, o := range l.outlets {
		reason, d := o.closed(now)
		if reason == "" {
			return o, "", 0
		}
		if i == 0 || d < left { // unknown is less than any pause: that account may be back at once
			why, left = reason, d
		}
	}
	return nil, why, left
}

// pass takes what may start soon. It returns when to look again; zero = when something changes.
func (l *line) pass(ctx context.Context) time.Time {
	now := time.Now()
	leases := l.w.deps.Leases.Leases()
	keys := l.w.demand.lanes(l.mode, setOf(leases))
	if len(keys) == 0 || ctx.Err() != nil {
		return time.Time{}
	}
	if left, _ := l.w.pauses.left(now, ModeKey(l.mode)); left > 0 {
		return now.Add(left)
	}
	free, all := l.room(now)
	if free <= 0 {
		return time.Time{}
	}
	if free < all/2 && now.Sub(l.lastTake) < gather {
		return l.lastTake.Add(gather)
	}
	l.knock(now)
	o, why, left := l.open(now)
	if o == nil {
		if left > 0 && left <= shortPause {
			return now.Add(left)
		}
		picks := l.unlimited(keys, min(refusedBatch, free+refusedBatch/2))
		l.take(ctx, leases, picks, nil, nil, shut{why, left})
		return later(l.nextProbe(now), time.Now().Add(restAfter*time.Since(now)))
	}
	ok, well := o.health.reserve(now)
	if !ok {
		return l.nextProbe(now)
	}
	if !well {
		free = 1
	}
	picks, main, again := l.choose(ctx, now, keys, o, free)
	if len(picks) == 0 {
		o.health.unspent()
		return again
	}
	return l.take(ctx, leases, picks, o, main, shut{})
}

// shut says why no account of a mode can be used, and for how long that is known to last (0 = unknown).
type shut struct {
	why  string
	left time.Duration
}

// unlimited deals out n turns.
func (l *line) unlimited(keys []fairKey, n int) []pick {
	weights := make(map[fairKey]float64, len(keys))
	for _, k := range keys {
		weights[k] = 1
	}
	l.fair.set(weights)
	picks := make([]pick, 0, n)
	for range n {
		k, ok := l.fair.next(func(fairKey) bool { return true })
		if !ok {
			break
		}
		picks = append(picks, pick{key: k})
	}
	return picks
}

// take claims messages for the picks and sends them on. It returns when to look again.
func (l *line) take(ctx context.Context, leases []buckets.Lease, picks []pick, o *outlet, main *pool, closed shut) time.Time {
	req := TakeRequest{
		ProcessID: l.w.deps.Leases.ProcessID(), Leases: leases, ClaimFor: l.claimFor(o), Low: l.w.low(),
	}
	turns := map[fairKey][]pick{}
	var order []fairKey
	for _, p := range picks {
		if turns[p.key] == nil {
			order = append(order, p.key)
		}
		turns[p.key] = append(turns[p.key], p)
	}
	for _, k := range order {
		lane := Lane{l.mode, k.class, k.application}
		n := len(turns[k])
		t := Take{Lane: lane, Max: n, Buckets: l.w.demand.look(lane, n)}
		if o == nil && len(l.outlets) > 0 {
			// While no account can be used, only what is to go another way is worth taking.
			b := l.w.cfg.Budgets[k.class]
			t.Waited, t.Older = b.PerMode, b.Total
			t.FirstWaited = max(0, b.PerMode-closed.left)
		}
		req.Takes = append(req.Takes, t)
	}
	began := time.Now()
	got, err := l.w.takeFrom(ctx, req)
	if err != nil {
		for _, k := range order {
			l.unused(turns[k], main)
		}
		l.w.failed("take", err, zap.String("mode", string(l.mode)))
		return time.Now().Add(200 * time.Millisecond)
	}
	if o != nil && len(got) == 0 {
		o.health.unspent()
	}
	l.lastTake, l.flooded = time.Now(), len(got) >= crowd
	l.w.metrics.batches.WithLabelValues("take").Observe(float64(len(got)))
	byLane := map[fairKey][]Claimed{}
	for _, c := range got {
		k := fairKey{c.Class, c.ApplicationID}
		byLane[k] = append(byLane[k], c)
	}
	for i, k := range order {
		mine := byLane[k]
		if req.Takes[i].Waited == 0 {
			l.w.demand.took(req.Takes[i], mine)
		}
		l.unused(turns[k][min(len(mine), len(turns[k])):], main)
		for j, c := range mine {
			it := &item{c: c, line: l, outlet: o, closed: closed, taken: began, claimEnd: began.Add(req.ClaimFor)}
			if j < len(turns[k]) {
				it.slot, it.limited = turns[k][j].slot, turns[k][j].limited
			}
			l.w.begin(it)
		}
	}
	return time.Now()
}

// claimFor is how long the claim of a message lasts until it is marked: the connection of its call may come before that.
func (l *line) claimFor(o *outlet) time.Duration {
	d := l.w.cfg.ClaimFor
	if o != nil {
		if _, prepares := o.vendor.(messages.Preparer); prepares {
			d += o.timeout
		}
	}
	return d
}

// unused returns turns that came to nothing.
func (l *line) unused(picks []pick, main *pool) {
	var slots []slot
	for _, p := range picks {
		l.fair.refund(p.key)
		if p.limited {
			slots = append(slots, p.slot)
		}
	}
	if main != nil && len(slots) > 0 {
		main.give(slots)
	}
}

func setOf(leases []buckets.Lease) buckets.Set {
	var s buckets.Set
	for _, l := range leases {
		s.Add(l.Bucket)
	}
	return s
}
