package scheduling

import (
	"cmp"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/oncall"
)

// localSpan is a stretch on a wall clock.
type localSpan struct{ start, end oncall.Local }

// union sorts and merges stretches.
func union(walls []localSpan) []localSpan {
	slices.SortFunc(walls, func(a, b localSpan) int { return cmp.Compare(a.start, b.start) })
	var out []localSpan
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
func intersect(a, b []localSpan) []localSpan {
	var out []localSpan
	for i, j := 0, 0; i < len(a) && j < len(b); {
		if start, end := max(a[i].start, b[j].start), min(a[i].end, b[j].end); start < end {
			out = append(out, localSpan{start, end})
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
func subtract(a, b []localSpan) []localSpan {
	var out []localSpan
	for _, w := range a {
		for _, t := range b {
			if t.end <= w.start {
				continue
			}
			if t.start >= w.end {
				break
			}
			if w.start < t.start {
				out = append(out, localSpan{w.start, t.start})
			}
			w.start = t.end
		}
		if w.start < w.end {
			out = append(out, w)
		}
	}
	return out
}

// onClock converts stretches on a wall clock, by start, to stretches of time. If a change of the clocks reverses the
// order of two stretches, the earlier one comes first and the later one is shortened: only stretches that overlap on
// the wall clock overlap in time, and adjacent ones stay adjacent. A stretch that the clocks skip has no length.
func onClock(walls []localSpan, zone *time.Location) []oncall.Span {
	out := make([]oncall.Span, len(walls))
	byEnd := make([]int, len(walls))
	for i := range byEnd {
		byEnd[i] = i
	}
	slices.SortStableFunc(byEnd, func(a, b int) int { return cmp.Compare(walls[a].end, walls[b].end) })
	var latest time.Time // end of the stretches that are over by the wall clock
	over := 0
	for i, w := range walls {
		for over < len(byEnd) && walls[byEnd[over]].end <= w.start {
			latest = clock.Later(latest, out[byEnd[over]].End)
			over++
		}
		start := clock.Later(latest, w.start.In(zone))
		out[i] = oncall.Span{Start: start, End: clock.Later(start, w.end.In(zone))}
	}
	return out
}
