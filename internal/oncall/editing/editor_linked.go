package editing

import (
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
)

// CreateLinked makes several shifts under one new link (docs/reference/oncall-v0.md 6.4).
func (d Editor) CreateLinked(drafts []ShiftRequest) (oncall.Changes, error) {
	if len(drafts) == 0 {
		return oncall.Changes{}, fault.Titled("Invalid argument", "events list cannot be empty")
	}
	if drafts[0].TeamName == "" {
		return oncall.Changes{}, fault.Titled("Invalid argument", "event missing team attribute")
	}
	if d.Refusals.Member != nil {
		return oncall.Changes{}, d.Refusals.Member
	}
	var c oncall.Changes
	for _, n := range drafts {
		if err := d.linked(n, drafts[0].TeamName); err != nil {
			return oncall.Changes{}, err
		}
		s := d.shift(n)
		s.Link = d.Link
		c.Add = append(c.Add, s)
	}
	oncall.SortShifts(c.Add)
	c.Notices = []oncall.Notice{oncall.ShiftAdded(c.Add[0])}
	for _, s := range c.Add[1:] {
		c.Notices[0].Involve(s)
	}
	return c, nil
}

func (d Editor) linked(n ShiftRequest, team string) error {
	if err := d.times(n); err != nil {
		return err
	}
	switch {
	case n.TeamName == "":
		return fault.Titled(badEvent, "Missing team for event")
	case n.TeamName != team:
		return fault.Titled(badEvent, "Events can only be submitted to one team")
	}
	if why := d.Team.refuses(n.User, "User "+n.UserName+" must be part of the team "+n.TeamName); why != "" {
		return fault.Titled(badEvent, why)
	}
	return nil
}

// EditLinked changes person, role or note of all shifts of a link. The link stays (docs/reference/oncall-v0.md 6.4).
// The patch must not hold times.
func (d Editor) EditLinked(shifts []oncall.Shift, p Patch) (oncall.Changes, error) {
	if len(shifts) == 0 {
		return oncall.Changes{}, fault.New(fault.NotFound, "404 Not Found")
	}
	switch {
	case p.Start != nil || p.End != nil:
		return oncall.Changes{}, fault.Titled(badUpdate, "Invalid column")
	case p.Role == nil && p.User == nil && p.Note == nil:
		return oncall.Changes{}, fault.Titled(badUpdate, "Nothing to change: give user, role or note")
	}
	first := oncall.FirstShift(shifts)
	if d.Refusals.Member != nil {
		return oncall.Changes{}, d.Refusals.Member
	}
	if d.past(first.Start) {
		return oncall.Changes{}, fault.Titled(badUpdate, "Editing events in the past not allowed")
	}
	if err := d.newHolder(p, shifts...); err != nil {
		return oncall.Changes{}, err
	}
	notice := edited(first, p.apply(first))
	var c oncall.Changes
	for _, s := range oncall.SortedShifts(shifts) {
		after := p.apply(s)
		after.Edited = true
		c.Update = append(c.Update, oncall.Update{Before: s, After: after})
		notice.Involve(s, after)
	}
	c.Notices = []oncall.Notice{notice}
	return c, nil
}

// DeleteLinked removes all shifts of a link (docs/reference/oncall-v0.md 6.4).
func (d Editor) DeleteLinked(shifts []oncall.Shift) (oncall.Changes, error) {
	if len(shifts) == 0 {
		return oncall.Changes{}, fault.New(fault.NotFound, "404 Not Found")
	}
	if d.Refusals.Member != nil {
		return oncall.Changes{}, d.Refusals.Member
	}
	first := oncall.FirstShift(shifts)
	if d.past(first.Start) {
		return oncall.Changes{}, fault.Titled(badUpdate, "Deleting events in the past not allowed")
	}
	notice := deleted(first)
	notice.Involve(shifts...)
	return oncall.Changes{Delete: oncall.SortedShifts(shifts), Notices: []oncall.Notice{notice}}, nil
}
