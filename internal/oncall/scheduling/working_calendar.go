package scheduling

import (
	"cmp"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// workingCalendar is a calendar while it is populated: later plans see the shifts of earlier plans.
type workingCalendar struct {
	known  Calendars
	shifts map[users.ID][]oncall.Shift
	absent map[users.ID][]oncall.Absence
	exact  map[exactKey]int
	// held are the spans that each schedule has to work around.
	held map[heldKey][]oncall.Span
}

// heldKey identifies what a schedule fills. A shift of the schedule that got another role by hand no longer fills it.
type heldKey struct {
	schedule oncall.ScheduleID
	team     int64
	role     string
}

func (s *Schedule) heldKey() heldKey { return heldKey{s.ID, s.TeamID, s.Role} }

// fills reports whether x is a shift of the schedule, or a part or an override of one.
func (s *Schedule) fills(x oncall.Shift) bool {
	return s.ID != 0 && heldKey{x.Origin(), x.TeamID, x.Role} == s.heldKey()
}

type exactKey struct {
	team       int64
	role       string
	start, end int64
}

func exactly(s oncall.Shift) exactKey {
	return exactKey{s.TeamID, s.Role, s.Start.Unix(), s.End.Unix()}
}

func newWorkingCalendar(known Calendars) *workingCalendar {
	b := &workingCalendar{
		known: known, shifts: map[users.ID][]oncall.Shift{}, absent: map[users.ID][]oncall.Absence{},
		exact: map[exactKey]int{}, held: map[heldKey][]oncall.Span{},
	}
	b.add(known.Shifts...)
	for _, a := range known.Absences {
		b.absent[a.User] = append(b.absent[a.User], a)
	}
	return b
}

func (b *workingCalendar) add(shifts ...oncall.Shift) {
	for _, s := range shifts {
		b.shifts[s.User] = append(b.shifts[s.User], s)
		b.exact[exactly(s)]++
		if id := s.Origin(); s.BlocksSchedule(id) {
			key := heldKey{id, s.TeamID, s.Role}
			b.held[key] = append(b.held[key], oncall.Span{Start: s.Start, End: s.End})
		}
	}
}

// remove removes stored shifts that no schedule has to work around.
func (b *workingCalendar) remove(shifts []oncall.Shift) {
	gone := map[users.ID]map[oncall.ShiftID]bool{}
	for _, s := range shifts {
		if gone[s.User] == nil {
			gone[s.User] = map[oncall.ShiftID]bool{}
		}
		gone[s.User][s.ID] = true
		b.exact[exactly(s)]--
	}
	for user, ids := range gone {
		b.shifts[user] = slices.DeleteFunc(slices.Clone(b.shifts[user]), func(s oncall.Shift) bool { return ids[s.ID] })
	}
}

// away reports whether a person is on vacation or unavailable, for any team, during any of spans.
func (b *workingCalendar) away(user users.ID, spans []oncall.Span) bool {
	all := envelope(spans)
	for _, a := range b.absent[user] {
		if all.Overlaps(a.Start, a.End) && overlapsAny(a.Start, a.End, spans) {
			return true
		}
	}
	return slices.ContainsFunc(b.shifts[user], func(s oncall.Shift) bool {
		return !oncall.OnDuty(s.Role) && all.Overlaps(s.Start, s.End) && overlapsAny(s.Start, s.End, spans)
	})
}

// envelope returns the span from the earliest start to the latest end. It is for a quick check, because most shifts are
// outside of it.
func envelope(spans []oncall.Span) oncall.Span {
	var all oncall.Span
	for i, s := range spans {
		if i == 0 {
			all = s
			continue
		}
		all = oncall.Span{Start: clock.Earlier(all.Start, s.Start), End: clock.Later(all.End, s.End)}
	}
	return all
}

// absences returns when a person is on vacation or unavailable.
func (b *workingCalendar) absences(user users.ID) []oncall.Span {
	var out []oncall.Span
	for _, a := range b.absent[user] {
		out = append(out, oncall.Span{Start: a.Start, End: a.End})
	}
	for _, s := range b.shifts[user] {
		if !oncall.OnDuty(s.Role) {
			out = append(out, oncall.Span{Start: s.Start, End: s.End})
		}
	}
	return out
}

// engagements returns when a person is away or has a shift of the team or of one that the team subscribes to.
func (b *workingCalendar) engagements(user users.ID, team int64) []oncall.Span {
	out := b.absences(user)
	for _, s := range b.shifts[user] {
		if s.TeamID == team || slices.Contains(b.known.Subscribed, oncall.TeamRole{TeamID: s.TeamID, Role: s.Role}) {
			out = append(out, oncall.Span{Start: s.Start, End: s.End})
		}
	}
	return out
}

// busy reports whether a person is away, or has a shift of the team or of one that it subscribes to, during any of
// spans. With everywhere, shifts of any team count.
func (b *workingCalendar) busy(user users.ID, team int64, everywhere bool, spans []oncall.Span) bool {
	if b.away(user, spans) {
		return true
	}
	all := envelope(spans)
	return slices.ContainsFunc(b.shifts[user], func(s oncall.Shift) bool {
		if !all.Overlaps(s.Start, s.End) {
			return false
		}
		counts := everywhere || s.TeamID == team || slices.Contains(b.known.Subscribed,
			oncall.TeamRole{TeamID: s.TeamID, Role: s.Role})
		return counts && overlapsAny(s.Start, s.End, spans)
	})
}

func overlapsAny(start, end time.Time, spans []oncall.Span) bool {
	return slices.ContainsFunc(spans, func(s oncall.Span) bool { return s.Overlaps(start, end) })
}

// lastEnd returns the end of the person's latest shift of the team and role that is over at t; zero = there is none.
func (b *workingCalendar) lastEnd(user users.ID, team int64, role string, t time.Time) time.Time {
	var last time.Time
	for _, s := range b.shifts[user] {
		if s.TeamID == team && s.Role == role && !s.End.After(t) {
			last = clock.Later(last, s.End)
		}
	}
	return last
}

// lastStart returns the start of the person's latest shift of the team and role that began at or before t; zero = there
// is none.
func (b *workingCalendar) lastStart(user users.ID, team int64, role string, t time.Time) time.Time {
	var last time.Time
	for _, s := range b.shifts[user] {
		if s.TeamID == team && s.Role == role && !s.Start.After(t) {
			last = clock.Later(last, s.Start)
		}
	}
	return last
}

// matched reports whether the team and role have a shift for exactly each of spans already.
func (b *workingCalendar) matched(team int64, role string, spans []oncall.Span) bool {
	for _, s := range spans {
		if b.exact[exactly(oncall.Shift{TeamID: team, Role: role, Start: s.Start, End: s.End})] == 0 {
			return false
		}
	}
	return true
}

// of returns the shifts that pick chooses, by start.
func (b *workingCalendar) of(pick func(oncall.Shift) bool) []oncall.Shift {
	var out []oncall.Shift
	for _, list := range b.shifts {
		for _, s := range list {
			if pick(s) {
				out = append(out, s)
			}
		}
	}
	slices.SortFunc(out, func(x, y oncall.Shift) int {
		if c := oncall.CompareShifts(x, y); c != 0 {
			return c
		}
		return cmp.Compare(x.User, y.User)
	})
	return out
}
