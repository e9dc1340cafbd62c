package oncall

import (
	"cmp"
	"slices"
	"time"
)

// without returns what is left of s when taken is cut out, in order.
func (s Span) without(taken []Span) []Span {
	left := []Span{s}
	for _, t := range taken {
		var next []Span
		for _, l := range left {
			if !t.Start.Before(l.End) || !l.Start.Before(t.End) {
				next = append(next, l)
				continue
			}
			if l.Start.Before(t.Start) {
				next = append(next, Span{l.Start, t.Start})
			}
			if t.End.Before(l.End) {
				next = append(next, Span{t.End, l.End})
			}
		}
		left = next
	}
	return left
}

// wall is a stretch of a wall clock.
type wall struct{ start, end Local }

// union sorts and merges stretches.
func union(walls []wall) []wall {
	slices.SortFunc(walls, func(a, b wall) int { return cmp.Compare(a.start, b.start) })
	var out []wall
	for _, w := range walls {
		if n := len(out); n > 0 && w.start <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, w.end)
			continue
		}
		if w.start < w.end {
			out = append(out, w)
		}
	}
	return out
}

// intersect returns the common parts of two sorted lists without overlaps.
func intersect(a, b []wall) []wall {
	var out []wall
	for i, j := 0, 0; i < len(a) && j < len(b); {
		if start, end := max(a[i].start, b[j].start), min(a[i].end, b[j].end); start < end {
			out = append(out, wall{start, end})
		}
		if a[i].end < b[j].end {
			i++
		} else {
			j++
		}
	}
	return out
}

// subtract returns a without b, both sorted and without overlaps.
func subtract(a, b []wall) []wall {
	var out []wall
	for _, w := range a {
		for _, t := range b {
			if t.end <= w.start {
				continue
			}
			if t.start >= w.end {
				break
			}
			if w.start < t.start {
				out = append(out, wall{w.start, t.start})
			}
			w.start = t.end
		}
		if w.start < w.end {
			out = append(out, w)
		}
	}
	return out
}

// onClock turns stretches of a wall clock, by start, into stretches of time. Where a change of the clocks turns the order of
// two round, the earlier one goes first and the later one gives way, so that only those overlap that overlap on the wall
// clock, and what was adjacent stays so. A stretch that the clocks skip is left without length.
func onClock(walls []wall, zone *time.Location) []Span {
	out := make([]Span, len(walls))
	byEnd := make([]int, len(walls))
	for i := range byEnd {
		byEnd[i] = i
	}
	slices.SortStableFunc(byEnd, func(a, b int) int { return cmp.Compare(walls[a].end, walls[b].end) })
	var latest time.Time // of what is over by the wall clock
	over := 0
	for i, w := range walls {
		for over < len(byEnd) && walls[byEnd[over]].end <= w.start {
			latest = later(latest, out[byEnd[over]].End)
			over++
		}
		start := later(latest, w.start.In(zone))
		out[i] = Span{start, later(start, w.end.In(zone))}
	}
	return out
}

// overlaps reports whether s and [start, end) share some time.
func (s Span) overlaps(start, end time.Time) bool { return s.Start.Before(end) && start.Before(s.End) }
