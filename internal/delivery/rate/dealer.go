package rate

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/users"
)

// Dealer decides which lane of one mode may begin a call, and when. The leading limit of a start is the widest
// configured one: account, else mode, else application and mode; of an account that carries this mode only, the slower
// of account and mode. Its slots are reserved ahead of time into a pool. When a slot comes near, fairness chooses a
// lane among those whose narrower limits have room at that instant; lanes whose own limits give them less than their
// share go ahead. Then the narrower limits are asked for a slot at the same instant. So no limit waits for another, and
// a narrow limit uses no slot that a wider limit cannot use.
//
// One goroutine calls it, except that Own and the methods of Pace are safe for concurrent use.
type Dealer struct {
	Pace Pace

	shared *Shared
	mode   users.Mode
	fair   fairQueue
	pools  map[string]*pool
	gates  map[string]*gate
}

// NewDealer returns the Dealer of a mode.
func NewDealer(s *Shared, m users.Mode) *Dealer {
	return &Dealer{shared: s, mode: m, pools: map[string]*pool{}, gates: map[string]*gate{}}
}

// Account is a vendor's account through which messages are to leave.
type Account struct {
	Key   string
	Modes []users.Mode // that the account carries and that share its limit
}

// Turn is the right of a lane to take one message, with the slot in which its call may begin.
type Turn struct {
	Key     Key
	Slot    Slot // valid only if Limited
	Limited bool

	from *pool // that the slot came from, if it can be given back
}

// Limited reports whether any limit applies to messages of the lanes that leave through the account.
func (l *Dealer) Limited(keys []Key, a Account) bool {
	_, account := l.shared.limit(a.Key)
	_, mode := l.shared.limit(ModeKey(l.mode))
	return account || mode || len(l.applicationGates(keys)) > 0
}

// Unlimited deals n turns in fair order, without slots.
func (l *Dealer) Unlimited(keys []Key, n int) []Turn {
	weights := make(map[Key]float64, len(keys))
	for _, k := range keys {
		weights[k] = 1
	}
	l.fair.set(weights)
	turns := make([]Turn, 0, n)
	for range n {
		k, ok := l.fair.next(func(Key) bool { return true }, nil)
		if !ok {
			break
		}
		turns = append(turns, Turn{Key: k})
	}
	return turns
}

// Return takes back turns that no message used.
func (l *Dealer) Return(turns []Turn) {
	for _, t := range turns {
		l.fair.refund(t.Key)
		if t.from != nil {
			t.from.give([]Slot{t.Slot})
		}
	}
}

// Own adds the limit of an account to the turn of a message that leaves through another account than the turn was dealt
// for. If the mode or the application is limited too, the account must have a slot at the time of the turn's slot. It
// returns false if there is no slot soon.
func (l *Dealer) Own(ctx context.Context, a Account, t Turn) (Turn, bool) {
	limit, limited := l.shared.limit(a.Key)
	if !limited {
		return t, true
	}
	lead := l.Pace.reserveAhead()
	r := Reservation{Key: a.Key, Interval: limit.interval(), Burst: limit.Burst, Tolerance: bound(lead) - lead,
		Offsets: []time.Duration{lead}, Lead: lead}
	_, mode := l.shared.limit(ModeKey(l.mode))
	_, application := l.shared.limit(ApplicationKey(l.shared.Demand.name(t.Key.Application), l.mode))
	fixed := t.Limited && (mode || application)
	if fixed {
		r.Tolerance, r.Offsets = maxLate, []time.Duration{max(0, time.Until(t.Slot.At))}
		r.Instants = []time.Time{l.shared.clock.remote(t.Slot.At)}
	}
	got, err := l.shared.reserve(ctx, &l.Pace, r)
	slot, ok := got.slots[0]
	if fixed {
		slot = t.Slot.both(slot)
	}
	t.Slot, t.Limited = slot, true
	return t, err == nil && ok && !slot.At.After(slot.Until)
}

// applicationDraws bounds how many applications' limits are asked in one pass.
const applicationDraws = 8

// limited is a limit with the lanes that share it.
type limited struct {
	key     string
	limit   Limit
	sharing func(Lane) bool
}

