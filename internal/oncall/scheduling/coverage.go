package scheduling

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// Cover says when a team wants somebody to hold a role.
type Cover string

// The kinds of cover. A role without a rule has CoverSchedules.
const (
	CoverSchedules Cover = "schedules" // always; if every schedule of the role is limited to certain hours, in those
	CoverAlways    Cover = "always"
	CoverNever     Cover = "never"
	CoverHours     Cover = "hours" // in the windows of the rule
)

// CoverRule is a team's setting for a role.
type CoverRule struct {
	Role  string
	Cover Cover
	Hours []Window // with CoverHours
}

// Check returns an Invalid fault that names the wrong field.
func (w CoverRule) Check() error {
	switch {
	case !slices.Contains([]Cover{CoverSchedules, CoverAlways, CoverNever, CoverHours}, w.Cover):
		return fault.Invalidf("cover", "cover must be schedules, always, never or hours")
	case !oncall.OnDuty(w.Role):
		return fault.Invalidf("role", "the role %s is not an on-call role", w.Role)
	case w.Cover == CoverHours && len(w.Hours) == 0:
		return fault.Invalidf("hours", "hours must list at least one window")
	case w.Cover != CoverHours && len(w.Hours) > 0:
		return fault.Invalidf("hours", "hours are allowed only with cover=hours")
	case len(w.Hours) > maxWindows:
		return fault.Invalidf("hours", "hours may list at most %d windows", maxWindows)
	}
	for _, h := range w.Hours {
		if !timeOfDay(h.From) || h.From == 24*time.Hour || !timeOfDay(h.To) {
			return fault.Invalidf("hours", "a window must go from one time of day to another, in whole seconds")
		}
	}
	return nil
}

// GapKind is the reason why nobody is on call.
type GapKind string

// The kinds of gaps.
const (
	GapNobody GapKind = "nobody"
	// GapNotPopulated: a schedule that covers the time has not been populated to it yet.
	GapNotPopulated GapKind = "not-populated"
)

// Gap is a time that the team wants covered and in which nobody holds the role.
type Gap struct {
	Role string
	Kind GapKind
	oncall.Span
}

// Coverage finds the gaps of a team, for warnings, the command line, the API and the pages. It is a read-only value,
// safe for concurrent use.
type Coverage struct {
	Zone      *time.Location
	Schedules []Schedule // of the team; those with Threshold 0 do not count
	Rules     []CoverRule
	Holidays  map[oncall.Date]bool
	// Off are people who are switched off. Their shifts cover nothing, because pages skip them.
	Off map[users.ID]bool
}

// Roles returns the roles that the team wants covered: those of its schedules and those of its rules.
func (c Coverage) Roles() []string {
	var out []string
	add := func(role string) {
		if oncall.OnDuty(role) && c.rule(role).Cover != CoverNever && !slices.Contains(out, role) {
			out = append(out, role)
		}
	}
	for _, s := range c.Schedules {
		if s.Threshold > 0 {
			add(s.Role)
		}
	}
	for _, w := range c.Rules {
		if w.Cover != CoverSchedules {
			add(w.Role)
		}
	}
	return out
}

func (c Coverage) rule(role string) CoverRule {
	for _, w := range c.Rules {
		if strings.EqualFold(w.Role, role) {
			return w
		}
	}
	return CoverRule{Role: role, Cover: CoverSchedules}
}

func (c Coverage) ofRole(role string) []Schedule {
	var out []Schedule
	for _, s := range c.Schedules {
		if strings.EqualFold(s.Role, role) && s.Threshold > 0 {
			out = append(out, s)
		}
	}
	return out
}

// Wanted returns when in [from, to) somebody is to hold the role, in order and without overlap. A role without
// schedules and rules is wanted always, because the caller asked for it.
func (c Coverage) Wanted(role string, from, to time.Time) []oncall.Span {
	always := []oncall.Span{{Start: from, End: to}}
	switch wish := c.rule(role); wish.Cover {
	case CoverNever:
		return nil
	case CoverAlways:
		return always
	case CoverHours:
		l := Layer{Restrict: wish.Hours}
		return within(onClock(l.windows(oncall.LocalIn(from, c.Zone)-2*day, oncall.LocalIn(to, c.Zone)+2*day),
			c.Zone), from, to)
	case CoverSchedules:
	}
	var out []oncall.Span
	schedules := c.ofRole(role)
	for _, s := range schedules {
		if !s.limited() {
			return always
		}
		out = append(out, s.hours(c.Holidays, from, to)...)
	}
	if len(schedules) == 0 {
		return always
	}
	return joined(out)
}

// Gaps returns the times in [from, to) that the team wants covered for the roles and in which nobody holds them, by
// time. Time outside of the calendar's window is no gap.
func (c Coverage) Gaps(calendar *oncall.TeamCalendar, from, to time.Time, roles ...string) []Gap {
	var out []Gap
	if calendar == nil {
		return out
	}
	if len(c.Off) > 0 {
		calendar = calendar.Without(c.Off)
	}
	for _, role := range roles {
		wanted := c.Wanted(role, from, to)
		open := calendar.Gaps(role, from, to)
		var ahead []oncall.Span
		for _, s := range c.ofRole(role) {
			ahead = append(ahead, s.notMade(c.Holidays, from, to)...)
		}
		ahead = joined(ahead)
		missing := common(open, wanted)
		for _, g := range minus(missing, ahead) {
			out = append(out, Gap{role, GapNobody, g})
		}
		for _, g := range common(missing, ahead) {
			out = append(out, Gap{role, GapNotPopulated, g})
		}
	}
	slices.SortStableFunc(out, func(a, b Gap) int { return a.Start.Compare(b.Start) })
	return out
}

