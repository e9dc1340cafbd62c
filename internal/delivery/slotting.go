package delivery

import (
	"context"
	"slices"
	"time"

	"go.uber.org/zap"
)

// How a line gets its slots. Of the limits that apply to a start, the widest one that is configured (account, else mode,
// else application and mode) leads: its slots are reserved ahead of time into a pool. When one of them comes near, the
// turn goes to the lane that fairness chooses among those whose narrower limits have room then, and the narrower limits
// are asked for a slot at that very instant. So no two limits ever wait for each other, and a narrow limit never spends a
// slot that a wider one cannot use.

// narrowDraws bounds how many applications' limits are asked in one pass.
const narrowDraws = 8

// choose deals out turns to lanes whose slots are near, up to free. main is the pool the slots came from, if one leads.
func (l *line) choose(ctx context.Context, now time.Time, keys []fairKey, o *outlet, free int) (picks []pick, main *pool, again time.Time) {
	modeRate, modeLimited := l.w.cfg.rate(ModeKey(l.mode))
	narrow := l.narrow(keys)
	var key string
	var sharing func(Lane) bool
	switch {
	case o.limited:
		key = o.key
		main = l.pool(key, o.rate)
		carried := o.vendor.Modes()
		sharing = func(x Lane) bool { return slices.Contains(carried, x.Mode) }
	case modeLimited:
		key = ModeKey(l.mode)
		main = l.pool(key, modeRate)
		sharing = func(x Lane) bool { return x.Mode == l.mode }
	case len(narrow) == 0 && l.flooded && now.Sub(l.lastTake) < gather:
		return nil, nil, l.lastTake.Add(gather)
	case len(narrow) == 0:
		return l.unlimited(keys, free), nil, time.Time{}
	default:
		picks, again = l.chooseNarrow(ctx, now, keys, narrow, free)
		return picks, nil, again
	}
	var modeGate *gate
	if o.limited && modeLimited {
		modeGate = l.gate(ModeKey(l.mode), modeRate)
	}
	free = min(free, l.w.demand.depth(l.mode, keys))
	own, others := l.w.demand.all(), l.w.demands.fresh(now)
	share, weights := shares(own, others, l.mode, sharing)
	l.fair.set(only(weights, keys))
	main.share = share
	l.late(key, main.expire(now))
	lead := l.pace.lead()

	ahead := l.pace.reserveAhead()
	wanted, offset := l.wanted(now, bound(max(ahead, main.far)), keys, narrow, modeGate, free)
	d, again := main.plan(now, wanted, ahead)
	if d.n > 0 {
		d.offset = max(d.offset, offset)
		l.draw(ctx, key, main, d)
		now = time.Now()
		again = now
	}
	slots := main.take(min(main.due(now, lead), free))
	if len(slots) > 0 {
		picks = l.assign(ctx, now, slots, main, narrow, modeGate)
	}
	if len(picks) == 0 && d.n == 0 {
		again = sooner(again, main.nextDue(lead))
		if next := main.nextDue(lead); !next.IsZero() && !next.After(now) {
			again = now.Add(leastPause) // slots are due, but nobody may use them
		}
	}
	return picks, main, again
}

// narrow returns the limits of application and mode of the lanes that have one.
func (l *line) narrow(keys []fairKey) map[fairKey]*gate {
	var out map[fairKey]*gate
	for _, k := range keys {
		key := ApplicationKey(l.w.demand.name(k.application), l.mode)
		if r, ok := l.w.cfg.rate(key); ok {
			if out == nil {
				out = map[fairKey]*gate{}
			}
			out[k] = l.gate(key, r)
		}
	}
	return out
}

// wanted is how many slots of the leading limit can be used soon, and how far away the first of them is.
func (l *line) wanted(now time.Time, ahead time.Duration, keys []fairKey, narrow map[fairKey]*gate, modeGate *gate, free int) (n int, offset time.Duration) {
	horizon := now.Add(ahead)
	first := horizon
	seen := map[*gate]bool{}
	for _, k := range keys {
		g := narrow[k]
		if g == nil {
			n, first = free, now
			break
		}
		if !seen[g] {
			seen[g] = true
			n += g.room(now, horizon)
			first = earlier(first, g.next)
		}
	}
	if modeGate != nil {
		n = min(n, modeGate.room(now, horizon))
		first = later(first, modeGate.next)
	}
	return min(n, free), max(0, first.Sub(now))
}

// assign gives slots of the leading limit to lanes, and has the narrower limits agree.
func (l *line) assign(ctx context.Context, now time.Time, slots []slot, main *pool, narrow map[fairKey]*gate, modeGate *gate) []pick {
	var picks []pick
	for i, s := range slots {
		latest := s.at.Add(maxLate)
		if modeGate != nil && modeGate.next.After(latest) {
			main.give(slots[i:])
			break
		}
		k, ok := l.fair.next(func(k fairKey) bool { return narrow[k] == nil || !narrow[k].next.After(latest) })
		if !ok {
			main.give(slots[i:])
			break
		}
		for _, g := range []*gate{narrow[k], modeGate} {
			if g != nil { // what it will be if nobody else is quicker
				g.next = later(g.next, s.at).Add(g.interval())
			}
		}
		picks = append(picks, pick{k, s, true})
	}
	asked := map[*gate]bool{} // one gate may serve several classes
	for k, g := range narrow {
		if asked[g] {
			continue
		}
		asked[g] = true
		key := ApplicationKey(l.w.demand.name(k.application), l.mode)
		picks = l.agree(ctx, key, g, picks, main, func(p pick) bool { return narrow[p.key] == g })
	}
	if modeGate != nil {
		picks = l.agree(ctx, ModeKey(l.mode), modeGate, picks, main, func(pick) bool { return true })
	}
	return picks
}

