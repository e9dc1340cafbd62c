package editing

import (
	"slices"

	"github.com/iris-oncall/iris/internal/kit/etag"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
)

// Undo reverses an edit, whose answer named the shifts that it added, changed and removed. It is refused if one of them
// is no longer as the edit left it, so it never reverses the edit of somebody else. Refusal is the refusal of a role or
// schedule that does not exist.
type Undo struct {
	Added   []oncall.Shift
	Changed []oncall.Update
	Removed []oncall.Shift
	Refusal error
}

// errEdited refuses an undo.
var errEdited = fault.New(fault.Stale, "somebody changed these shifts after your edit, so it was not undone: edit them by hand")

// Action implements Change.
func (Undo) Action() string { return "edit_undone" }

// Decide implements Change. Each part has the rules of the edit that it is: a shift is deleted, changed or made.
func (u Undo) Decide(d Editor, selected []oncall.Shift) (o Outcome, err error) {
	if d.Refusals.Member != nil {
		return o, d.Refusals.Member
	}
	if u.Refusal != nil {
		return o, u.Refusal
	}
	for _, s := range u.Added {
		if s, err = u.current(d, s, selected); err == nil {
			err = o.gather(d.Delete(s))
		}
		if err != nil {
			return o, err
		}
	}
	for _, c := range u.Changed {
		s, err := u.current(d, c.After, selected)
		if err == nil {
			was := c.Before
			err = o.gather(d.Edit(s, Patch{Start: &was.Start, End: &was.End, Role: &was.Role, User: &was.User,
				Note: &was.Note}))
		}
		if err != nil {
			return o, err
		}
		after := &o.Update[len(o.Update)-1].After
		after.Link, after.Edited = c.Before.Link, c.Before.Edited
		if !after.Edited {
			after.Covers = 0 // a shift as its schedule made it
		}
	}
	for _, s := range u.Removed {
		if err := o.gather(d.Create(ShiftRequest{Start: s.Start, End: s.End, Role: s.Role, User: s.User, Schedule: s.Schedule, Note: s.Note})); err != nil {
			return o, err
		}
		added := &o.Add[len(o.Add)-1]
		added.Link, added.Edited, added.Covers = s.Link, s.Edited, s.Covers
	}
	return o, nil
}

// current returns the selected shift if it is as want, which an edit left.
func (Undo) current(d Editor, want oncall.Shift, selected []oncall.Shift) (oncall.Shift, error) {
	want.TeamID = d.Team.TeamID
	i := slices.IndexFunc(selected, func(s oncall.Shift) bool { return s.ID == want.ID })
	if i < 0 || etag.Match([]string{want.Tag()}, selected[i].Tag()) != nil {
		return oncall.Shift{}, errEdited
	}
	return selected[i], nil
}

// gather adds the changes of one shift, unless err refuses them.
func (o *Outcome) gather(c oncall.Changes, err error) error {
	o.Add, o.Update, o.Delete = append(o.Add, c.Add...), append(o.Update, c.Update...), append(o.Delete, c.Delete...)
	o.Notices = append(o.Notices, c.Notices...)
	return err
}

// Audit implements Change.
func (Undo) Audit(e Edit, o Outcome) map[string]any {
	return map[string]any{"event_ids": o.addedIDs(), "old_event": e.events(o.Selected)}
}
