package rate

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	kitclock "github.com/iris-oncall/iris/internal/kit/clock"
)

// limitRow is the database row of a limit. reserve does the same as the SQL function draw_slots; another test compares
// them.
type limitRow struct {
	free   time.Time
	lead   time.Duration
	leadAt time.Time
}

func (l *limitRow) reserve(clock time.Time, r Reservation) Granted {
	g := Granted{Before: clock, Clock: clock}
	if r.Lead >= l.lead || clock.Sub(l.leadAt) > 10*time.Second {
		l.lead, l.leadAt = r.Lead, clock
	}
	if r.OnlyIfWithin == 0 || !l.free.After(clock.Add(r.OnlyIfWithin)) {
		for i, o := range r.Offsets {
			wanted := clock.Add(o)
			if l.free.After(wanted.Add(r.Tolerance)) {
				continue
			}
			l.free = kitclock.Later(l.free, wanted.Add(-time.Duration(r.Burst-1)*r.Interval))
			g.Index = append(g.Index, i)
			g.Slots = append(g.Slots, kitclock.Later(l.free, wanted))
			l.free = l.free.Add(r.Interval)
		}
	}
	g.Next, g.Lead = l.free, l.lead
	return g
}

// world is a cluster in virtual time. Its processes share one limit and have random latencies to the database. Time
// advances by milliseconds.
type world struct {
	now   time.Duration
	row   limitRow
	r     Limit
	nodes []*node
	calls []time.Duration // true instants of call starts
}

type node struct {
	pool    *pool
	skew    time.Duration // of its clock; only differences matter
	backlog func(now time.Duration) int
	latency func() time.Duration
	awake   func(now time.Duration) bool
	asked   *Reservation // the request in flight to the database
	sentAt  time.Duration
	decide  time.Duration // when the database processes it
	answer  *Granted
	arrive  time.Duration
	called  int
	lost    int // slots that were taken and expired before the call
	clock   dbClock
	way     time.Duration // from take to call
	slowest time.Duration // longest round trip to the database so far
	coming  []onWay
	ahead   time.Duration // the longest time ahead for which a slot was reserved
}

// onWay is a message that waits for its slot.
type onWay struct {
	slot  Slot
	ready time.Duration
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
		backlog := n.backlog(w.now) - len(n.coming)
		for n.pool.due(local, n.lead()) > 0 && backlog > 0 {
			n.coming = append(n.coming, onWay{n.pool.take(1)[0], w.now + n.way})
			backlog--
		}
		n.coming = slices.DeleteFunc(n.coming, func(c onWay) bool {
			switch {
			case w.now < c.ready || local.Before(c.slot.At):
				return false
			case local.After(c.slot.Until):
				n.lost++
				return true
			}
			n.called++
			w.calls = append(w.calls, w.now)
			return true
		})
		if n.asked == nil {
			w.ask(n, local, backlog)
		}
	}
}

// lead is the value of pace.lead and pace.reserveAhead after they have measured.
func (n *node) lead() time.Duration { return max(minLead, n.way+n.way/4+spare) }

func (w *world) ask(n *node, local time.Time, backlog int) {
	d, _ := n.pool.plan(local, min(backlog, 2048), n.lead()+n.slowest)
	if d.n == 0 {
		return
	}
	n.asked = &Reservation{
		Interval: w.r.interval(), Burst: w.r.Burst, Tolerance: d.tolerance, OnlyIfWithin: d.onlyIdle, Lead: d.lead,
		Offsets: slices.Repeat([]time.Duration{d.offset}, d.n),
	}
	n.sentAt, n.decide = w.now, w.now+n.latency()
}

func (w *world) receive(n *node, now time.Time) {
	g := *n.answer
	sent := w.at(n.sentAt).Add(n.skew)
	n.slowest = max(n.slowest, now.Sub(sent))
	n.clock.learn(g, sent, now)
	slots := make([]Slot, len(g.Slots))
	for i, s := range g.Slots {
		slots[i] = n.clock.slot(s)
		n.ahead = max(n.ahead, s.Sub(g.Clock))
	}
	n.pool.add(now, slots, n.clock.instant(g.Next), g.Lead)
	n.asked, n.answer = nil, nil
}

