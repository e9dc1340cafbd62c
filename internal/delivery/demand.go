package delivery

import (
	"sync"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/users"
)

// demand is what is known of waiting work: for each lane the buckets in which it has messages that may be taken now.
// It is safe for concurrent use.
type demand struct {
	mu    sync.Mutex
	modes map[users.Mode]map[fairKey]*laneWork
	names map[int64]string // of applications
}

type laneWork struct {
	ready  buckets.Set
	news   buckets.Set // of those, found since the last take went to look there
	cursor int         // bucket at which the next take begins to look
	grow   int         // doubles with each take that was full
}

func newDemand() *demand {
	return &demand{modes: map[users.Mode]map[fairKey]*laneWork{}, names: map[int64]string{}}
}

// found takes in what was found in the buckets looked at, and returns the modes that have work.
func (d *demand) found(looked buckets.Set, ws []Waiting) map[users.Mode]bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	fresh := map[Lane]buckets.Set{}
	for _, w := range ws {
		d.names[w.Application] = w.ApplicationName
		if w.DueIn <= 0 {
			s := fresh[w.Lane]
			s.Add(w.Bucket)
			fresh[w.Lane] = s
		}
	}
	for mode, lanes := range d.modes {
		for k, work := range lanes {
			for i := range work.ready {
				work.ready[i] &^= looked[i]
			}
			if _, again := fresh[Lane{mode, k.class, k.application}]; !again && work.ready.Empty() {
				delete(lanes, k)
			}
		}
	}
	busy := map[users.Mode]bool{}
	for l, s := range fresh {
		lanes := d.modes[l.Mode]
		if lanes == nil {
			lanes = map[fairKey]*laneWork{}
			d.modes[l.Mode] = lanes
		}
		work := lanes[fairKey{l.Class, l.Application}]
		if work == nil {
			work = &laneWork{}
			lanes[fairKey{l.Class, l.Application}] = work
		}
		work.ready.Union(s)
		work.news.Union(s)
		busy[l.Mode] = true
	}
	return busy
}

// lanes returns the lanes of a mode that have work in the owned buckets.
func (d *demand) lanes(m users.Mode, owned buckets.Set) []fairKey {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []fairKey
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

// all returns every lane that has work.
func (d *demand) all() []Lane {
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []Lane
	for m, lanes := range d.modes {
		for k := range lanes {
			out = append(out, Lane{m, k.class, k.application})
		}
	}
	return out
}

func (d *demand) name(application int64) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.names[application]
}

// depth guesses how many messages wait in the given lanes: one in each of their buckets, and twice as many each time that
// all that was asked for was there.
func (d *demand) depth(m users.Mode, keys []fairKey) int {
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

// look returns where to look for n messages of a lane: a few buckets, others each time.
func (d *demand) look(l Lane, n int) []int {
	d.mu.Lock()
	defer d.mu.Unlock()
	work := d.modes[l.Mode][fairKey{l.Class, l.Application}]
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

// took takes in what a take brought: a bucket that gave less than it was asked for is empty, unless the take was full and
// may not have come to it.
func (d *demand) took(t Take, got []Claimed) {
	full := len(got) >= t.Max
	per := make(map[int]int, len(t.Buckets))
	for _, c := range got {
		per[c.Bucket]++
	}
	each := t.PerBucket()
	d.mu.Lock()
	defer d.mu.Unlock()
	k := fairKey{t.Lane.Class, t.Lane.Application}
	work := d.modes[t.Lane.Mode][k]
	if work == nil {
		return
	}
	if full {
		work.grow = min(64, max(1, work.grow)*2)
		return
	}
	work.grow = 1
	for _, b := range t.Buckets {
		if per[b] < each && !work.news.Has(b) {
			work.ready.Remove(b)
		}
	}
	if work.ready.Empty() {
		delete(d.modes[t.Lane.Mode], k)
	}
}

// PerBucket is how many messages a take may get from one bucket: twice an even part, so that neither one bucket alone
// fills it nor every bucket must be looked into.
func (t Take) PerBucket() int { return min(t.Max, 1+2*t.Max/max(1, len(t.Buckets))) }