// agree asks a narrower limit for slots at the instants of those picks that it concerns, and drops what it refuses. Picks
// that it has agreed to are marked by the combined slot.
func (l *line) agree(ctx context.Context, key string, g *gate, picks []pick, main *pool, concerns func(pick) bool) []pick {
	if g == nil {
		return picks
	}
	now := time.Now()
	r := Reservation{Key: key, Interval: g.interval(), Burst: g.burst, Tolerance: maxLate, Lead: l.pace.reserveAhead()}
	var asked []int
	for i, p := range picks {
		if concerns(p) {
			asked = append(asked, i)
			r.Offsets = append(r.Offsets, max(0, p.slot.at.Sub(now)))
			r.Instants = append(r.Instants, l.w.clock.remote(p.slot.at))
		}
	}
	if len(asked) == 0 {
		return picks
	}
	got, err := l.w.reserve(ctx, &l.pace, r)
	if err != nil {
		l.w.failed("reserve", err, zap.String("limit", key))
		got.next = now.Add(200 * time.Millisecond)
	}
	g.next = got.next
	refused := map[int]bool{}
	for _, i := range asked {
		refused[i] = true
	}
	for at, s := range got.slots {
		i := asked[at]
		picks[i].slot = picks[i].slot.both(s)
		refused[i] = picks[i].slot.at.After(picks[i].slot.until)
	}
	kept := picks[:0:0]
	for i, p := range picks {
		if refused[i] {
			l.unused([]pick{p}, main)
			continue
		}
		kept = append(kept, p)
	}
	return kept
}

// chooseNarrow deals out turns where only some applications are limited, each by a pool of its own.
func (l *line) chooseNarrow(ctx context.Context, now time.Time, keys []fairKey, narrow map[fairKey]*gate, free int) (picks []pick, again time.Time) {
	own, others := l.w.demand.all(), l.w.demands.fresh(now)
	lead := l.pace.lead()
	pools := map[fairKey]*pool{}
	draws := 0
	for _, k := range keys {
		g := narrow[k]
		if g == nil {
			continue
		}
		key := ApplicationKey(l.w.demand.name(k.application), l.mode)
		p := l.pool(key, g.rate)
		pools[k] = p
		app := k.application
		p.share, _ = shares(own, others, l.mode, func(x Lane) bool { return x.Mode == l.mode && x.Application == app })
		l.late(key, p.expire(now))
		d, next := p.plan(now, min(free, l.w.demand.depth(l.mode, []fairKey{k})), l.pace.reserveAhead())
		if d.n > 0 && draws < narrowDraws {
			draws++
			l.draw(ctx, key, p, d)
			next = now
		}
		again = sooner(sooner(again, next), p.nextDue(lead))
	}
	now = time.Now()
	weights := map[fairKey]float64{}
	for _, k := range keys {
		weights[k] = 1
	}
	l.fair.set(weights)
	for len(picks) < free {
		k, ok := l.fair.next(func(k fairKey) bool { return narrow[k] == nil || pools[k].due(now, lead) > 0 })
		if !ok {
			break
		}
		p := pick{key: k}
		if narrow[k] != nil {
			p.slot, p.limited = pools[k].take(1)[0], true
		}
		picks = append(picks, p)
	}
	return picks, again
}

// draw reserves slots of a leading limit.
func (l *line) draw(ctx context.Context, key string, p *pool, d draw) {
	r := Reservation{
		Key: key, Interval: p.interval(), Burst: p.burst, Tolerance: d.tolerance, OnlyIfWithin: d.onlyIdle,
		Offsets: slices.Repeat([]time.Duration{d.offset}, d.n), Lead: d.lead,
	}
	got, err := l.w.reserve(ctx, &l.pace, r)
	now := time.Now()
	if err != nil {
		p.quiet = now.Add(200 * time.Millisecond)
		l.w.failed("reserve", err, zap.String("limit", key))
		return
	}
	slots := make([]slot, 0, len(got.slots))
	for _, s := range got.slots {
		slots = append(slots, s)
	}
	p.add(now, slots, got.next, got.far)
}

func (l *line) late(key string, n int) {
	if n > 0 {
		l.w.metrics.lateSlots.WithLabelValues(limitKind(key)).Add(float64(n))
	}
}

func (l *line) pool(key string, r rate) *pool {
	p := l.pools[key]
	if p == nil {
		p = newPool(r)
		l.pools[key] = p
	}
	return p
}

func (l *line) gate(key string, r rate) *gate {
	g := l.gates[key]
	if g == nil {
		g = &gate{rate: r}
		l.gates[key] = g
	}
	return g
}

// only keeps the weights of the given lanes; one without a weight counts whole.
func only(weights map[fairKey]float64, keys []fairKey) map[fairKey]float64 {
	out := make(map[fairKey]float64, len(keys))
	for _, k := range keys {
		out[k] = 1
		if w := weights[k]; w > 0 {
			out[k] = w
		}
	}
	return out
}

func limitKind(key string) string {
	for _, kind := range []string{"mode", "account", "app"} {
		if len(key) > len(kind) && key[:len(kind)+1] == kind+":" {
			return kind
		}
	}
	return "other"
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// sooner is the earlier of two instants of which zero means never.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}
