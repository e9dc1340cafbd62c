package scheduling

import (
	"slices"
	"sort"
	"time"

	"github.com/iris-oncall/iris/internal/oncall"
)

// handOff returns the beginning of turn n of the layer on the wall clock, n from 0. No turn begins before an earlier
// one.
func (l *Layer) handOff(n int) oncall.Local {
	tod := l.Start - l.Start.Midnight()
	days := func(d int) oncall.Local { return oncall.Local(int64(d) * int64(l.Every) * day) }
	switch l.Unit {
	case Hours:
		return l.Start + oncall.Local(int64(n)*int64(l.Every)*hour)
	case Weeks:
		return l.Start + 7*days(n)
	case Months:
		return addMonths(l.Start, n*l.Every)
	}
	which := tod
	if k := len(l.HandOffs); k > 0 {
		n += l.firstHandOff()
		which = oncall.Local(l.HandOffs[n%k] / time.Second)
		n /= k
	}
	if l.Unit == BusinessDays {
		return addBusinessDays(l.Start.Date(), n*l.Every).Local() + which
	}
	return l.Start.Midnight() + days(n) + which
}

// firstHandOff is the index of the layer's start among the hand-offs of a day.
func (l *Layer) firstHandOff() int {
	tod := time.Duration(l.Start-l.Start.Midnight()) * time.Second
	return max(0, slices.Index(l.HandOffs, tod))
}

// addMonths adds months to a reading. A day that the month does not have becomes its last day.
func addMonths(l oncall.Local, months int) oncall.Local {
	y, m, d := l.Time().Date()
	last := time.Date(y, m+time.Month(months)+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return oncall.LocalDate(y, m+time.Month(months), min(d, last), int(l-l.Midnight()))
}

// addBusinessDays returns the n-th day from Monday to Friday after d, which must be such a day.
func addBusinessDays(d oncall.Date, n int) oncall.Date {
	monday := int(d.Local().Weekday()) - 1
	n += monday
	return d + oncall.Date(n/5*7+n%5-monday)
}

// turnAt returns the number of the turn that runs at a reading; -1 before the first.
func (l *Layer) turnAt(at oncall.Local) int {
	if at < l.Start {
		return -1
	}
	// A turn lasts at least an hour, or the shortest time between hand-offs of a day.
	most := int((at-l.Start)/hour) + 2
	if l.Unit != Hours {
		most = (int((at-l.Start)/day) + 2) * max(1, len(l.HandOffs))
	}
	return sort.Search(most, func(n int) bool { return l.handOff(n+1) > at })
}

// turnFrom returns the number of the first turn that begins on a day or later.
func (l *Layer) turnFrom(d oncall.Date) int {
	if n := l.turnAt(d.Local() - 1); n >= 0 {
		return n + 1
	}
	return 0
}

// sequence gives the person of each turn of a layer. It finds any turn directly, without counting from the start.
type sequence struct {
	layer    *Layer
	segments []segment
}

// segment is a run of turns among the same people.
type segment struct {
	first   int   // turn
	members []int // indexes in Layer.Members
	offset  int   // index in members of the person of the first turn
}

// newSequence computes the segments. When people join or leave, the turns continue with the person after the last one
// in the order of members.
func newSequence(l *Layer) *sequence {
	firsts := []int{0}
	for _, m := range l.Members {
		for _, d := range []*oncall.Date{m.Joins, m.Leaves} {
			if d != nil {
				firsts = append(firsts, l.turnFrom(*d))
			}
		}
	}
	slices.Sort(firsts)
	firsts = slices.Compact(firsts)
	q := &sequence{layer: l}
	last := -1 // index of the member who had the previous turn
	for i, first := range firsts {
		seg := segment{first: first, members: l.taking(l.handOff(first).Date())}
		if n := len(seg.members); n > 0 {
			seg.offset = sort.Search(n, func(j int) bool { return seg.members[j] > last }) % n
			if i+1 < len(firsts) {
				last = seg.members[(seg.offset+firsts[i+1]-1-first)%n]
			}
		}
		q.segments = append(q.segments, seg)
	}
	return q
}

// taking returns the indexes of the members who take turns that begin on a day.
func (l *Layer) taking(d oncall.Date) []int {
	var out []int
	for i, m := range l.Members {
		if (m.Joins == nil || *m.Joins <= d) && (m.Leaves == nil || d < *m.Leaves) {
			out = append(out, i)
		}
	}
	return out
}

// line returns the members for turn n: first the one whose turn it is, then possible stand-ins in order.
func (q *sequence) line(n int) []LayerMember {
	i := sort.Search(len(q.segments), func(i int) bool { return q.segments[i].first > n }) - 1
	seg := q.segments[i]
	out := make([]LayerMember, 0, len(seg.members))
	for j := range seg.members {
		out = append(out, q.layer.Members[seg.members[(seg.offset+n-seg.first+j)%len(seg.members)]])
	}
	return out
}

// cover returns the parts of [start, end) on the wall clock that the layer covers.
func (l *Layer) cover(start, end oncall.Local, holidays map[oncall.Date]bool) []localSpan {
	if l.End != nil {
		end = min(end, *l.End)
	}
	start = max(start, l.Start)
	if start >= end {
		return nil
	}
	out := []localSpan{{start, end}}
	if len(l.Restrict) > 0 {
		out = intersect(out, l.windows(start, end))
	}
	if l.Holidays == SkipHolidays || l.Holidays == OnlyHolidays {
		var off []localSpan
		for d := start.Date(); d <= end.Date(); d++ {
			if holidays[d] {
				off = append(off, localSpan{d.Local(), (d + 1).Local()})
			}
		}
		off = union(off)
		if l.Holidays == SkipHolidays {
			return subtract(out, off)
		}
		return intersect(out, off)
	}
	return out
}

// windows returns the layer's windows that may touch [start, end).
func (l *Layer) windows(start, end oncall.Local) []localSpan {
	var out []localSpan
	for d := start.Date() - 1; d <= end.Date(); d++ {
		for _, w := range l.Restrict {
			if len(w.Days) > 0 && !slices.Contains(w.Days, d.Local().Weekday()) {
				continue
			}
			from, to := d.Local()+oncall.Local(w.From/time.Second), d.Local()+oncall.Local(w.To/time.Second)
			if w.To <= w.From {
				to += day
			}
			out = append(out, localSpan{from, to})
		}
	}
	return union(out)
}
