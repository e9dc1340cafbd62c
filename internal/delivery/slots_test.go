package delivery

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// limitRow is the database's row of a limit; reserve is what the function reserve_slots does (their agreement is tested
// against PostgreSQL).
type limitRow struct {
	free time.Time
}

func (l *limitRow) reserve(clock time.Time, r Reservation) Granted {
	g := Granted{Before: clock, Clock: clock}
	if r.OnlyIfWithin == 0 || !l.free.After(clock.Add(r.OnlyIfWithin)) {
		for i, o := range r.Offsets {
			wanted := clock.Add(o)
			if l.free.After(wanted.Add(r.Tolerance)) {
				continue
			}
			l.free = later(l.free, wanted.Add(-time.Duration(r.Burst-1)*r.Interval))
			g.Index = append(g.Index, i)
			g.Slots = append(g.Slots, later(l.free, wanted))
			l.free = l.free.Add(r.Interval)
		}
	}
	g.Next = l.free
	return g
}

// world is a cluster in virtual time: some processes that share one limit, each as far from the database as the draw
// says. Time advances by milliseconds.
type world struct {
	now   time.Duration
	row   limitRow
	r     rate
	nodes []*node
	calls []time.Duration // true instants of call starts
}

type node struct {
	pool    *pool
	skew    time.Duration // of its clock; only differences ever count
	backlog func(now time.Duration) int
	latency func() time.Duration
	awake   func(now time.Duration) bool
	asked   *Reservation // on its way to the database
	sentAt  time.Duration
	decide  time.Duration // when the database sees it
	answer  *Granted
	arrive  time.Duration
	called  int
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (w *world) at(d time.Duration) time.Time { return epoch.Add(d) }

func (w *world) step() {
	w.now += time.Millisecond
	for _, n := range w.nodes {
		if n.asked != nil && n.answer == nil && w.now >= n.decide {
			g := w.row.reserve(w.at(w.now), *n.asked)
			n.answer, n.arrive = &g, w.now+n.latency()
		}
		if !n.awake(w.now) {
			continue
		}
		local := w.at(w.now).Add(n.skew)
		if n.answer != nil && w.now >= n.arrive {
			w.receive(n, local)
		}
		n.pool.expire(local)
		backlog := n.backlog(w.now)
		for n.pool.due(local, 0) > 0 && backlog > 0 {
			n.pool.take(1)
			n.called++
			backlog--
			w.calls = append(w.calls, w.now)
		}
		if n.asked == nil {
			w.ask(n, local, backlog)
		}
	}
}

func (w *world) ask(n *node, local time.Time, backlog int) {
	d, _ := n.pool.plan(local, min(backlog, 256), 10*time.Millisecond)
	if d.n == 0 {
		return
	}
	n.asked = &Reservation{
		Interval: w.r.interval(), Burst: w.r.burst, Tolerance: d.tolerance, OnlyIfWithin: d.onlyIdle,
		Offsets: slices.Repeat([]time.Duration{d.offset}, d.n),
	}
	n.sentAt, n.decide = w.now, w.now+n.latency()
}

func (w *world) receive(n *node, now time.Time) {
	g := *n.answer
	sent := w.at(n.sentAt).Add(n.skew)
	slots, next := local(g, sent, now)
	n.pool.add(now, slots, next)
	n.asked, n.answer = nil, nil
}

// requireExact checks that in no window W there are more calls than rate x (W + jitter) + burst: the bucket that leaks one
// call per interval never holds more. jitter is how late a slot may be used; slots are never used before their instant.
func (w *world) requireExact(t require.TestingT, jitter time.Duration) {
	slices.Sort(w.calls)
	interval := w.r.interval()
	var empty time.Duration // when the bucket will have leaked out
	for i, at := range w.calls {
		empty = max(empty, at) + interval
		require.LessOrEqual(t, empty-at, time.Duration(w.r.burst)*interval+jitter, "call %d of %d comes too soon", i, len(w.calls))
	}
}

// latencies returns random times between 0 and the slowest.
func latencies(t *rapid.T, slowest time.Duration) func() time.Duration {
	seed := rapid.Uint64().Draw(t, "seed of latencies")
	rnd := rand.New(rand.NewPCG(seed, seed))
	return func() time.Duration { return time.Duration(rnd.Int64N(int64(slowest) + 1)) }
}

func TestLimitIsNeverExceeded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := &world{r: rate{rapid.Float64Range(0.5, 400).Draw(t, "rate"), rapid.IntRange(1, 5).Draw(t, "burst")}}
		w.row.free = epoch
		for range rapid.IntRange(1, 4).Draw(t, "processes") {
			n := &node{pool: newPool(w.r), skew: time.Duration(rapid.IntRange(-1e6, 1e6).Draw(t, "skew")) * time.Millisecond}
			n.pool.share = rapid.Float64Range(0.01, 1).Draw(t, "share, right or wrong")
			n.latency = latencies(t, time.Duration(rapid.IntRange(0, 60).Draw(t, "slowest answer in ms"))*time.Millisecond)
			from, to := rapid.IntRange(0, 4000).Draw(t, "work from"), rapid.IntRange(0, 4000).Draw(t, "work to")
			n.backlog = func(now time.Duration) int {
				if ms := int(now.Milliseconds()); ms >= from && ms < to {
					return 1000
				}
				return 0
			}
			sleep, wake := rapid.IntRange(0, 4000).Draw(t, "frozen from"), rapid.IntRange(0, 4000).Draw(t, "frozen to")
			n.awake = func(now time.Duration) bool { ms := int(now.Milliseconds()); return ms < sleep || ms >= wake }
			w.nodes = append(w.nodes, n)
		}
		for w.now < 4*time.Second {
			w.step()
		}
		w.requireExact(t, maxLate)
	})
}

func TestLimitIsUsedUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := &world{r: rate{rapid.Float64Range(1, 500).Draw(t, "rate"), 1}}
		w.row.free = epoch
		count := rapid.IntRange(1, 4).Draw(t, "processes")
		working := rapid.IntRange(1, count).Draw(t, "processes with work")
		right := rapid.Bool().Draw(t, "the shares are right")
		for i := range count {
			n := &node{pool: newPool(w.r), awake: func(time.Duration) bool { return true }}
			n.pool.share = 1 / float64(count) // as if all had work, whoever has
			if right {
				n.pool.share = 1 / float64(working)
			}
			n.latency = latencies(t, 5*time.Millisecond)
			n.backlog = func(time.Duration) int {
				if i < working {
					return 1000
				}
				return 0
			}
			w.nodes = append(w.nodes, n)
		}
		const span = 8 * time.Second
		for w.now < span {
			w.step()
		}
		w.requireExact(t, maxLate)
		want := w.r.perSecond * span.Seconds()
		require.GreaterOrEqual(t, float64(len(w.calls)), 0.95*want-2)
	})
}

func TestLimitIsSharedByDemand(t *testing.T) {
	t.Parallel()
	w := &world{r: rate{200, 1}}
	w.row.free = epoch
	for i, share := range []float64{0.75, 0.25} {
		n := &node{pool: newPool(w.r), awake: func(time.Duration) bool { return true }}
		n.pool.share = share
		n.latency = func() time.Duration { return time.Duration(i+1) * time.Millisecond }
		n.backlog = func(time.Duration) int { return 1000 }
		w.nodes = append(w.nodes, n)
	}
	for w.now < 20*time.Second {
		w.step()
	}
	require.InDelta(t, 0.75, float64(w.nodes[0].called)/float64(len(w.calls)), 0.05)
}

func TestASlotIsMappedNeverEarly(t *testing.T) {
	t.Parallel()
	sent, received := epoch, epoch.Add(30*time.Millisecond)
	clock := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) // the database lives in its own time
	slots, next := local(Granted{
		Before: clock.Add(-10 * time.Millisecond), Clock: clock, Next: clock.Add(time.Second), Slots: []time.Time{clock.Add(100 * time.Millisecond)},
	}, sent, received)
	require.Equal(t, received.Add(100*time.Millisecond), slots[0].at)
	require.Equal(t, sent.Add(110*time.Millisecond).Add(maxLate), slots[0].until)
	require.Equal(t, received.Add(time.Second), next)
}

func TestRateIsRoundedDown(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := rate{rapid.Float64Range(0.01, 10000).Draw(t, "rate"), 1}
		require.GreaterOrEqual(t, r.interval().Seconds()*r.perSecond, 1-1e-9)
	})
}