// Choose deals up to free turns to lanes whose slots are near. When there are none, again is the time of the next call
// of Choose; zero = call it when something changes.
func (l *Dealer) Choose(ctx context.Context, now time.Time, keys []Key, a Account, free int) (turns []Turn, again time.Time) {
	accountLimit, accountLimited := l.shared.limit(a.Key)
	modeLimit, modeLimited := l.shared.limit(ModeKey(l.mode))
	appGates := l.applicationGates(keys)
	account := limited{a.Key, accountLimit, func(x Lane) bool { return slices.Contains(a.Modes, x.Mode) }}
	mode := limited{ModeKey(l.mode), modeLimit, func(x Lane) bool { return x.Mode == l.mode }}
	var leading, second limited
	switch {
	case accountLimited && modeLimited && len(a.Modes) == 1 && modeLimit.PerSecond <= accountLimit.PerSecond:
		leading, second = mode, account // nobody else needs the slots of the account that the mode leaves
	case accountLimited:
		leading = account
		if modeLimited {
			second = mode
		}
	case modeLimited:
		leading = mode
	case len(appGates) == 0:
		return l.Unlimited(keys, free), time.Time{}
	default:
		return l.chooseByApplication(ctx, now, keys, appGates, free)
	}
	key, main, sharing := leading.key, l.pool(leading.key, leading.limit), leading.sharing
	var secondGate *gate
	if second.key != "" {
		secondGate = l.gate(second.key, second.limit)
	}
	free = min(free, l.shared.Demand.depth(l.mode, keys))
	own, others := l.shared.Demand.All(), l.shared.Peers.fresh(now)
	share, weights := shares(own, others, l.mode, sharing)
	l.fair.set(only(weights, keys))
	main.share = share
	l.expire(key, main, now)
	lead := l.Pace.lead()

	ahead := l.Pace.reserveAhead()
	wanted, offset := l.wanted(now, bound(max(ahead, main.far)), keys, appGates, secondGate, free)
	d, again := main.plan(now, wanted, ahead)
	if d.n > 0 {
		d.offset = max(d.offset, offset)
		if g := l.alone(own, others, sharing); g != nil {
			d.spaced(now, g.interval(), main)
		}
		l.draw(ctx, key, main, d)
		now = time.Now()
		again = now
	}
	slots := main.take(min(main.due(now, lead), free))
	if len(slots) > 0 {
		small := l.small(leading, own, others)
		if secondGate != nil {
			also := l.small(second, own, others)
			maps.DeleteFunc(small, func(k Key, _ bool) bool { return !also[k] })
		}
		turns = l.assign(ctx, now, slots, main, appGates, secondGate, func(k Key) (time.Time, bool) {
			if !small[k] {
				return time.Time{}, false
			}
			return appGates[k].next, true
		})
	}
	if len(turns) == 0 && d.n == 0 {
		again = clock.Sooner(again, main.nextDue(lead))
		if next := main.nextDue(lead); !next.IsZero() && !next.After(now) {
			again = now.Add(minPause) // slots are due, but no lane may use them
		}
	}
	return turns, again
}

// applicationGates returns the limits of application and mode of the lanes that have one.
func (l *Dealer) applicationGates(keys []Key) map[Key]*gate {
	var out map[Key]*gate
	for _, k := range keys {
		key := ApplicationKey(l.shared.Demand.name(k.Application), l.mode)
		if r, ok := l.shared.limit(key); ok {
			if out == nil {
				out = map[Key]*gate{}
			}
			out[k] = l.gate(key, r)
		}
	}
	return out
}

// alone returns the limit of the application that alone has work in the lanes that share a limit, here and in other
// processes; nil = others have too, or the application has no limit.
func (l *Dealer) alone(own []Lane, others []map[Lane]bool, sharing func(Lane) bool) *gate {
	var key string
	for _, x := range everybodys(own, others) {
		if !sharing(x) {
			continue
		}
		k := ApplicationKey(l.shared.Demand.name(x.Application), l.mode)
		if x.Mode != l.mode || key != "" && k != key {
			return nil
		}
		key = k
	}
	limit, ok := l.shared.limit(key)
	if !ok {
		return nil
	}
	return l.gate(key, limit)
}

// small returns the lanes of this mode whose own limits give them less than their share of a wider limit, here and in
// other processes together. Each process alone cannot see that from the turns that it deals.
func (l *Dealer) small(wide limited, own []Lane, others []map[Lane]bool) map[Key]bool {
	type part struct {
		lane  Lane
		limit float64
	}
	var parts [ClassCount][]part
	var count [ClassCount]int
	seen := map[Lane]bool{}
	for _, x := range everybodys(own, others) {
		if seen[x] || !wide.sharing(x) {
			continue
		}
		seen[x] = true
		p := part{x, math.Inf(1)}
		if limit, ok := l.shared.limit(ApplicationKey(l.shared.Demand.name(x.Application), x.Mode)); ok {
			p.limit = limit.PerSecond
		}
		parts[x.Class] = append(parts[x.Class], p)
		count[x.Class]++
	}
	out := map[Key]bool{}
	for c, whole := range classParts(count) {
		rest := whole * wide.limit.PerSecond
		slices.SortFunc(parts[c], func(a, b part) int { return cmp.Compare(a.limit, b.limit) })
		for i, p := range parts[c] {
			if p.limit > rest/float64(len(parts[c])-i) {
				break
			}
			rest -= p.limit
			if p.lane.Mode == l.mode {
				out[Key{p.lane.Class, p.lane.Application}] = true
			}
		}
	}
	return out
}

