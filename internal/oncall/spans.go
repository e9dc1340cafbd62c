package oncall

import (
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
	slices.SortFunc(walls, func(a, b wall) int { return int(a.start - b.start) })
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

// onClock turns stretches of a wall clock, in order, into stretches of time. Where a change of the clocks turns the order
// round or leaves nothing, the earlier stretch goes first and the later one gives way: nothing overlaps, and what was
// adjacent stays so.
func onClock(walls []wall, zone *time.Location) []Span {
	out := make([]Span, len(walls))
	var latest time.Time
	for i, w := range walls {
		start, end := later(latest, w.start.In(zone)), w.end.In(zone)
		latest = later(start, end)
		out[i] = Span{start, latest}
	}
	return out
}
