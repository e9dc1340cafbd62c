package delivery

import (
	"math"
	"slices"
	"time"
)

const (
	// maxAhead is how much of a rate may be reserved ahead of time.
	maxAhead = 250 * time.Millisecond
	// maxLate is how late a slot may be used; later it is given up.
	maxLate = 50 * time.Millisecond
	// leastPause is the shortest time between two looks at the same limit that brought nothing.
	leastPause = 5 * time.Millisecond
)

// rate is a configured limit: so many starts per second, and how many of them may come at once after a pause.
type rate struct {
	perSecond float64
	burst     int
}

// interval is the time between two slots, rounded up to what the database counts in.
func (r rate) interval() time.Duration {
	return time.Duration(math.Ceil(1e6/r.perSecond)) * time.Microsecond
}

// slot is the right to begin one call, on this process's clock.
type slot struct {
	at    time.Time // not before
	until time.Time // not after
}

// both is the slot in which two limits agree.
func (s slot) both(o slot) slot {
	if o.at.After(s.at) {
		s.at = o.at
	}
	if o.until.Before(s.until) {
		s.until = o.until
	}
	return s
}

// local turns the database's instants into ours. An instant is taken to come as late as it can (the answer was instant),
// so that nothing starts early, and to end as early as it can (the request was), so that nothing starts too late.
func local(g Granted, sent, received time.Time) (slots []slot, next time.Time) {
	slots = make([]slot, len(g.Slots))
	for i, s := range g.Slots {
		slots[i] = slot{
			at:    received.Add(s.Sub(g.Clock)),
			until: sent.Add(s.Sub(g.Before)).Add(maxLate),
		}
	}
	return slots, received.Add(g.Next.Sub(g.Clock))
}

// gate is what is known of a limit that is asked only when a start needs it. The zero time means "never asked".
type gate struct {
	rate
	next time.Time // its next free slot, as far as we know; others can only make it later
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
	return int(horizon.Sub(first)/g.interval()) + max(1, g.burst)
}

// pool holds the slots that this process has reserved of one limit, and decides when to reserve more. While the limit is
// wanted by others too, it draws at its share of the rate; a limit that is about to fall idle is drawn from at once,
// whatever the shares say, so that wrong shares cost fairness, never throughput. It is pure: time is given to it.
// It is not safe for concurrent use.
type pool struct {
	gate
	share  float64 // of the limit, in (0, 1]
	tokens float64 // draws that the share allows now
	filled time.Time
	quiet  time.Time // do not ask before
	slots  []slot    // ascending
}

func newPool(r rate) *pool { return &pool{gate: gate{rate: r}, share: 1, tokens: math.Inf(1)} }

// draw is what to ask the limit for.
type draw struct {
	n         int
	offset    time.Duration // of the first slot
	tolerance time.Duration
	onlyIdle  time.Duration // 0 = entitled
}

// batch is how many slots lie in maxAhead, at least one.
func (p *pool) batch() float64 { return max(1, math.Floor(p.perSecond*maxAhead.Seconds())) }

// plan decides whether to reserve now, given that so many starts are wanted in all and that one takes lead to prepare.
// Else again is when to ask again; zero = when something changes.
func (p *pool) plan(now time.Time, wanted int, lead time.Duration) (d draw, again time.Time) {
	p.refill(now)
	missing := wanted - len(p.slots)
	if missing <= 0 {
		return draw{}, time.Time{}
	}
	if now.Before(p.quiet) {
		return draw{}, p.quiet
	}
	idle := max(maxLate, lead+30*time.Millisecond)
	ahead := p.next.Sub(now) // how far the limit is reserved
	if ahead <= idle {
		n := min(missing, max(1, int(p.perSecond*(maxAhead/2).Seconds())))
		return draw{n: n, offset: lead, tolerance: max(maxAhead/2, ahead), onlyIdle: idle}, time.Time{}
	}
	// The smallest draw worth a round trip: half of our part of what may be ahead.
	n := min(float64(missing), max(1, math.Floor(p.batch()*p.share/2)))
	room := p.interval() * time.Duration(n-1)
	if ahead+room <= maxAhead && p.tokens >= n {
		return draw{n: min(missing, int(min(p.tokens, p.batch()))), tolerance: maxAhead}, time.Time{}
	}
	entitled := now.Add(max(ahead+room-maxAhead, p.wait(n)))
	again = now.Add(ahead - idle)
	if entitled.Before(again) {
		again = entitled
	}
	return draw{}, later(again, now.Add(time.Millisecond))
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// wait is how long it takes until n draws are allowed.
func (p *pool) wait(n float64) time.Duration {
	if p.tokens >= n {
		return 0
	}
	return time.Duration((n - p.tokens) / (p.perSecond * p.share) * float64(time.Second))
}

func (p *pool) refill(now time.Time) {
	most := max(1, p.batch()*p.share)
	if !p.filled.IsZero() {
		p.tokens += now.Sub(p.filled).Seconds() * p.perSecond * p.share
	}
	p.tokens = min(p.tokens, most)
	p.filled = now
}

// add takes in what a draw brought, and what is now known of the limit.
func (p *pool) add(now time.Time, got []slot, next time.Time) {
	p.next = next
	p.tokens = max(p.tokens-float64(len(got)), -p.batch())
	if len(got) == 0 {
		p.quiet = now.Add(leastPause)
	}
	p.slots = append(p.slots, got...)
	slices.SortFunc(p.slots, func(a, b slot) int { return a.at.Compare(b.at) })
}

// expire gives up slots that cannot be used any more, and returns how many.
func (p *pool) expire(now time.Time) int {
	before := len(p.slots)
	p.slots = slices.DeleteFunc(p.slots, func(s slot) bool { return !now.Before(s.until) })
	return before - len(p.slots)
}

// due returns how many slots are to be prepared for now.
func (p *pool) due(now time.Time, lead time.Duration) int {
	horizon := now.Add(lead)
	n := 0
	for n < len(p.slots) && !p.slots[n].at.After(horizon) {
		n++
	}
	return n
}

// take removes and returns the first n slots.
func (p *pool) take(n int) []slot {
	out := slices.Clone(p.slots[:n])
	p.slots = slices.Delete(p.slots, 0, n)
	return out
}

// give puts unused slots back.
func (p *pool) give(ss []slot) {
	p.slots = append(p.slots, ss...)
	slices.SortFunc(p.slots, func(a, b slot) int { return a.at.Compare(b.at) })
}

// nextDue is when the first slot is to be prepared for; zero = there is none.
func (p *pool) nextDue(lead time.Duration) time.Time {
	if len(p.slots) == 0 {
		return time.Time{}
	}
	return p.slots[0].at.Add(-lead)
}
