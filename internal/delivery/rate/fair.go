package rate

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/messages"
)

// ClassCount is the number of messages.Class values.
const ClassCount = 3

// floors is the part of all starts that a waiting class gets, even if more urgent classes wait too.
var floors = [ClassCount]float64{messages.ClassRoutine: 0.1, messages.ClassOutOfBand: 0.1}

// Key is a lane within one mode.
type Key struct {
	Class       messages.Class
	Application int64
}

// fairQueue decides which lane of a mode is next. Classes are served in their order, except that each waiting class
// gets its floor. Within a class applications take turns by start-time fair queueing: the one served least is next, and
// an idle time gives no advantage. It holds lanes, not messages. It is not safe for concurrent use.
type fairQueue struct {
	classes [ClassCount]fairClass
}

type fairClass struct {
	lanes  []*fairLane // those that wait, ascending by application
	idle   map[int64]*fairLane
	now    float64 // virtual time: the tag of the last start
	credit float64 // earned from the floor
}

type fairLane struct {
	application int64
	tag         float64 // virtual time of its next start
	weight      float64
}

// set replaces the waiting lanes by the given ones, with their weights (1 = a whole share).
func (q *fairQueue) set(lanes map[Key]float64) {
	for c := range q.classes {
		q.classes[c].set(messages.Class(c), lanes)
	}
}

func (f *fairClass) set(class messages.Class, lanes map[Key]float64) {
	kept := f.lanes[:0]
	for _, l := range f.lanes {
		if w, ok := lanes[Key{class, l.application}]; ok {
			l.weight = w
			kept = append(kept, l)
			continue
		}
		if l.tag > f.now { // it got more than its share: remember that while it is idle
			if f.idle == nil {
				f.idle = map[int64]*fairLane{}
			}
			f.idle[l.application] = l
		}
	}
	f.lanes = kept
	for k, w := range lanes {
		if k.Class == class && !f.has(k.Application) {
			f.add(k.Application, w)
		}
	}
	for app, l := range f.idle {
		if l.tag <= f.now {
			delete(f.idle, app)
		}
	}
}

func (f *fairClass) find(app int64) (int, bool) {
	return slices.BinarySearchFunc(f.lanes, app,
		func(l *fairLane, a int64) int { return cmp.Compare(l.application, a) })
}

func (f *fairClass) has(app int64) bool { _, ok := f.find(app); return ok }

func (f *fairClass) add(app int64, weight float64) {
	l := f.idle[app]
	if l == nil {
		l = &fairLane{application: app}
	}
	delete(f.idle, app)
	l.tag, l.weight = max(l.tag, f.now), weight
	at, _ := f.find(app)
	f.lanes = slices.Insert(f.lanes, at, l)
}

// next returns the next eligible lane, and charges it for one start. ahead reports whether a lane goes ahead of those
// that take turns, because its own limit gives it less than its share, and when that limit has its next free slot; nil
// = none does.
func (q *fairQueue) next(eligible func(Key) bool, ahead func(Key) (free time.Time, ok bool)) (Key, bool) {
	var best [ClassCount]*fairLane
	chosen := -1
	for c := range q.classes {
		best[c] = q.classes[c].first(messages.Class(c), eligible, ahead)
		if best[c] == nil {
			q.classes[c].credit = 0 // only classes that wait earn their floor
			continue
		}
		if chosen < 0 || (q.classes[c].credit >= 1-floors[c] && q.classes[c].credit > q.classes[chosen].credit) {
			chosen = c
		}
	}
	if chosen < 0 {
		return Key{}, false
	}
	for c := range q.classes {
		if best[c] != nil {
			q.classes[c].credit = min(2, q.classes[c].credit+floors[c])
		}
		if c == chosen {
			q.classes[c].credit = max(0, q.classes[c].credit-1)
		}
	}
	f, l := &q.classes[chosen], best[chosen]
	f.now = l.tag
	l.tag += 1 / l.weight
	return Key{messages.Class(chosen), l.application}, true
}

// refund returns the charge of a turn that was not used.
func (q *fairQueue) refund(k Key) {
	f := &q.classes[k.Class]
	if i, ok := f.find(k.Application); ok {
		f.lanes[i].tag -= 1 / f.lanes[i].weight
		f.now = min(f.now, f.lanes[i].tag) // otherwise a lane that begins to wait would wait for unused turns
	}
}

// first returns the eligible lane that was served least; among equals the one with the lowest application. Lanes that
// go ahead do not take turns: the first of them is the one whose limit has been free for longest. A limit never gives
// back the time in which it was free, so another order would use the limits less.
func (f *fairClass) first(class messages.Class, eligible func(Key) bool, ahead func(Key) (free time.Time, ok bool)) *fairLane {
	least := math.Inf(1) // of the lanes that take turns
	for _, l := range f.lanes {
		if _, goes := goesAhead(class, l, ahead); !goes {
			least = min(least, l.tag)
		}
	}
	var best, soonest *fairLane
	var at time.Time
	for _, l := range f.lanes {
		free, goes := goesAhead(class, l, ahead)
		if goes && !math.IsInf(least, 1) {
			l.tag = least // so that it is neither behind nor ahead when it takes turns again
		}
		switch {
		case !eligible(Key{class, l.application}):
		case goes && (soonest == nil || free.Before(at)):
			soonest, at = l, free
		case !goes && (best == nil || l.tag < best.tag):
			best = l
		}
	}
	return cmp.Or(soonest, best)
}

func goesAhead(class messages.Class, l *fairLane, ahead func(Key) (free time.Time, ok bool)) (free time.Time, ok bool) {
	if ahead == nil {
		return time.Time{}, false
	}
	return ahead(Key{class, l.application})
}
