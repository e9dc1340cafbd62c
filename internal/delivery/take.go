package delivery

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/delivery/account"
	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/delivery/stage"
	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

const (
	// refusedBatch bounds how many messages are taken together while no outlet of their mode is open.
	refusedBatch = 256
	// shortPause is the longest pause of an account that messages wait for. During a longer pause they may go to
	// another mode.
	shortPause = 2 * time.Second
	// gather is how long a mode waits before the next take, so that it takes in batches: while it is nearly full, and
	// in a flood.
	gather = 10 * time.Millisecond
	// flood is the least number of messages in a take that counts as a flood.
	flood = 8
)

// modeWorker takes the messages of one mode and begins their path. One goroutine runs it; any goroutine may call kick.
type modeWorker struct {
	mode    users.Mode
	outlets []*account.Outlet // preferred first; empty = no vendor has the mode
	turns   *rate.Dealer
	render  *stage.Render

	cfg        *Config
	queue      Queue
	leases     Leases
	demand     *rate.Demand
	pauses     *account.Pauses
	finder     *finder
	lacking    *lacking
	path       *path
	report     *reporter
	background *sync.WaitGroup // of probes

	kicked   chan struct{}
	inFlight atomic.Int64 // messages between their take and their record
	lastTake time.Time
	flooded  bool         // the last take was a flood
	lastPass atomic.Int64 // unix nanoseconds
}

// kick makes the mode search for work now. It does not block.
func (l *modeWorker) kick() {
	select {
	case l.kicked <- struct{}{}:
	default:
	}
}

