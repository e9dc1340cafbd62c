package scheduling

import (
	"cmp"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/oncall"
)

// MergeSlots sorts a pattern and merges slots that follow each other without a gap (docs/reference/oncall-v0.md 4).
func MergeSlots(pattern []Slot) []Slot {
	pattern = slices.Clone(pattern)
	slices.SortStableFunc(pattern, func(a, b Slot) int { return cmp.Compare(a.Start, b.Start) })
	var out []Slot
	for _, s := range pattern {
		if n := len(out); n > 0 && s.Start == out[n-1].Start+out[n-1].Duration {
			out[n-1].Duration += s.Duration
			continue
		}
		out = append(out, s)
	}
	return out
}

// SimplePattern reports whether a pattern, before merging, is one of Oncall's basic mode: one slot of 7 or 14 days, or
// 7 or 14 slots of 12 hours.
func SimplePattern(pattern []Slot) bool {
	const aWeek = week * time.Second
	switch len(pattern) {
	case 1:
		return pattern[0].Duration == aWeek || pattern[0].Duration == 2*aWeek
	case 7, 14:
		return !slices.ContainsFunc(pattern, func(s Slot) bool { return s.Duration != 12*time.Hour })
	}
	return false
}

// periodWeeks is the number of weeks after which a pattern repeats. One person has all slots of a period
// (docs/reference/oncall-v0.md 5.1).
func periodWeeks(pattern []Slot) int64 {
	if len(pattern) == 0 {
		return 1
	}
	first, last := pattern[0].Start, pattern[0].Start+pattern[0].Duration
	for _, s := range pattern {
		first, last = min(first, s.Start), max(last, s.Start+s.Duration)
	}
	const aWeek = week * time.Second
	return max(1, int64((last-first+aWeek-1)/aWeek))
}

// period is one repetition of a weekly pattern. It begins on a Sunday 00:00 on the team's clock.
type period struct {
	sunday oncall.Local
	slots  []oncall.Span // by start
}

// periodAt returns the period that begins on sunday. Both ends of a slot are computed on the wall clock.
func (s *Schedule) periodAt(sunday oncall.Local) period {
	walls := make([]localSpan, 0, len(s.Pattern))
	for _, slot := range s.Pattern {
		start := sunday + oncall.Local(slot.Start/time.Second)
		walls = append(walls, localSpan{start, start + oncall.Local(slot.Duration/time.Second)})
	}
	slices.SortFunc(walls, func(a, b localSpan) int {
		return cmp.Or(cmp.Compare(a.start, b.start),
			cmp.Compare(a.end, b.end))
	})
	empty := func(s oncall.Span) bool { return !s.Start.Before(s.End) }
	return period{sunday: sunday, slots: slices.DeleteFunc(onClock(walls, s.Zone), empty)}
}

// from drops the slots that begin before t.
func (p period) from(t time.Time) period {
	p.slots = slices.DeleteFunc(p.slots, func(s oncall.Span) bool { return s.Start.Before(t) })
	return p
}

// closestSunday returns the Sunday 00:00 nearest to t on the team's clock. So it also accepts an instant that was
// stored while the team was in another zone.
func closestSunday(t time.Time, zone *time.Location) oncall.Local {
	at := oncall.LocalIn(t, zone)
	sunday := at.Sunday()
	if at-sunday < week/2 {
		return sunday
	}
	return sunday + week
}

// step is the length of a period on the team's clock.
func (s *Schedule) step() oncall.Local { return oncall.Local(periodWeeks(s.Pattern) * week) }

// reach returns the reading from which periods are not populated yet. As in Oncall, it is on UTC's clock and compared
// with readings of the team's clock (docs/reference/oncall-v0.md 5.2).
func (s *Schedule) reach(now time.Time) oncall.Local {
	return oncall.Local(now.Unix() + int64(s.Threshold)*day)
}

// missing returns the periods that Fill has to make.
func (s *Schedule) missing(now time.Time) []period {
	sunday := oncall.LocalIn(now, s.Zone).Sunday()
	if !s.Progress.Last.IsZero() {
		sunday = closestSunday(s.Progress.Last, s.Zone) + s.step()
	}
	return s.periodsFrom(sunday, now)
}

func (s *Schedule) periodsFrom(sunday oncall.Local, now time.Time) []period {
	var out []period
	for ; sunday < s.reach(now); sunday += s.step() {
		out = append(out, s.periodAt(sunday))
	}
	return out
}
