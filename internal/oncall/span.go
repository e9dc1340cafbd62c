package oncall

import "time"

// Span is a stretch of time [Start, End).
type Span struct{ Start, End time.Time }

// Without returns the parts of s that are outside taken, in order.
func (s Span) Without(taken []Span) []Span {
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

// Overlaps reports whether s and [start, end) share some time.
func (s Span) Overlaps(start, end time.Time) bool { return s.Start.Before(end) && start.Before(s.End) }
