package editing

import (
	"encoding/json"
	"time"

	"github.com/iris-oncall/iris/internal/kit/etag"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// Selection names the shifts that an edit concerns.
type Selection struct {
	// TeamID is the team whose calendar is edited; 0 = the team of the first selected shift.
	TeamID int64
	IDs    []oncall.ShiftID
	Links  []string
	// Running also selects the team's shifts that run now, and those that begin before Until (zero = none of these).
	Running bool
	Until   time.Time
}

// Caller is the person or program that edits. Its methods return nil if the caller may do this on a team, else the
// fault to answer with. name is the team's name, "" if the request did not name it. auth.Planner implements it.
type Caller interface {
	MayEditCalendar(team int64, name string) error
	MayAdministerTeam(team int64, name string) error
}

// Access is who edits, and under which rules.
type Access struct {
	Caller Caller
	By     users.ID      // the person who edits; 0 = a program
	Grace  time.Duration // see Editor
	Named  bool          // the request named the team, so the text of a refusal may name it
	Link   string        // see Editor
}

// Editor returns the editor of a team's calendar at an instant.
func (a Access) Editor(now time.Time, team Membership) Editor {
	name := team.Name
	if !a.Named {
		name = ""
	}
	return Editor{Now: now, Grace: a.Grace, Team: team, Link: a.Link, Refusals: Refusals{
		Member: a.Caller.MayEditCalendar(team.TeamID, name), Admin: a.Caller.MayAdministerTeam(team.TeamID, team.Name),
	}}
}

// Edit is a requested change of a calendar. It is a value: storage reads the selected shifts in a transaction with the
// team locked, calls Decide, and stores the outcome with its entry in the audit log.
type Edit struct {
	Access
	Selection
	Change Change
	// IfMatch are the allowed tags of the one selected shift; "*" allows every tag, nil every state.
	IfMatch []string
	// Rows are the selected shifts with their names, as they were before the edit, for the audit log.
	Rows map[oncall.ShiftID]oncall.ShiftRow
	Body json.RawMessage // the body of the request, for the audit log
	// Rehearse: the edit is decided and stored, and rolled back. So a preview meets every refusal that the edit itself
	// would meet.
	Rehearse bool
}

// Change is one kind of edit. Its methods are pure and safe for concurrent use.
type Change interface {
	// Action is the name of the edit in the audit log; "" = it is not logged.
	Action() string
	// Decide returns the new state of the selected shifts, which are ordered by start, or the refusal.
	Decide(d Editor, selected []oncall.Shift) (Outcome, error)
	// Audit returns the context of the entry in the audit log. The added shifts of the outcome have their ids.
	Audit(e Edit, o Outcome) map[string]any
}

// Outcome is what an edit changes.
type Outcome struct {
	oncall.Changes
	Team     string
	Selected []oncall.Shift // before the edit
	// After are the selected shifts that remain after an override, and the new ones, by start. New ones have no id.
	After []oncall.Shift
}

// Decide returns what the edit changes of the selected shifts, or the refusal. etag.ErrStale refuses an edit of a shift
// whose tag is not in IfMatch.
func (e Edit) Decide(now time.Time, team Membership, selected []oncall.Shift) (Outcome, error) {
	if len(selected) == 1 {
		if err := etag.Match(e.IfMatch, selected[0].Tag()); err != nil {
			return Outcome{}, err
		}
	}
	d := e.Editor(now, team)
	o, err := e.Change.Decide(d, selected)
	d.notifyHolders(&o, e.By)
	o.Team, o.Selected = team.Name, selected
	return o, err
}

// events returns shifts with the names they had before the edit.
func (e Edit) events(shifts []oncall.Shift) []map[string]any {
	out := make([]map[string]any, len(shifts))
	for i, s := range shifts {
		row := e.Rows[s.ID]
		row.Shift = s
		out[i] = row.Event()
	}
	return out
}

// errGone says that the shift does not exist, or no longer exists.
var errGone = fault.New(fault.NotFound, "not found")

// Create makes a shift. Refusal is the refusal of a role or schedule that does not exist; the checks of Editor.Create
// come first.
type Create struct {
	Shift   ShiftRequest
	Refusal error
}

// Action implements Change.
func (Create) Action() string { return "event_created" }

// Decide implements Change.
func (c Create) Decide(d Editor, _ []oncall.Shift) (Outcome, error) {
	changes, err := d.Create(c.Shift)
	if err == nil {
		err = c.Refusal
	}
	return Outcome{Changes: changes}, err
}

// Audit implements Change.
func (Create) Audit(e Edit, o Outcome) map[string]any {
	return map[string]any{"new_event_id": o.Add[0].ID, "request_body": e.Body}
}

// CreateLinked makes shifts under one link. Refusal is as in Create.
type CreateLinked struct {
	Shifts  []ShiftRequest
	Refusal error
}

// Action implements Change.
func (CreateLinked) Action() string { return "event_created" }

// Decide implements Change.
func (c CreateLinked) Decide(d Editor, _ []oncall.Shift) (Outcome, error) {
	changes, err := d.CreateLinked(c.Shifts)
	if err == nil {
		err = c.Refusal
	}
	return Outcome{Changes: changes}, err
}

// Audit implements Change.
func (CreateLinked) Audit(e Edit, o Outcome) map[string]any {
	return map[string]any{"link_id": o.Add[0].Link, "event_ids": o.addedIDs(), "request_body": e.Body}
}

// addedIDs returns the ids of the added shifts.
func (o Outcome) addedIDs() []oncall.ShiftID {
	out := make([]oncall.ShiftID, len(o.Add))
	for i, s := range o.Add {
		out[i] = s.ID
	}
	return out
}

// Modify changes one shift, or with Linked all shifts of a link.
type Modify struct {
	Patch  Patch
	Linked bool
}

// Action implements Change.
func (Modify) Action() string { return "event_edited" }

// Decide implements Change.
func (m Modify) Decide(d Editor, selected []oncall.Shift) (o Outcome, err error) {
	switch {
	case m.Linked:
		o.Changes, err = d.EditLinked(selected, m.Patch)
	case len(selected) == 0:
		err = errGone
	default:
		o.Changes, err = d.Edit(selected[0], m.Patch)
	}
	return o, err
}

// Audit implements Change.
func (m Modify) Audit(e Edit, o Outcome) map[string]any {
	return map[string]any{"old_event": e.oldEvent(o, m.Linked), "request_body": e.Body}
}

// oldEvent is the selected shift, or the list of those of a link.
func (e Edit) oldEvent(o Outcome, linked bool) any {
	old := e.events(o.Selected)
	if linked {
		return old
	}
	return old[0]
}

// Remove deletes one shift, or with Linked all shifts of a link.
type Remove struct{ Linked bool }

// Action implements Change.
func (Remove) Action() string { return "event_deleted" }

// Decide implements Change.
func (r Remove) Decide(d Editor, selected []oncall.Shift) (o Outcome, err error) {
	switch {
	case r.Linked:
		o.Changes, err = d.DeleteLinked(selected)
	case len(selected) == 0:
		err = errGone
	default:
		o.Changes, err = d.Delete(selected[0])
	}
	return o, err
}

// Audit implements Change.
func (r Remove) Audit(e Edit, o Outcome) map[string]any {
	return map[string]any{"old_event": e.oldEvent(o, r.Linked)}
}