// run takes messages until ctx ends. Calls to vendors end with calls.
func (l *modeWorker) run(ctx, calls context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		began := time.Now()
		again := l.pass(ctx, calls)
		now := time.Now()
		l.turns.Pace.Passed(now.Sub(began))
		l.lastPass.Store(now.UnixNano())
		wait := l.cfg.Poll
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
func (l *modeWorker) room(now time.Time) (free, all int) {
	all = 16
	if len(l.outlets) > 0 {
		all = l.outlets[0].Most
	}
	all += l.turns.Pace.Ahead(now)
	return all - int(l.inFlight.Load()), all
}

// open returns the outlet to use now. If all are closed, it returns why, and for how long (0 = unknown).
func (l *modeWorker) open(now time.Time) (o *account.Outlet, why string, left time.Duration) {
	if len(l.outlets) == 0 {
		return nil, "no vendor for " + string(l.mode) + " is configured", 0
	}
	for i, o := range l.outlets {
		reason, d := o.Closed(now)
		if reason == "" {
			return o, "", 0
		}
		if i == 0 || d < left { // 0 (unknown) is less than any pause: that account may work again at once
			why, left = reason, d
		}
	}
	return nil, why, left
}

// pass takes the messages that may be sent soon. It returns when to pass again; zero = when something changes.
func (l *modeWorker) pass(ctx, calls context.Context) time.Time {
	now := time.Now()
	where := scopeOf(l.leases, l.cfg.DryRun)
	keys := l.demand.Lanes(l.mode, where.of(l.mode))
	if len(keys) == 0 || ctx.Err() != nil {
		return time.Time{}
	}
	if left, _ := l.pauses.Left(now, rate.ModeKey(l.mode)); left > 0 {
		return now.Add(left)
	}
	if len(l.outlets) == 0 && l.lacking.elsewhere(ctx, l.mode) {
		return now.Add(l.cfg.Poll)
	}
	free, all := l.room(now)
	if free <= 0 {
		return time.Time{}
	}
	if free < all/2 && now.Sub(l.lastTake) < gather {
		return l.lastTake.Add(gather)
	}
	l.probe(calls, now)
	o, why, left := l.open(now)
	if o == nil {
		if left > 0 && left <= shortPause {
			return now.Add(left)
		}
		turns := l.turns.Unlimited(keys, min(refusedBatch, free+refusedBatch/2))
		l.take(ctx, calls, where, turns, nil, closure{why, left})
		return clock.Later(l.nextProbe(now), time.Now().Add(restAfter*time.Since(now)))
	}
	if l.flooded && now.Sub(l.lastTake) < gather && !l.turns.Limited(keys, limitOf(o)) {
		return l.lastTake.Add(gather)
	}
	ok, healthy := o.Health.Reserve(now)
	if !ok {
		return l.nextProbe(now)
	}
	if !healthy {
		free = 1
	}
	turns, again := l.turns.Choose(ctx, now, keys, limitOf(o), free)
	if len(turns) == 0 {
		o.Health.CancelReserve()
		return again
	}
	return l.take(ctx, calls, where, turns, o, closure{})
}

// closure says why no account of a mode can be used, and for how long (0 = unknown).
type closure struct {
	why  string
	left time.Duration
}

// take claims messages for the turns and begins them. It returns when to pass again.
func (l *modeWorker) take(ctx, calls context.Context, where scope, dealt []rate.Turn, o *account.Outlet, closed closure) time.Time {
	req := TakeRequest{ProcessID: l.leases.ProcessID(), Leases: where.leases, StandIns: where.foreign(l.mode),
		ClaimFor: l.claimFor(o), Low: l.finder.low()}
	turns := map[rate.Key][]rate.Turn{}
	var order []rate.Key
	for _, t := range dealt {
		if turns[t.Key] == nil {
			order = append(order, t.Key)
		}
		turns[t.Key] = append(turns[t.Key], t)
	}
	for _, k := range order {
		lane := rate.Lane{Mode: l.mode, Class: k.Class, Application: k.Application}
		n := len(turns[k])
		t := Take{Lane: lane, Max: n, Buckets: l.demand.Buckets(lane, n)}
		if o == nil && len(l.outlets) > 0 {
			// While no account can be used, take only the messages that are due for another mode.
			b := l.cfg.Budgets[k.Class]
			t.Waited, t.Older = b.PerMode, b.Total
			t.FirstWaited = max(0, b.PerMode-closed.left)
		}
		req.Takes = append(req.Takes, t)
	}
	began := time.Now()
	got, err := l.claim(ctx, req)
	if err != nil {
		l.turns.Return(dealt)
		l.report.Failed("take", err, zap.String("mode", string(l.mode)))
		return time.Now().Add(200 * time.Millisecond)
	}
	if o != nil && len(got) == 0 {
		o.Health.CancelReserve()
	}
	l.lastTake, l.flooded = time.Now(), len(got) >= flood
	l.report.metrics.batches.WithLabelValues("take").Observe(float64(len(got)))
	byLane := map[rate.Key][]Claimed{}
	for _, c := range got {
		k := rate.Key{Class: c.Class, Application: c.ApplicationID}
		byLane[k] = append(byLane[k], c)
	}
	for i, k := range order {
		mine := byLane[k]
		if t := req.Takes[i]; t.Waited == 0 {
			l.demand.Took(t.Lane, t.Max, t.Buckets, bucketsOf(mine))
		}
		l.turns.Return(turns[k][min(len(mine), len(turns[k])):])
		for j, c := range mine {
			it := &item{c: c, mode: l, outlet: o, closed: closed, taken: began, claimEnd: began.Add(req.ClaimFor)}
			if j < len(turns[k]) {
				it.turn = turns[k][j]
			}
			l.path.begin(calls, it)
		}
	}
	return time.Now()
}

func (l *modeWorker) claim(ctx context.Context, r TakeRequest) ([]Claimed, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return l.queue.Take(ctx, r)
}

// claimFor is how long the claim of a taken message lasts until its mark. It includes the time to open a connection
// before the mark.
func (l *modeWorker) claimFor(o *account.Outlet) time.Duration {
	d := l.cfg.ClaimFor
	if o != nil {
		if _, prepares := o.Vendor.(messages.Preparer); prepares {
			d += o.Timeout
		}
	}
	return d
}

// probeWithin bounds a probe without a message.
const probeWithin = 5 * time.Second

// probe probes unhealthy accounts of the mode without a message.
func (l *modeWorker) probe(calls context.Context, now time.Time) {
	for _, o := range l.outlets {
		p, ok := o.Vendor.(messages.Prober)
		if !ok || !o.Health.ProbeDue(now) {
			continue
		}
		l.background.Go(func() {
			ctx, cancel := context.WithTimeout(calls, min(probeWithin, o.Timeout))
			defer cancel()
			o.Health.Probed(p.Probe(ctx))
			l.kick()
		})
	}
}

// nextProbe is when an unhealthy account may be probed next.
func (l *modeWorker) nextProbe(now time.Time) time.Time {
	next := now.Add(l.cfg.Poll)
	for _, o := range l.outlets {
		if _, at := o.Health.Due(now); at.After(now) {
			next = clock.Earlier(next, at)
		}
	}
	return next
}

func bucketsOf(cs []Claimed) []int {
	out := make([]int, len(cs))
	for i, c := range cs {
		out[i] = c.Bucket
	}
	return out
}

func setOf(leases []buckets.Lease) buckets.Set {
	var s buckets.Set
	for _, l := range leases {
		s.Add(l.Bucket)
	}
	return s
}