// everybodys returns the lanes with work here and in other processes; a lane may come several times.
func everybodys(own []Lane, others []map[Lane]bool) []Lane {
	all := slices.Clone(own)
	for _, o := range others {
		all = slices.AppendSeq(all, maps.Keys(o))
	}
	return all
}

// wanted is how many slots of the leading limit can be used soon, and how far away the first of them is.
func (l *Dealer) wanted(now time.Time, ahead time.Duration, keys []Key, appGates map[Key]*gate, second *gate, free int) (n int, offset time.Duration) {
	horizon := now.Add(ahead)
	first := horizon
	seen := map[*gate]bool{}
	for _, k := range keys {
		g := appGates[k]
		if g == nil {
			n, first = free, now
			break
		}
		if !seen[g] {
			seen[g] = true
			n += g.room(now, horizon)
			first = clock.Earlier(first, g.next)
		}
	}
	if second != nil {
		n = min(n, second.room(now, horizon))
		first = clock.Later(first, second.next)
	}
	return min(n, free), max(0, first.Sub(now))
}

// assign gives slots of the leading limit to lanes, and reserves the same instants of the narrower limits.
func (l *Dealer) assign(ctx context.Context, now time.Time, slots []Slot, main *pool, appGates map[Key]*gate, second *gate, ahead func(Key) (time.Time, bool)) []Turn {
	var turns []Turn
	for i, s := range slots {
		latest := s.At.Add(s.yields())
		if second != nil && second.next.After(latest) {
			main.give(slots[i:])
			break
		}
		k, ok := l.fair.next(func(k Key) bool { return appGates[k] == nil || !appGates[k].next.After(latest) }, ahead)
		if !ok {
			main.give(slots[i:])
			break
		}
		appGates[k].expect(s)
		second.expect(s)
		turns = append(turns, Turn{k, s, true, main})
	}
	turns, refused := l.agree(ctx, second, turns, func(Turn) bool { return true })
	main.give(slotsOf(refused))
	// The limits of applications are asked last: a slot of theirs is never lost to another limit. A slot that one of
	// them refuses, because another process was faster, goes to a lane with another limit, and if that refuses too, to
	// a lane without one.
	turns, refused = l.agreeEach(ctx, appGates, turns)
	for _, ask := range []bool{true, false} {
		var dealt []Turn
		for _, p := range refused {
			latest := p.Slot.At.Add(p.Slot.yields())
			k, ok := l.fair.next(func(k Key) bool { return appGates[k] == nil || ask && !appGates[k].next.After(latest) },
				ahead)
			if !ok {
				main.give([]Slot{p.Slot})
				continue
			}
			appGates[k].expect(p.Slot)
			p.Key = k
			dealt = append(dealt, p)
		}
		dealt, refused = l.agreeEach(ctx, appGates, dealt)
		turns = append(turns, dealt...)
	}
	return turns
}

// agreeEach is agree with the limit of each lane.
func (l *Dealer) agreeEach(ctx context.Context, appGates map[Key]*gate, turns []Turn) (kept, refused []Turn) {
	asked := map[*gate]bool{} // one gate may serve several classes
	for _, g := range appGates {
		if asked[g] {
			continue
		}
		asked[g] = true
		var left []Turn
		turns, left = l.agree(ctx, g, turns, func(p Turn) bool { return appGates[p.Key] == g })
		refused = append(refused, left...)
	}
	return turns, refused
}

func slotsOf(ts []Turn) []Slot {
	out := make([]Slot, len(ts))
	for i, t := range ts {
		out[i] = t.Slot
	}
	return out
}

