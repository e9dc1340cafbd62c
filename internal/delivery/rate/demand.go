package rate

import (
	"sync"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/users"
)

// Demand is the known waiting work of this process: for each lane the buckets with messages that may be taken now. It
// is safe for concurrent use.
type Demand struct {
	mu    sync.Mutex
	modes map[users.Mode]map[Key]*laneWork
	names map[int64]string     // of applications
	added map[Lane]buckets.Set // by Add since the last Begin
}

type laneWork struct {
	ready  buckets.Set
	news   buckets.Set // ready buckets that were found after the last take searched them
	cursor int         // bucket at which the next take begins
	grow   int         // doubles with each take that was full
}

// NewDemand returns a Demand without work.
func NewDemand() *Demand {
	return &Demand{modes: map[users.Mode]map[Key]*laneWork{}, names: map[int64]string{}, added: map[Lane]buckets.Set{}}
}

// Begin notes that a search begins, whose result Update gets. Lanes that are added from now on may be missing in it.
func (d *Demand) Begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.added)
}

// Add adds lanes with new messages that may be taken now, and returns their modes.
func (d *Demand) Add(ws []Waiting) map[users.Mode]bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	fresh := d.ready(ws)
	for l, s := range fresh {
		s.Union(d.added[l])
		d.added[l] = s
	}
	return d.merge(fresh)
}

// Update replaces what is known of the buckets that were searched since Begin, and returns the modes that have work in
// them.
func (d *Demand) Update(searched buckets.Set, ws []Waiting) map[users.Mode]bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	fresh := d.ready(ws)
	for l, s := range d.added {
		s.Union(fresh[l])
		fresh[l] = s
	}
	for mode, lanes := range d.modes {
		for k, work := range lanes {
			for i := range work.ready {
				work.ready[i] &^= searched[i]
			}
			if _, again := fresh[Lane{mode, k.Class, k.Application}]; !again && work.ready.Empty() {
				delete(lanes, k)
			}
		}
	}
	return d.merge(fresh)
}

// ready returns the buckets of the lanes whose messages may be taken now. The caller holds the lock.
func (d *Demand) ready(ws []Waiting) map[Lane]buckets.Set {
	out := map[Lane]buckets.Set{}
	for _, w := range ws {
		d.names[w.Application] = w.ApplicationName
		if w.DueIn <= 0 {
			s := out[w.Lane]
			s.Add(w.Bucket)
			out[w.Lane] = s
		}
	}
	return out
}

// merge adds work to the lanes and returns their modes. The caller holds the lock.
func (d *Demand) merge(fresh map[Lane]buckets.Set) map[users.Mode]bool {
	busy := map[users.Mode]bool{}
	for l, s := range fresh {
		lanes := d.modes[l.Mode]
		if lanes == nil {
			lanes = map[Key]*laneWork{}
			d.modes[l.Mode] = lanes
		}
		work := lanes[Key{l.Class, l.Application}]
		if work == nil {
			work = &laneWork{}
			lanes[Key{l.Class, l.Application}] = work
		}
		work.ready.Union(s)
		work.news.Union(s)
		busy[l.Mode] = true
	}
	return busy
}

// Lanes returns the lanes of a mode that have work in the owned buckets.
func (d *Demand) Lanes(m users.Mode, owned buckets.Set) []Key {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []Key
	for k, work := range d.modes[m] {
		work.ready.Intersect(owned)
		if work.ready.Empty() {
			delete(d.modes[m], k)
			continue
		}
		out = append(out, k)
	}
	return out
}

// All returns every lane that has work.
func (d *Demand) All() []Lane {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []Lane
	for m, lanes := range d.modes {
		for k := range lanes {
			out = append(out, Lane{m, k.Class, k.Application})
		}
	}
	return out
}

func (d *Demand) name(application int64) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.names[application]
}

// depth estimates how many messages wait in the given lanes: one in each of their buckets. The estimate doubles with
// each take that was full.
func (d *Demand) depth(m users.Mode, keys []Key) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, k := range keys {
		if work := d.modes[m][k]; work != nil {
			n += work.ready.Len() * max(1, work.grow)
		}
	}
	return n
}

// Buckets returns the buckets in which to search for n messages of a lane: n of them, but at least four if so many have
// work. Each call continues after the last bucket of the previous one.
func (d *Demand) Buckets(l Lane, n int) []int {
	d.mu.Lock()
	defer d.mu.Unlock()
	work := d.modes[l.Mode][Key{l.Class, l.Application}]
	if work == nil {
		return nil
	}
	all := work.ready.List()
	if len(all) == 0 {
		return nil
	}
	n = min(len(all), max(4, n))
	start := 0
	for start < len(all) && all[start] < work.cursor {
		start++
	}
	out := make([]int, n)
	for i := range out {
		out[i] = all[(start+i)%len(all)]
		work.news.Remove(out[i])
	}
	work.cursor = out[n-1] + 1
	return out
}

// Took notes the result of a take of at most that many messages of a lane from the searched buckets; got is the bucket
// of each message. A bucket that gave fewer messages than asked for is empty, unless the take was full and may not have
// searched it.
func (d *Demand) Took(l Lane, most int, searched, got []int) {
	per := make(map[int]int, len(searched))
	for _, b := range got {
		per[b]++
	}
	each := PerBucket(most, len(searched))
	d.mu.Lock()
	defer d.mu.Unlock()
	k := Key{l.Class, l.Application}
	work := d.modes[l.Mode][k]
	if work == nil {
		return
	}
	if len(got) >= most {
		work.grow = min(64, max(1, work.grow)*2)
		return
	}
	work.grow = 1
	for _, b := range searched {
		if per[b] < each && !work.news.Has(b) {
			work.ready.Remove(b)
		}
	}
	if work.ready.Empty() {
		delete(d.modes[l.Mode], k)
	}
}

// PerBucket is how many of at most most messages a take may get from each of n buckets. It is about twice an even part,
// so that no bucket alone fills the take, and not every bucket must be searched.
func PerBucket(most, n int) int { return min(most, 1+2*most/max(1, n)) }
