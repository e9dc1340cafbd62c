package scheduling

import (
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// Why a period stays unfilled, as shown to the team.
const (
	whyNoRotation = "nobody of the roster is in rotation"
	whyAllBusy    = "everybody in rotation is busy or away"
	whyNoOrder    = "nobody of the schedule's order is in rotation"
	whyNoTurn     = "nobody's turn: no member of the rotation is available"
)

// choose returns who gets the period by the schedule's algorithm (docs/reference/oncall-v0.md 5.3, 5.4); 0 and the
// reason if nobody can.
func (s *Schedule) choose(b *workingCalendar, p period, spans []oncall.Span) (users.ID, string) {
	if s.Algorithm == RoundRobin {
		return s.nextInOrder(b, p.sunday.In(s.Zone))
	}
	return s.longestRested(b, spans)
}

// longestRested is Oncall's default: of the free people in rotation, the one who never had the role, else the one whose
// last shift ended longest ago. Ties go to the roster's order.
func (s *Schedule) longestRested(b *workingCalendar, spans []oncall.Span) (users.ID, string) {
	var best users.ID
	var oldest time.Time
	anybody := false
	for _, m := range s.Roster {
		if !m.InRotation || !m.Active {
			continue
		}
		anybody = true
		if b.busy(m.User, s.TeamID, s.Algorithm == MultiTeam, spans) {
			continue
		}
		// No last end is before the zero time, so the first person without one is chosen.
		last := b.lastEnd(m.User, s.TeamID, s.Role, spans[0].Start)
		if best == 0 || last.Before(oldest) {
			best, oldest = m.User, last
		}
	}
	switch {
	case !anybody:
		return 0, whyNoRotation
	case best == 0:
		return 0, whyAllBusy
	}
	return best, ""
}

// nextInOrder is round-robin: the person after the last one, free or not.
func (s *Schedule) nextInOrder(b *workingCalendar, at time.Time) (users.ID, string) {
	var order []users.ID
	for _, u := range s.Order {
		if slices.ContainsFunc(s.Roster, func(m Member) bool { return m.User == u && m.InRotation && m.Active }) {
			order = append(order, u)
		}
	}
	if len(order) == 0 {
		return 0, whyNoOrder
	}
	last := slices.Index(order, s.Progress.LastUser)
	if last < 0 {
		var latest time.Time
		for i, u := range order {
			if start := b.lastStart(u, s.TeamID, s.Role, at); start.After(latest) {
				last, latest = i, start
			}
		}
	}
	return order[(last+1)%len(order)], ""
}

// fill plans one period of a weekly pattern. It adds the shifts to result, or the reason why nobody takes the period.
func (s *Schedule) fill(b *workingCalendar, p period, result *Result) {
	var open []oncall.Span
	for _, slot := range p.slots {
		open = append(open, slot.Without(b.held[s.heldKey()])...)
	}
	skips := s.Algorithm == Default && b.matched(s.TeamID, s.Role, p.slots)
	if len(p.slots) == 0 || skips || (len(open) == 0 && s.Algorithm != RoundRobin) {
		return
	}
	user, why := s.choose(b, p, open)
	if user == 0 {
		result.unfilled(s, p.sunday.In(s.Zone), oncall.Span{Start: p.slots[0].Start, End: p.end()}, why)
		return
	}
	if s.Algorithm == RoundRobin {
		// A period that was filled by hand counts as a turn, so that a swap does not change the turns of others.
		s.Progress.LastUser = user
	}
	s.assign(b, result, user, open)
}

func (p period) end() time.Time {
	var end time.Time
	for _, s := range p.slots {
		end = clock.Later(end, s.End)
	}
	return end
}

// assign plans shifts for a person, linked if there are several.
func (s *Schedule) assign(b *workingCalendar, result *Result, user users.ID, spans []oncall.Span) {
	link := ""
	if len(spans) > 1 {
		link = b.known.NewLink()
	}
	for _, span := range spans {
		shift := oncall.Shift{TeamID: s.TeamID, Role: s.Role, User: user, Start: span.Start, End: span.End,
			Schedule: s.ID, Link: link}
		result.Add = append(result.Add, shift)
		b.add(shift)
	}
	if len(spans) > 0 {
		result.Notices = append(result.Notices, oncall.ShiftAdded(result.Add[len(result.Add)-len(spans)]))
	}
}

func heldSpans(shifts []oncall.Shift) []oncall.Span {
	var out []oncall.Span
	for _, s := range shifts {
		out = append(out, oncall.Span{Start: s.Start, End: s.End})
	}
	return out
}

func (p *Result) unfilled(s *Schedule, period time.Time, span oncall.Span, why string) {
	p.Unfilled = append(p.Unfilled, Unfilled{Schedule: s.ID, Role: s.Role, Period: period, Start: span.Start,
		End: span.End, Why: why})
}
