package rate

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/iris-oncall/iris/internal/kit/clock"
)

const (
	// maxAhead is how much of a rate may be reserved ahead of time, beyond the longest lead of the processes that share
	// it.
	maxAhead = 250 * time.Millisecond
	// maxFar bounds the lead that other processes can ask of this one.
	maxFar = maxLead + time.Second
	// nearEmpty: when the reserved slots of a limit end within this time, a process reserves more, whatever its share.
	// A process that has used up its share waits longer than others, down to minNear.
	nearEmpty = 50 * time.Millisecond
	minNear   = 10 * time.Millisecond
	// surplus is how much faster than its share a process may draw. Without it the reservations would never reach their
	// bound.
	surplus = 1.005
	// maxLate is how late a slot may be used. After that it is given up.
	maxLate = 50 * time.Millisecond
	// minPause is the shortest time between two reservations of the same limit that brought nothing.
	minPause = 5 * time.Millisecond
)

// Slot is the right to begin one call, on this process's clock.
type Slot struct {
	At    time.Time // not before
	Until time.Time // not after
}

// both returns the time that two slots share: the later start and the earlier end.
func (s Slot) both(o Slot) Slot {
	if o.At.After(s.At) {
		s.At = o.At
	}
	if o.Until.Before(s.Until) {
		s.Until = o.Until
	}
	return s
}

// minUse is the least time in which a call must be able to begin in the slots of two limits.
const minUse = 5 * time.Millisecond

// yields is how much later than At the slot of another limit may begin, so that a call can still begin in both. A slot
// that is granted later could not be used and would be lost.
func (s Slot) yields() time.Duration { return max(0, s.Until.Sub(s.At)-minUse) }

// dbClock maps instants of the database's clock to this process's clock and back. Each answer of the database bounds
// the difference: it was measured after the request was sent and before the answer was received. The narrowest recent
// bounds are kept. Of the possible times of an instant, the latest is used, so that no call starts early. A start is
// late by at most the round trip to the database, and always by about the same time. It is safe for concurrent use.
type dbClock struct {
	mu          sync.Mutex
	base        time.Time // ours; all instants are measured from it, by the monotonic clock
	theirs      time.Time // the database's, about then
	now, before bounds
	since       time.Time
	samples     int // since a clock was set
}

// bounds are of the difference between the two clocks, each measured from its base.
type bounds struct{ least, most time.Duration }

// boundsFor is how long bounds are kept, at least: clocks drift apart.
const boundsFor = 5 * time.Second

// typicalAfter is the number of answers after which the narrowest bounds are typical of the connection to the database.
const typicalAfter = 3

// learn notes that the database's clock was between two instants of this process's clock.
func (c *dbClock) learn(g Granted, sent, received time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.base.IsZero() {
		c.base, c.theirs = received, g.Clock
	}
	b := bounds{least: g.Clock.Sub(c.theirs) - received.Sub(c.base), most: g.Before.Sub(c.theirs) - sent.Sub(c.base)}
	all, known := c.bounds()
	c.samples++
	switch {
	case !known || b.least > all.most || b.most < all.least: // a clock was set
		c.now, c.before, c.since, c.samples = b, b, received, 1
		return
	case received.Sub(c.since) > boundsFor:
		c.before, c.now, c.since = c.now, b, received
	}
	c.now = bounds{max(c.now.least, b.least), min(c.now.most, b.most)}
}

func (c *dbClock) bounds() (b bounds, known bool) {
	return bounds{max(c.now.least, c.before.least), min(c.now.most, c.before.most)}, !c.since.IsZero()
}

// slot maps a slot of the limiter.
func (c *dbClock) slot(s time.Time) Slot {
	c.mu.Lock()
	defer c.mu.Unlock()
	b, _ := c.bounds()
	since := s.Sub(c.theirs)
	out := Slot{At: c.base.Add(since - b.least), Until: c.base.Add(since - b.most + maxLate)}
	if c.samples >= typicalAfter { // the database is really far away; fewer slow answers may come from a pause of this process
		out.Until = clock.Later(out.Until, out.At.Add(maxLate/2))
	}
	return out
}

// instant maps an instant of the database's clock that is not a slot.
func (c *dbClock) instant(s time.Time) time.Time { return c.slot(s).At }

// remote is the instant of the database's clock that slot maps to t; the zero time when that is not known yet.
func (c *dbClock) remote(t time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	b, known := c.bounds()
	if !known {
		return time.Time{}
	}
	return c.theirs.Add(t.Sub(c.base) + b.least)
}

// gate is the known state of a limit that is asked only when a start needs it.
type gate struct {
	Limit
	key  string
	next time.Time // its next free slot, as far as known; others can only make it later; zero = never asked
}

// room returns how many starts the limit may allow from now until the horizon.
func (g *gate) room(now, horizon time.Time) int {
	first := g.next
	if first.Before(now) {
		first = now
	}
	if first.After(horizon) {
		return 0
	}
	return int(horizon.Sub(first)/g.interval()) + max(1, g.Burst)
}

// expect notes that a slot is about to be reserved near s. It holds if no other process reserves first. nil = there is
// no limit.
func (g *gate) expect(s Slot) {
	if g != nil {
		g.next = clock.Later(g.next, s.At).Add(g.interval())
	}
}