// requireExact checks that every time window W has at most rate x (W + jitter) + burst calls. It counts with a bucket
// that leaks one call per interval. jitter is how late a slot may be used; no slot is used early.
func (w *world) requireExact(t require.TestingT, jitter time.Duration) {
	slices.Sort(w.calls)
	interval := w.r.interval()
	var empty time.Duration // when the bucket is empty
	for i, at := range w.calls {
		empty = max(empty, at) + interval
		require.LessOrEqual(t, empty-at, time.Duration(w.r.Burst)*interval+jitter, "call %d of %d comes too soon", i,
			len(w.calls))
	}
}

// latencies returns a source of random latencies between 0 and slowest.
func latencies(t *rapid.T, slowest time.Duration) func() time.Duration {
	seed := rapid.Uint64().Draw(t, "seed of latencies")
	rnd := rand.New(rand.NewPCG(seed, seed))
	return func() time.Duration { return time.Duration(rnd.Int64N(int64(slowest) + 1)) }
}

func TestLimitIsNeverExceeded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := &world{r: Limit{rapid.Float64Range(0.5, 400).Draw(t, "rate"), rapid.IntRange(1, 5).Draw(t, "burst")}}
		w.row.free = epoch
		jitter := maxLate
		for range rapid.IntRange(1, 4).Draw(t, "processes") {
			n := &node{pool: newPool(w.r),
				skew: time.Duration(rapid.IntRange(-1e6, 1e6).Draw(t, "skew")) * time.Millisecond}
			n.pool.share = rapid.Float64Range(0.01, 1).Draw(t, "share, right or wrong")
			slowest := time.Duration(rapid.IntRange(0, 60).Draw(t, "slowest answer in ms")) * time.Millisecond
			n.latency, jitter = latencies(t, slowest), max(jitter, 2*slowest+maxLate/2)
			n.way = time.Duration(rapid.IntRange(0, 500).Draw(t, "from take to call in ms")) * time.Millisecond
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
		w.requireExact(t, jitter)
	})
}

func TestLimitIsFullyUsed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := &world{r: Limit{rapid.Float64Range(1, 500).Draw(t, "rate"), 1}}
		w.row.free = epoch
		count := rapid.IntRange(1, 4).Draw(t, "processes")
		working := rapid.IntRange(1, count).Draw(t, "processes with work")
		right := rapid.Bool().Draw(t, "the shares are right")
		for i := range count {
			n := &node{pool: newPool(w.r), awake: func(time.Duration) bool { return true }}
			n.pool.share = 1 / float64(count) // all processes have work
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
		want := w.r.PerSecond * span.Seconds()
		require.GreaterOrEqual(t, float64(len(w.calls)), 0.95*want-2)
	})
}

func TestLimitIsSharedByDemand(t *testing.T) {
	t.Parallel()
	w := &world{r: Limit{200, 1}}
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

// Processes with different leads and latencies get their shares of a limit, use all of it, and do not exceed it.
func TestSharesAreFairWithUnequalLeads(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := &world{r: Limit{rapid.Float64Range(10, 300).Draw(t, "rate"), 1}}
		w.row.free = epoch
		count := rapid.IntRange(2, 4).Draw(t, "processes")
		weights, sum := make([]float64, count), 0.0
		for i := range weights {
			weights[i] = rapid.Float64Range(1, 5).Draw(t, "weight")
			sum += weights[i]
		}
		jitter, longest := maxLate, time.Duration(0)
		for i := range count {
			n := &node{pool: newPool(w.r), awake: func(time.Duration) bool { return true }}
			n.pool.share = weights[i] / sum
			n.skew = time.Duration(rapid.IntRange(-1e6, 1e6).Draw(t, "skew")) * time.Millisecond
			n.way = time.Duration(rapid.IntRange(5, 500).Draw(t, "from take to call in ms")) * time.Millisecond
			oneWay := time.Duration(rapid.IntRange(0, 60).Draw(t, "way to the database in ms")) * time.Millisecond
			n.latency = func() time.Duration { return oneWay }
			n.backlog = func(time.Duration) int { return 100_000 }
			jitter, longest = max(jitter, 2*oneWay+maxLate/2), max(longest, n.lead()+2*oneWay)
			w.nodes = append(w.nodes, n)
		}
		const warm, span = 5 * time.Second, 30 * time.Second
		var before []int
		for w.now < warm+span {
			w.step()
			if w.now == warm {
				for _, n := range w.nodes {
					before = append(before, n.called)
				}
			}
		}
		w.requireExact(t, jitter)
		total := 0
		for i, n := range w.nodes {
			total += n.called - before[i]
		}
		require.GreaterOrEqual(t, float64(total), 0.95*w.r.PerSecond*span.Seconds(), "the limit is used")
		for i, n := range w.nodes {
			want := n.pool.share * float64(total)
			// Of a small share, a few turns are more than a tenth.
			require.InDelta(t, want, float64(n.called-before[i]), max(0.1*want, 10), "process %d of shares %v", i,
				weights)
			require.LessOrEqual(t, n.ahead, bound(longest)+w.r.interval()+2*time.Millisecond, "reserved ahead")
		}
	})
}

