package oncall

import (
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/users"
)

// TeamCalendar is a team's calendar in a window: its own shifts and those of the teams and roles it subscribes to. It
// is a read-only value, safe for concurrent use. A look-up takes microseconds.
type TeamCalendar struct {
	team     int64
	from, to time.Time
	roles    map[string]*roleCalendar // by the role's name in lower case
	kept     []string                 // roles that also count as known, see WithRoles
	all      []Shift
}

// roleCalendar holds the shifts of one role by start; ends[i] is the latest end of the first i+1 of them.
type roleCalendar struct {
	shifts []Shift
	ends   []time.Time
}

// NewTeamCalendar returns the calendar of a team from shifts, which must hold every shift of the team and of its
// subscriptions that overlaps [from, to). It leaves out other shifts and shifts without length. It does not keep the
// slice.
func NewTeamCalendar(team int64, from, to time.Time, shifts []Shift, subscribed ...TeamRole) *TeamCalendar {
	c := &TeamCalendar{team: team, from: from, to: to, roles: map[string]*roleCalendar{}}
	for _, s := range shifts {
		own := s.TeamID == team || slices.Contains(subscribed, TeamRole{s.TeamID, s.Role})
		if own && s.Start.Before(s.End) && s.Overlaps(from, to) {
			c.all = append(c.all, s)
		}
	}
	SortShifts(c.all)
	for _, s := range c.all {
		name := strings.ToLower(s.Role)
		r := c.roles[name]
		if r == nil {
			r = &roleCalendar{}
			c.roles[name] = r
		}
		end := s.End
		if n := len(r.ends); n > 0 && r.ends[n-1].After(end) {
			end = r.ends[n-1]
		}
		r.shifts, r.ends = append(r.shifts, s), append(r.ends, end)
	}
	return c
}

// WithRoles returns the calendar with roles that it has at some time, which may be outside of its window: it has a gap
// now if nobody holds one.
func (c *TeamCalendar) WithRoles(roles []string) *TeamCalendar {
	with := *c
	with.kept = roles
	return &with
}

// People returns the people who have a shift on the calendar, without duplicates.
func (c *TeamCalendar) People() []users.ID { return Holders(c.all) }

// Without returns the calendar without the shifts of some people.
func (c *TeamCalendar) Without(people map[users.ID]bool) *TeamCalendar {
	left := slices.DeleteFunc(slices.Clone(c.all), func(s Shift) bool { return people[s.User] })
	shown := make([]TeamRole, len(left)) // all remaining shifts are on the calendar already
	for i, s := range left {
		shown[i] = TeamRole{s.TeamID, s.Role}
	}
	return NewTeamCalendar(c.team, c.from, c.to, left, slices.Compact(shown)...).WithRoles(c.kept)
}

// Covers reports whether t is in the calendar's window.
func (c *TeamCalendar) Covers(t time.Time) bool { return !t.Before(c.from) && t.Before(c.to) }

// Shifts returns all shifts, by start; the caller must not change them.
func (c *TeamCalendar) Shifts() []Shift { return c.all }

// OnCall returns the shifts of the role that run at t (Start <= t < End), by start. Several people may hold a role.
func (c *TeamCalendar) OnCall(role string, t time.Time) []Shift {
	r := c.roles[strings.ToLower(role)]
	if r == nil {
		return nil
	}
	var out []Shift
	// Among the shifts that have begun, walk back as long as one may still run.
	n := sort.Search(len(r.shifts), func(i int) bool { return r.shifts[i].Start.After(t) })
	for i := n - 1; i >= 0 && r.ends[i].After(t); i-- {
		if r.shifts[i].End.After(t) {
			out = append(out, r.shifts[i])
		}
	}
	slices.Reverse(out)
	return out
}

// Following returns the shifts of the role that begin first after t and whose holders do not hold the role at t.
func (c *TeamCalendar) Following(role string, t time.Time) []Shift {
	present := Holders(c.OnCall(role, t))
	var out []Shift
	for _, s := range c.OfRole(role) {
		switch {
		case !s.Start.After(t) || slices.Contains(present, s.User):
		case len(out) > 0 && !s.Start.Equal(out[0].Start):
			return out
		default:
			out = append(out, s)
		}
	}
	return out
}

// OfRole returns the shifts of a role in the window, by start.
func (c *TeamCalendar) OfRole(role string) []Shift {
	if r := c.roles[strings.ToLower(role)]; r != nil {
		return r.shifts
	}
	return nil
}

// knows reports whether the calendar has the role at some time: a shift in its window, or one that WithRoles names.
func (c *TeamCalendar) knows(role string) bool {
	return c.roles[strings.ToLower(role)] != nil || slices.ContainsFunc(c.kept,
		func(k string) bool { return strings.EqualFold(k, role) })
}