// pool holds the slots that this process has reserved of one limit, and decides when to reserve more. It draws slots at
// its share of the rate while other processes want the limit too. If the limit would soon be idle, it draws at once,
// whatever its share: wrong shares cost fairness, never throughput. It reads no clock, and is not safe for concurrent
// use.
type pool struct {
	gate
	share  float64       // of the limit, in (0, 1]
	far    time.Duration // longest lead of the processes that share the limit, as far as we know
	tokens float64       // draws that the share allows now
	filled time.Time
	quiet  time.Time // do not ask before
	slots  []Slot    // ascending
}

func newPool(r Limit) *pool { return &pool{gate: gate{Limit: r}, share: 1, tokens: math.Inf(1)} }

// draw is what to ask the limit for.
type draw struct {
	n         int
	offset    time.Duration // of the first slot
	spacing   time.Duration // between the slots, beyond the limit's own; 0 = as near as the limit allows
	tolerance time.Duration
	onlyIdle  time.Duration // Reservation.OnlyIfWithin; 0 = the share allows the draw
	lead      time.Duration
}

// spaced leaves the time between slots that the only lane needs, so that no slot is drawn that its limit cannot use.
func (d *draw) spaced(now time.Time, interval time.Duration, p *pool) {
	d.spacing = interval
	if n := len(p.slots); n > 0 {
		d.offset = max(d.offset, p.slots[n-1].At.Add(interval).Sub(now))
	}
}

// bound is how far ahead slots may be reserved. far is the longest lead of the processes that share the limit.
func bound(far time.Duration) time.Duration { return far + maxAhead }

// batch is how many slots lie in maxAhead, at least one.
func (p *pool) batch() float64 { return max(1, math.Floor(p.PerSecond*maxAhead.Seconds())) }

// plan decides whether to reserve slots now. wanted is the number of starts wanted in all; a slot must be reserved lead
// before it begins. If d.n is 0, again is when to plan again; zero = when something changes.
func (p *pool) plan(now time.Time, wanted int, lead time.Duration) (d draw, again time.Time) {
	far := max(lead, min(p.far, maxFar))
	batch, most := p.batch(), bound(far)
	p.refill(now, max(2, p.PerSecond*p.share*most.Seconds()))
	missing := wanted - len(p.slots)
	if missing <= 0 {
		return draw{}, time.Time{}
	}
	if now.Before(p.quiet) {
		return draw{}, p.quiet
	}
	ahead := p.next.Sub(now) // how far the limit is reserved
	// The smallest draw worth a round trip is half of this process's share of a batch.
	n := min(float64(missing), max(1, math.Floor(batch*p.share/2)))
	room := p.interval() * time.Duration(n-1)
	if ahead+room <= most && p.tokens >= n {
		return draw{n: min(missing, int(min(p.tokens, max(n, batch)))), offset: lead, tolerance: most - lead,
			lead: lead}, time.Time{}
	}
	near := far + minNear + time.Duration(float64(nearEmpty-minNear)*min(1, max(0, p.tokens/n)))
	if ahead <= near {
		fill := far + maxAhead/2 - max(ahead, lead)
		return draw{
			n: min(missing, max(1, int(p.PerSecond*fill.Seconds()))), offset: lead, lead: lead,
			tolerance: most - lead, onlyIdle: near,
		}, time.Time{}
	}
	entitled := now.Add(max(ahead+room-most, p.wait(n)))
	again = now.Add(ahead - near)
	if entitled.Before(again) {
		again = entitled
	}
	return draw{}, clock.Later(again, now.Add(time.Millisecond))
}

// wait is how long it takes until n draws are allowed.
func (p *pool) wait(n float64) time.Duration {
	if p.tokens >= n {
		return 0
	}
	return time.Duration((n - p.tokens) / (p.PerSecond * p.share * surplus) * float64(time.Second))
}

func (p *pool) refill(now time.Time, most float64) {
	if !p.filled.IsZero() {
		p.tokens += now.Sub(p.filled).Seconds() * p.PerSecond * p.share * surplus
	}
	p.tokens = min(p.tokens, most)
	p.filled = now
}

// add notes the slots that a draw brought, and what is now known of the limit: its next free slot and the longest lead.
func (p *pool) add(now time.Time, got []Slot, next time.Time, far time.Duration) {
	p.next, p.far = next, far
	p.tokens = max(p.tokens-float64(len(got)), -p.batch())
	if len(got) == 0 {
		p.quiet = now.Add(minPause)
	}
	p.slots = append(p.slots, got...)
	slices.SortFunc(p.slots, func(a, b Slot) int { return a.At.Compare(b.At) })
}

// expire gives up slots that cannot be used any more, and returns how many.
func (p *pool) expire(now time.Time) int {
	before := len(p.slots)
	p.slots = slices.DeleteFunc(p.slots, func(s Slot) bool { return !now.Before(s.Until) })
	return before - len(p.slots)
}

// due returns how many slots are to be prepared for now.
func (p *pool) due(now time.Time, lead time.Duration) int {
	horizon := now.Add(lead)
	n := 0
	for n < len(p.slots) && !p.slots[n].At.After(horizon) {
		n++
	}
	return n
}

// take removes and returns the first n slots.
func (p *pool) take(n int) []Slot {
	out := slices.Clone(p.slots[:n])
	p.slots = slices.Delete(p.slots, 0, n)
	return out
}

// give puts unused slots back.
func (p *pool) give(ss []Slot) {
	p.slots = append(p.slots, ss...)
	slices.SortFunc(p.slots, func(a, b Slot) int { return a.At.Compare(b.At) })
}

// nextDue is when the first slot is to be prepared for; zero = there is none.
func (p *pool) nextDue(lead time.Duration) time.Time {
	if len(p.slots) == 0 {
		return time.Time{}
	}
	return p.slots[0].At.Add(-lead)
}