// NotPopulated reports whether a schedule of the role covers the instant and has not been populated to it yet.
func (c Coverage) NotPopulated(role string, at time.Time) bool {
	return slices.ContainsFunc(c.ofRole(role), func(s Schedule) bool {
		return len(s.notMade(c.Holidays, at, at.Add(time.Second))) > 0
	})
}

// limited reports whether the schedule covers certain hours only.
func (s *Schedule) limited() bool {
	if s.Algorithm == ByRotation && s.Rotation != nil {
		return !slices.ContainsFunc(s.Rotation.Layers, func(l Layer) bool {
			return len(l.Restrict) == 0 && (l.Holidays == "" || l.Holidays == KeepHolidays)
		})
	}
	var total time.Duration
	for _, slot := range MergeSlots(s.Pattern) {
		total += slot.Duration
	}
	return total < time.Duration(s.step())*time.Second
}

// hours returns the spans of [from, to) that the schedule covers, in order and without overlap, even if nobody can take
// them.
func (s *Schedule) hours(holidays map[oncall.Date]bool, from, to time.Time) []oncall.Span {
	first, last := oncall.LocalIn(from, s.Zone)-2*day, oncall.LocalIn(to, s.Zone)+2*day
	var out []oncall.Span
	if s.Algorithm == ByRotation && s.Rotation != nil {
		for i := range s.Rotation.Layers {
			out = append(out, onClock(s.Rotation.Layers[i].cover(first, last, holidays), s.Zone)...)
		}
		return within(joined(out), from, to)
	}
	if len(s.Pattern) == 0 {
		return nil
	}
	for _, p := range s.periodsBetween(first, last) {
		out = append(out, p.slots...)
	}
	return within(joined(out), from, to)
}

// periodsBetween returns the periods with slots that touch [first, last), aligned with the periods that were made.
func (s *Schedule) periodsBetween(first, last oncall.Local) []period {
	reach := oncall.Local(0) // how far a period extends after its Sunday
	for _, slot := range s.Pattern {
		reach = max(reach, oncall.Local((slot.Start+slot.Duration)/time.Second))
	}
	at := first.Sunday()
	if !s.Progress.Last.IsZero() {
		known := closestSunday(s.Progress.Last, s.Zone)
		at -= ((at-known)%s.step() + s.step()) % s.step()
	}
	for at+reach > first {
		at -= s.step()
	}
	var out []period
	for ; at < last; at += s.step() {
		out = append(out, s.periodAt(at))
	}
	return out
}

// notMade returns the hours in [from, to) that the schedule has not been populated to.
func (s *Schedule) notMade(holidays map[oncall.Date]bool, from, to time.Time) []oncall.Span {
	if s.Progress.Last.IsZero() {
		return s.hours(holidays, from, to)
	}
	if s.Algorithm == ByRotation {
		return s.hours(holidays, clock.Later(from, s.Progress.Last), to)
	}
	next := closestSunday(s.Progress.Last, s.Zone) + s.step()
	var out []oncall.Span
	for _, p := range s.periodsBetween(oncall.LocalIn(from, s.Zone)-2*day, oncall.LocalIn(to, s.Zone)+2*day) {
		if p.sunday >= next {
			out = append(out, p.slots...)
		}
	}
	return within(joined(out), from, to)
}

// joined sorts stretches and merges those that overlap or touch.
func joined(spans []oncall.Span) []oncall.Span {
	slices.SortFunc(spans, func(a, b oncall.Span) int { return cmp.Or(a.Start.Compare(b.Start), a.End.Compare(b.End)) })
	var out []oncall.Span
	for _, s := range spans {
		if n := len(out); n > 0 && !s.Start.After(out[n-1].End) {
			out[n-1].End = clock.Later(out[n-1].End, s.End)
			continue
		}
		if s.Start.Before(s.End) {
			out = append(out, s)
		}
	}
	return out
}

// within cuts stretches to [from, to).
func within(spans []oncall.Span, from, to time.Time) []oncall.Span {
	if !from.Before(to) {
		return nil
	}
	return common(spans, []oncall.Span{{Start: from, End: to}})
}

// minus returns a without b, both in order and without overlaps.
func minus(a, b []oncall.Span) []oncall.Span {
	var out []oncall.Span
	j := 0
	for _, s := range a {
		for ; j < len(b) && !b[j].End.After(s.Start); j++ {
		}
		for k := j; k < len(b) && b[k].Start.Before(s.End); k++ {
			if s.Start.Before(b[k].Start) {
				out = append(out, oncall.Span{Start: s.Start, End: b[k].Start})
			}
			s.Start = clock.Later(s.Start, b[k].End)
		}
		if s.Start.Before(s.End) {
			out = append(out, s)
		}
	}
	return out
}

// common returns the common parts of two lists in order and without overlaps.
func common(a, b []oncall.Span) []oncall.Span {
	var out []oncall.Span
	for i, j := 0, 0; i < len(a) && j < len(b); {
		if start, end := clock.Later(a[i].Start, b[j].Start), clock.Earlier(a[i].End, b[j].End); start.Before(end) {
			out = append(out, oncall.Span{Start: start, End: end})
		}
		if a[i].End.Before(b[j].End) {
			i++
		} else {
			j++
		}
	}
	return out
}