// Now returns all shifts that run at t, of every role, by start.
func (c *TeamCalendar) Now(t time.Time) []Shift {
	var out []Shift
	for role := range c.roles {
		out = append(out, c.OnCall(role, t)...)
	}
	SortShifts(out)
	return out
}

// FirstOfEach keeps the first shift of each person (docs/reference/oncall-v0.md 4: one entry per user, even if they
// hold two roles).
func FirstOfEach(shifts []Shift) []Shift {
	var out []Shift
	seen := map[users.ID]bool{}
	for _, s := range shifts {
		if !seen[s.User] {
			seen[s.User] = true
			out = append(out, s)
		}
	}
	return out
}

// Summary is who is on call now and next, by role. Roles without shifts are missing.
type Summary struct{ Current, Next map[string][]Shift }

// Summary returns the shifts that run at t and, for each team and role, those that share the earliest start after t.
func (c *TeamCalendar) Summary(t time.Time) Summary {
	s := Summary{Current: map[string][]Shift{}, Next: map[string][]Shift{}}
	for role, r := range c.roles {
		if current := c.OnCall(role, t); len(current) > 0 {
			s.Current[r.shifts[0].Role] = current
		}
		first := map[int64]time.Time{}
		n := sort.Search(len(r.shifts), func(i int) bool { return r.shifts[i].Start.After(t) })
		for _, shift := range r.shifts[n:] {
			if at, ok := first[shift.TeamID]; ok && !at.Equal(shift.Start) {
				continue
			}
			first[shift.TeamID] = shift.Start
			s.Next[r.shifts[0].Role] = append(s.Next[r.shifts[0].Role], shift)
		}
	}
	return s
}

// HandOff is a change of the people who hold a role.
type HandOff struct {
	At       time.Time
	Role     string
	From, To []users.ID // empty = nobody
}

// HandOffs returns the next changes of the role's holders after t, at most limit of them, inside the calendar's window.
func (c *TeamCalendar) HandOffs(role string, t time.Time, limit int) []HandOff {
	r := c.roles[strings.ToLower(role)]
	if r == nil {
		return nil
	}
	var out []HandOff
	before := Holders(c.OnCall(role, t))
	for _, at := range edges(r.shifts, t, c.to) {
		if len(out) == limit {
			break
		}
		after := Holders(c.OnCall(role, at))
		if !slices.Equal(before, after) {
			out = append(out, HandOff{At: at, Role: role, From: before, To: after})
		}
		before = after
	}
	return out
}

// Holders returns the people of shifts in the order of their ids, without duplicates.
func Holders(shifts []Shift) []users.ID {
	var out []users.ID
	for _, s := range shifts {
		out = append(out, s.User)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// edges returns the instants in (from, to) at which a shift begins or ends, in order, without duplicates.
func edges(shifts []Shift, from, to time.Time) []time.Time {
	var out []time.Time
	for _, s := range shifts {
		for _, at := range []time.Time{s.Start, s.End} {
			if at.After(from) && at.Before(to) {
				out = append(out, at)
			}
		}
	}
	slices.SortFunc(out, time.Time.Compare)
	return slices.CompactFunc(out, time.Time.Equal)
}

// Gaps returns the stretches of [from, to) in which nobody holds the role, in order. Time outside of the calendar's
// window is unknown, and is no gap.
func (c *TeamCalendar) Gaps(role string, from, to time.Time) []Span {
	from, to = clock.Later(from, c.from), clock.Earlier(to, c.to)
	var out []Span
	at := from
	if r := c.roles[strings.ToLower(role)]; r != nil {
		for _, s := range r.shifts {
			if s.Start.After(at) && at.Before(to) {
				out = append(out, Span{at, clock.Earlier(s.Start, to)})
			}
			at = clock.Later(at, s.End)
		}
	}
	if at.Before(to) {
		out = append(out, Span{at, to})
	}
	return out
}

// UpcomingShift is a future shift: a single one, or the first of linked ones. Linked is the number of future shifts of
// the link, this one included; 0 = not linked.
type UpcomingShift struct {
	Shift
	Linked int
}

// Upcoming returns the shifts that begin after t, by start, with linked ones collapsed to the first
// (docs/reference/oncall-v0.md 4). A limit of 0 is no limit.
func Upcoming(shifts []Shift, t time.Time, limit int) []UpcomingShift {
	next := slices.Clone(shifts)
	SortShifts(next)
	var out []UpcomingShift
	at := map[string]int{}
	for _, s := range next {
		if !s.Start.After(t) {
			continue
		}
		if i, ok := at[s.Link]; ok && s.Link != "" {
			if i >= 0 {
				out[i].Linked++
			}
			continue
		}
		if limit > 0 && len(out) == limit {
			at[s.Link] = -1
			continue
		}
		u := UpcomingShift{Shift: s}
		if s.Link != "" {
			at[s.Link], u.Linked = len(out), 1
		}
		out = append(out, u)
	}
	return out
}
