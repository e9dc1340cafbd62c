package editing

import (
	"time"

	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// Side is one half of a swap: a single shift, or all shifts of a link.
type Side struct {
	Shifts []oncall.Shift
	Linked bool
}

// Swap exchanges the people of two sides; times and roles stay (docs/reference/oncall-v0.md 6.5). A side without shifts
// is a NotFound fault: the caller found none for it.
func (d Editor) Swap(sides []Side) (oncall.Changes, error) {
	if len(sides) != 2 {
		return oncall.Changes{}, fault.Titled(badSwap, "Must provide 2 events")
	}
	for _, side := range sides {
		if len(side.Shifts) == 0 {
			return oncall.Changes{}, fault.New(fault.NotFound, "404 Not Found")
		}
	}
	if err := d.checkSwap(sides); err != nil {
		return oncall.Changes{}, err
	}
	if d.Refusals.Member != nil {
		return oncall.Changes{}, d.Refusals.Member
	}
	return swapped(sides), nil
}

// SwapFromNow exchanges the people of two sides like Swap, but does not change the past: a running shift keeps its
// person until now, and the rest becomes a new shift.
func (d Editor) SwapFromNow(sides []Side) (oncall.Changes, error) {
	now := d.Now.Truncate(time.Second)
	ahead := make([]Side, len(sides))
	for i, side := range sides {
		ahead[i].Linked = side.Linked
		for _, s := range side.Shifts {
			if !s.End.After(now) {
				return oncall.Changes{}, fault.Titled(badSwap, "Cannot edit events in the past")
			}
			s.Start = clock.Later(s.Start, now)
			ahead[i].Shifts = append(ahead[i].Shifts, s)
		}
	}
	c, err := d.Swap(ahead)
	if err != nil {
		return oncall.Changes{}, err
	}
	begun := map[oncall.ShiftID]oncall.Shift{}
	for _, side := range sides {
		for _, s := range side.Shifts {
			if s.Start.Before(now) {
				begun[s.ID] = s
			}
		}
	}
	updates := c.Update
	c.Update = nil
	for _, u := range updates {
		s, running := begun[u.Before.ID]
		if !running {
			c.Update = append(c.Update, u)
			continue
		}
		head := s
		head.End, head.Edited = now, true
		c.Update = append(c.Update, oncall.Update{Before: s, After: head})
		c.Add = append(c.Add, oncall.Shift{
			TeamID: s.TeamID, Role: s.Role, User: u.After.User, Start: now, End: s.End, Link: u.After.Link, Note: s.Note, Covers: s.Origin(),
		})
	}
	return c, nil
}

func (d Editor) checkSwap(sides []Side) error {
	const refused = "Event swap not allowed"
	for _, side := range sides {
		for _, s := range side.Shifts {
			if d.past(s.Start) {
				return fault.Titled(badSwap, "Cannot edit events in the past")
			}
		}
	}
	for _, side := range sides {
		for _, s := range side.Shifts {
			if s.TeamID != d.Team.TeamID {
				return fault.Titled(refused, "Swapped events must come from the same team")
			}
		}
	}
	for _, side := range sides {
		for _, s := range side.Shifts {
			if s.User != side.Shifts[0].User {
				return fault.Titled(refused, "all linked events must have the same user")
			}
		}
	}
	return nil
}

func swapped(sides []Side) oncall.Changes {
	var c oncall.Changes
	first := []oncall.Shift{oncall.FirstShift(sides[0].Shifts), oncall.FirstShift(sides[1].Shifts)}
	for i, side := range sides {
		for _, s := range oncall.SortedShifts(side.Shifts) {
			after := s
			after.User, after.Edited = first[1-i].User, true
			if !side.Linked {
				after.Link = ""
			}
			c.Update = append(c.Update, oncall.Update{Before: s, After: after})
		}
	}
	n := oncall.Notice{Kind: oncall.ShiftSwapped, Shifts: first}
	n.Involve(first...)
	c.Notices = []oncall.Notice{n}
	return c
}

// Override replaces a person by a substitute for part of consecutive shifts of one role (docs/reference/oncall-v0.md
// 6.6). shifts are the requested shifts that exist. substitute 0 means no such user. after are the given shifts that
// remain and the new ones, by start, as the route returns them.
func (d Editor) Override(shifts []oncall.Shift, start, end time.Time, substitute users.ID) (c oncall.Changes, after []oncall.Shift, err error) {
	if substitute == 0 || len(shifts) == 0 {
		return oncall.Changes{}, nil, fault.New(fault.Invalid, "Invalid name or list of events")
	}
	if d.Refusals.Member != nil {
		return oncall.Changes{}, nil, d.Refusals.Member
	}
	given := oncall.SortedShifts(shifts)
	if d.past(start) {
		return oncall.Changes{}, nil, fault.Titled(badOverride, "Cannot edit events in the past")
	}
	first, last := oncall.Extent(given)
	start, end = clock.Later(first, start), clock.Earlier(last, end)
	if err := d.checkOverride(given, start, end, substitute); err != nil {
		return oncall.Changes{}, nil, err
	}
	c = cut(given, start, end)
	cover := oncall.Shift{TeamID: given[0].TeamID, Role: given[0].Role, User: substitute, Start: start, End: end,
		Covers: given[0].Origin()}
	c.Add = append(c.Add, cover)
	oncall.SortShifts(c.Add)
	c.Notices = []oncall.Notice{{
		Kind: oncall.ShiftSubstituted, Roles: []string{cover.Role}, Users: []users.ID{substitute,
			given[0].User}, Shifts: []oncall.Shift{cover, given[0]},
	}}
	return c, c.Apply(given), nil
}

func (d Editor) checkOverride(given []oncall.Shift, start, end time.Time, substitute users.ID) error {
	refuse := func(why string) error { return fault.Titled(badOverride, why) }
	for _, s := range given {
		if s.TeamID != d.Team.TeamID {
			return refuse("Events must be from the same team")
		}
	}
	if why := d.Team.refuses(substitute, "Substituting user must be part of the team"); why != "" {
		return refuse(why)
	}
	for _, s := range given {
		if s.Role != given[0].Role || s.User != given[0].User {
			return refuse("events must have the same role")
		}
	}
	if !start.Before(end) { // else the part that is cut out has no length
		return refuse("events must overlap with override time range")
	}
	for i, s := range given {
		if i > 0 && !s.Start.Equal(given[i-1].End) {
			return refuse("events must be consecutive")
		}
		if !s.Overlaps(start, end) {
			return refuse("events must overlap with override time range")
		}
	}
	return nil
}

// cut removes [start, end) from shifts.
func cut(shifts []oncall.Shift, start, end time.Time) oncall.Changes {
	var c oncall.Changes
	for _, s := range shifts {
		head, tail := s.Start.Before(start), end.Before(s.End)
		after := s
		after.Edited = true
		switch {
		case head && tail:
			c.Delete = append(c.Delete, s)
			piece := oncall.Shift{TeamID: s.TeamID, Role: s.Role, User: s.User, Covers: s.Origin()}
			first, last := piece, piece
			first.Start, first.End, first.RemainsOf = s.Start, start, s.ID
			last.Start, last.End = end, s.End
			c.Add = append(c.Add, first, last)
		case head:
			after.End = start
			c.Update = append(c.Update, oncall.Update{Before: s, After: after})
		case tail:
			after.Start = end
			c.Update = append(c.Update, oncall.Update{Before: s, After: after})
		default:
			c.Delete = append(c.Delete, s)
		}
	}
	return c
}

// TakePager puts a person on call for a role from now. The person replaces the holders of the role until their shifts
// end, or until another instant (zero = not given). If nobody holds the role, until is required. shifts are the team's,
// at least those that overlap the time from now to until.
func (d Editor) TakePager(shifts []oncall.Shift, role string, who users.ID, until time.Time) (oncall.Changes, error) {
	if d.Refusals.Member != nil {
		return oncall.Changes{}, d.Refusals.Member
	}
	if !d.Team.Members[who] {
		return oncall.Changes{}, fault.Invalidf("user", "the person who takes the pager must be a member of team %s",
			d.Team.Name)
	}
	if role == "" || !oncall.OnDuty(role) {
		return oncall.Changes{}, fault.Invalidf("role", "name the role to take, such as primary")
	}
	now := d.Now.Truncate(time.Second)
	running := oncall.NewTeamCalendar(d.Team.TeamID, now, now.Add(time.Second), shifts).OnCall(role, now)
	end := until
	switch {
	case !until.IsZero() && !until.After(now):
		return oncall.Changes{}, fault.Invalidf("until", "the end must be in the future")
	case until.IsZero() && len(running) == 0:
		return oncall.Changes{}, fault.Invalidf("until", "nobody is %s of team %s now: give the end", role, d.Team.Name)
	case until.IsZero():
		_, end = oncall.Extent(running)
	}
	replaced := oncall.NewTeamCalendar(d.Team.TeamID, now, end, shifts).OfRole(role)
	if len(replaced) == 1 && replaced[0].User == who && !replaced[0].Start.After(now) && !replaced[0].End.Before(end) {
		return oncall.Changes{}, fault.Newf(fault.Conflict, "you are %s of team %s already", role, d.Team.Name)
	}
	return d.take(replaced, oncall.Shift{TeamID: d.Team.TeamID, Role: role, User: who, Start: now, End: end}), nil
}

func (d Editor) take(replaced []oncall.Shift, taken oncall.Shift) oncall.Changes {
	c := cut(replaced, taken.Start, taken.End)
	notice := oncall.Notice{Kind: oncall.ShiftCreated, Shifts: []oncall.Shift{taken}}
	if len(replaced) > 0 {
		taken.Covers = replaced[0].Origin()
		notice = oncall.Notice{Kind: oncall.ShiftSubstituted, Shifts: []oncall.Shift{taken, replaced[0]}}
	}
	notice.Involve(taken)
	notice.Involve(replaced...)
	c.Add = append(c.Add, taken)
	oncall.SortShifts(c.Add)
	personal := oncall.Notice{Kind: oncall.PagerTaken, By: taken.User, Roles: notice.Roles, Users: notice.Users,
		Shifts: append([]oncall.Shift{taken}, replaced...), Unless: notice.Kind}
	c.Notices = []oncall.Notice{notice, personal}
	return c
}