// An urgent page does not wait until another process has used up the limit.
func TestAFastProcessLeavesCapacityToOthers(t *testing.T) {
	t.Parallel()
	w := &world{r: Limit{50, 1}}
	w.row.free = epoch
	for i, way := range []time.Duration{250 * time.Millisecond, 5 * time.Millisecond} {
		n := &node{pool: newPool(w.r), awake: func(time.Duration) bool { return true }, way: way}
		n.latency = func() time.Duration { return time.Millisecond }
		n.pool.share = 1
		n.backlog = func(now time.Duration) int {
			if i == 1 && now < 5*time.Second {
				return 0
			}
			return 100_000
		}
		w.nodes = append(w.nodes, n)
	}
	for w.now < 5*time.Second {
		w.step()
	}
	w.nodes[0].pool.share, w.nodes[1].pool.share = 0.1, 0.9 // the demand hint about the urgent page has arrived
	for w.nodes[1].called == 0 && w.now < 10*time.Second {
		w.step()
	}
	require.Less(t, w.now, 5*time.Second+bound(w.nodes[0].lead())+250*time.Millisecond)
}

func TestASlotIsNeverMappedTooEarly(t *testing.T) {
	t.Parallel()
	var c dbClock
	sent, received := epoch, epoch.Add(30*time.Millisecond)
	clock := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) // the clock of the database is years ahead
	c.learn(Granted{Before: clock.Add(-10 * time.Millisecond), Clock: clock}, sent, received)
	s := c.slot(clock.Add(100 * time.Millisecond))
	require.Equal(t, received.Add(100*time.Millisecond), s.At)
	require.Equal(t, sent.Add(110*time.Millisecond).Add(maxLate), s.Until)
	require.Equal(t, clock.Add(100*time.Millisecond), c.remote(s.At))

	// A slow answer does not make the mapping less exact. A fast one makes it more exact.
	c.learn(Granted{Before: clock.Add(time.Second), Clock: clock.Add(time.Second)}, sent.Add(700*time.Millisecond),
		received.Add(1500*time.Millisecond))
	require.Equal(t, s, c.slot(clock.Add(100*time.Millisecond)))
	c.learn(Granted{Before: clock.Add(2 * time.Second), Clock: clock.Add(2 * time.Second)},
		received.Add(1980*time.Millisecond), received.Add(1981*time.Millisecond))
	require.Equal(t, received.Add(81*time.Millisecond), c.slot(clock.Add(100*time.Millisecond)).At)

	// After a clock was set, only later answers count.
	clock = clock.Add(-time.Hour)
	c.learn(Granted{Before: clock, Clock: clock}, received.Add(3*time.Second), received.Add(3001*time.Millisecond))
	require.Equal(t, received.Add(4001*time.Millisecond), c.slot(clock.Add(time.Second)).At)

	// A process with a high latency also has time to use its slots.
	var far dbClock
	for range typicalAfter {
		require.True(t, far.slot(clock.Add(time.Second)).Until.Before(far.slot(clock.Add(time.Second)).At.Add(maxLate/2)) || far.samples == 0)
		far.learn(Granted{Before: clock, Clock: clock}, sent, sent.Add(200*time.Millisecond))
	}
	s = far.slot(clock.Add(time.Second))
	require.Equal(t, maxLate/2, s.Until.Sub(s.At))
}

func TestRateIsRoundedDown(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := Limit{rapid.Float64Range(0.01, 10000).Draw(t, "rate"), 1}
		require.GreaterOrEqual(t, r.interval().Seconds()*r.PerSecond, 1-1e-9)
	})
}