// agree reserves slots of a narrower limit at the instants of the turns that it concerns. The turns that the limit
// refuses are returned apart, and their lanes are not charged; the others get the combined slot. Without a limit, all
// are kept.
func (l *Dealer) agree(ctx context.Context, g *gate, turns []Turn, concerns func(Turn) bool) (kept, refused []Turn) {
	if g == nil {
		return turns, nil
	}
	now := time.Now()
	r := Reservation{Key: g.key, Interval: g.interval(), Burst: g.Burst, Tolerance: maxLate,
		Lead: l.Pace.reserveAhead()}
	var asked []int
	for i, p := range turns {
		if concerns(p) {
			asked = append(asked, i)
			r.Tolerance = min(r.Tolerance, p.Slot.yields())
			r.Offsets = append(r.Offsets, max(0, p.Slot.At.Sub(now)))
			r.Instants = append(r.Instants, l.shared.clock.remote(p.Slot.At))
		}
	}
	if len(asked) == 0 {
		return turns, nil
	}
	got, err := l.shared.reserve(ctx, &l.Pace, r)
	if err != nil {
		l.shared.observer.ReserveFailed(g.key, err)
		got.next = now.Add(200 * time.Millisecond)
	}
	g.next = got.next
	missed := map[int]bool{}
	for _, i := range asked {
		missed[i] = true
	}
	for at, s := range got.slots {
		i := asked[at]
		if both := turns[i].Slot.both(s); !both.At.After(both.Until) {
			turns[i].Slot = both
			delete(missed, i)
		}
	}
	for i, p := range turns {
		if missed[i] {
			l.fair.refund(p.Key)
			refused = append(refused, p)
			continue
		}
		kept = append(kept, p)
	}
	return kept, refused
}

// chooseByApplication deals turns when only some applications are limited. Each of those has a pool of its own.
func (l *Dealer) chooseByApplication(ctx context.Context, now time.Time, keys []Key, appGates map[Key]*gate, free int) (turns []Turn, again time.Time) {
	own, others := l.shared.Demand.All(), l.shared.Peers.fresh(now)
	lead := l.Pace.lead()
	pools := map[Key]*pool{}
	draws := 0
	for _, k := range keys {
		g := appGates[k]
		if g == nil {
			continue
		}
		key := ApplicationKey(l.shared.Demand.name(k.Application), l.mode)
		p := l.pool(key, g.Limit)
		pools[k] = p
		app := k.Application
		p.share, _ = shares(own, others, l.mode, func(x Lane) bool { return x.Mode == l.mode && x.Application == app })
		l.expire(key, p, now)
		d, next := p.plan(now, min(free, l.shared.Demand.depth(l.mode, []Key{k})), l.Pace.reserveAhead())
		if d.n > 0 && draws < applicationDraws {
			draws++
			l.draw(ctx, key, p, d)
			next = now
		}
		again = clock.Sooner(clock.Sooner(again, next), p.nextDue(lead))
	}
	now = time.Now()
	weights := map[Key]float64{}
	for _, k := range keys {
		weights[k] = 1
	}
	l.fair.set(weights)
	for len(turns) < free {
		k, ok := l.fair.next(func(k Key) bool { return appGates[k] == nil || pools[k].due(now, lead) > 0 }, nil)
		if !ok {
			break
		}
		p := Turn{Key: k}
		if appGates[k] != nil {
			p.Slot, p.Limited = pools[k].take(1)[0], true
		}
		turns = append(turns, p)
	}
	return turns, again
}

// draw reserves slots of a leading limit.
func (l *Dealer) draw(ctx context.Context, key string, p *pool, d draw) {
	r := Reservation{
		Key: key, Interval: p.interval(), Burst: p.Burst, Tolerance: d.tolerance, OnlyIfWithin: d.onlyIdle,
		Lead: d.lead,
	}
	for i := range d.n {
		r.Offsets = append(r.Offsets, d.offset+time.Duration(i)*d.spacing)
	}
	got, err := l.shared.reserve(ctx, &l.Pace, r)
	now := time.Now()
	if err != nil {
		p.quiet = now.Add(200 * time.Millisecond)
		l.shared.observer.ReserveFailed(key, err)
		return
	}
	slots := make([]Slot, 0, len(got.slots))
	for _, s := range got.slots {
		slots = append(slots, s)
	}
	p.add(now, slots, got.next, got.far)
}

// expire gives up slots of a pool that cannot be used any more.
func (l *Dealer) expire(key string, p *pool, now time.Time) {
	if n := p.expire(now); n > 0 {
		l.shared.observer.SlotsExpired(keyKind(key), n)
	}
}

func (l *Dealer) pool(key string, r Limit) *pool {
	p := l.pools[key]
	if p == nil {
		p = newPool(r)
		l.pools[key] = p
	}
	return p
}

func (l *Dealer) gate(key string, r Limit) *gate {
	g := l.gates[key]
	if g == nil {
		g = &gate{Limit: r, key: key}
		l.gates[key] = g
	}
	return g
}

// only keeps the weights of the given lanes; one without a weight counts whole.
func only(weights map[Key]float64, keys []Key) map[Key]float64 {
	out := make(map[Key]float64, len(keys))
	for _, k := range keys {
		out[k] = 1
		if w := weights[k]; w > 0 {
			out[k] = w
		}
	}
	return out
}
