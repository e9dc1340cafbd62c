package calendaring

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/kit/audit"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/oncall/planning"
	"github.com/iris-oncall/iris/internal/users"
)

// Fields are what a request says of a shift.
type Fields struct {
	Team     *string                    `json:"team,omitempty" nullable:"true"`
	User     *string                    `json:"user,omitempty" nullable:"true"`
	Role     *string                    `json:"role,omitempty" nullable:"true"`
	Start    *time.Time                 `json:"start,omitempty" nullable:"true"`
	End      *time.Time                 `json:"end,omitempty" nullable:"true"`
	Note     operation.Optional[string] `json:"note,omitzero" required:"false"`
	Schedule *oncall.ScheduleID         `json:"schedule_id,omitempty" nullable:"true"`
}

// given returns the names of the members that the request has.
func (f Fields) given() map[string]bool {
	return map[string]bool{"team": f.Team != nil, "user": f.User != nil, "role": f.Role != nil, "start": f.Start != nil,
		"end": f.End != nil, "note": f.Note.Given, "schedule_id": f.Schedule != nil}
}

// request returns a new shift. The members of a new shift must be there.
func (f Fields) request() editing.ShiftRequest {
	return editing.ShiftRequest{Start: whole(*f.Start), End: whole(*f.End), Role: *f.Role, UserName: *f.User, TeamName: *f.Team,
		Schedule: deref(f.Schedule), Note: deref(f.Note.Value)}
}

// wanted returns what the members change.
func (f Fields) wanted() Wanted {
	w := Wanted{Role: f.Role, User: f.User, Start: f.Start, End: f.End}
	if f.Note.Given {
		note := deref(f.Note.Value)
		w.Note = &note
	}
	return w
}

// whole returns an instant in whole seconds, as calendars have it.
func whole(at time.Time) time.Time { return at.Truncate(time.Second).UTC() }

// EventItem is a new shift of the action link, or a side of a swap.
type EventItem struct {
	Fields
	Side
}

// Side is one half of a swap.
type Side struct {
	ID     json.RawMessage `json:"id,omitempty" doc:"The number of a shift, or a link_id if linked is true."`
	Linked *bool           `json:"linked,omitempty" doc:"true: all shifts of the link."`
}

// ref returns the side that is named. ok is false if none is.
func (s Side) ref() (ref editing.SideRef, ok bool) {
	if s.Linked != nil && *s.Linked {
		ok = json.Unmarshal(s.ID, &ref.Link) == nil && ref.Link != ""
		return ref, ok
	}
	ok = json.Unmarshal(s.ID, &ref.ID) == nil && ref.ID > 0
	return ref, ok
}

// EventEdit is an edit of shifts. Which members it has depends on the action.
type EventEdit struct {
	Action string `json:"action" doc:"create (team, user, role, start, end, note, schedule_id), link (events), edit (id and what changes), edit_link (link_id, user, role, note), delete (id), delete_link (link_id), swap (events), swap_from_now (events), override (user, start, end, event_ids), take (team, role, until, user), undo (the answer of an edit)."`
	Fields
	ID        oncall.ShiftID      `json:"id,omitempty"`
	Link      string              `json:"link_id,omitempty"`
	Until     *time.Time          `json:"until,omitempty" nullable:"true"`
	Events    []EventItem         `json:"events,omitempty" maxItems:"1000"`
	IDs       []oncall.ShiftID    `json:"event_ids,omitempty" maxItems:"1000"`
	Added     []EditedEvent       `json:"added,omitempty" maxItems:"1000" doc:"For undo: send added, removed, changed, conflicts and proof as the answer of the edit has them."`
	Removed   []EditedEvent       `json:"removed,omitempty" maxItems:"1000"`
	Changed   []ChangedEvent      `json:"changed,omitempty" maxItems:"1000"`
	Conflicts []planning.Conflict `json:"conflicts,omitempty"`
	Proof     []byte              `json:"proof,omitempty"`
}

// members has, for each action, the members that it needs, and those that it may have.
var members = map[string][2][]string{
	"create":        {{"team", "user", "role", "start", "end"}, {"note", "schedule_id"}},
	"link":          {{"events"}, nil},
	"edit":          {{"id"}, {"start", "end", "role", "user", "note"}},
	"edit_link":     {{"link_id"}, {"role", "user", "note"}},
	"delete":        {{"id"}, nil},
	"delete_link":   {{"link_id"}, nil},
	"swap":          {{"events"}, nil},
	"swap_from_now": {{"events"}, nil},
	"override":      {{"user", "start", "end", "event_ids"}, nil},
	"take":          {{"team", "role"}, {"until", "user"}},
	"undo":          {nil, {"added", "removed", "changed", "conflicts", "proof"}},
}

func (e EventEdit) given() map[string]bool {
	given := e.Fields.given()
	maps.Copy(given, map[string]bool{"id": e.ID != 0, "link_id": e.Link != "", "until": e.Until != nil,
		"events": e.Events != nil, "event_ids": e.IDs != nil, "added": e.Added != nil, "removed": e.Removed != nil,
		"changed": e.Changed != nil, "conflicts": e.Conflicts != nil, "proof": e.Proof != nil})
	return given
}

// fits adds what is missing of the needed members, and what is there of others, to wrong.
func fits(wrong *fault.Wrong, place, what string, given map[string]bool, needed, allowed []string) {
	for _, name := range needed {
		wrong.If(!given[name], place+name, "%s is missing", place+name)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		wrong.If(given[name] && !slices.Contains(needed, name) && !slices.Contains(allowed, name), place+name,
			"%s is not allowed with action %s: leave it out", place+name, what)
	}
}

// Check implements operation.Checker.
func (e EventEdit) Check() error {
	var wrong fault.Wrong
	of, known := members[e.Action]
	if !known {
		wrong.Add("action", "action must be one of create, link, edit, edit_link, delete, delete_link, swap, swap_from_now, override, take, undo")
		return wrong.Err()
	}
	fits(&wrong, "", e.Action, e.given(), of[0], of[1])
	switch e.Action {
	case "link":
		wrong.If(len(e.Events) == 0, "events", "events must not be empty")
		for i, item := range e.Events {
			given := item.Fields.given()
			given["id"], given["linked"] = item.ID != nil, item.Linked != nil
			fits(&wrong, fmt.Sprintf("events[%d].", i), e.Action, given, members["create"][0], members["create"][1])
		}
	case "swap", "swap_from_now":
		sides := make([]Side, len(e.Events))
		for i, item := range e.Events {
			sides[i] = item.Side
			fits(&wrong, fmt.Sprintf("events[%d].", i), e.Action, item.Fields.given(), nil, nil)
		}
		checkSides(&wrong, sides)
	case "undo":
		n := len(e.Added) + len(e.Removed) + len(e.Changed)
		wrong.If(n == 0 || n > MaxLinked, "changed", "an undo names 1 to %d shifts in added, removed and changed", MaxLinked)
	}
	return wrong.Err()
}

func checkSides(wrong *fault.Wrong, sides []Side) {
	wrong.If(len(sides) != 2, "events", "events must be the two sides of the swap")
	for i, s := range sides {
		_, ok := s.ref()
		wrong.If(!ok, fmt.Sprintf("events[%d].id", i), "events[%d].id must be the number of a shift, or a link_id if linked is true", i)
	}
}

// EventEditing is an edit of shifts, and the state in which the one shift that it names must be.
type EventEditing struct {
	operation.State
	Body EventEdit `json:"body"`
}

// Check implements operation.Checker.
func (e EventEditing) Check() error { return e.Body.Check() }

// EditedEvent is a shift with what an undo needs.
type EditedEvent struct {
	Event
	Edited bool              `json:"edited" doc:"Changed by hand since its schedule made it."`
	Covers oncall.ScheduleID `json:"covers_id" doc:"The schedule of the shift that it overrides; 0 = none."`
}

// ChangedEvent is a shift before and after an edit.
type ChangedEvent struct {
	Before EditedEvent `json:"before"`
	After  EditedEvent `json:"after"`
}

// EditAnswer are the changes of an edit.
type EditAnswer struct {
	Added     []EditedEvent       `json:"added"`
	Removed   []EditedEvent       `json:"removed"`
	Changed   []ChangedEvent      `json:"changed"`
	Conflicts []planning.Conflict `json:"conflicts" doc:"New and changed shifts of people who cannot be on call then."`
	Proof     []byte              `json:"proof,omitempty" doc:"For an undo; a preview has none."`
}

// EventSwap exchanges the people of two sides.
type EventSwap struct {
	Events []Side `json:"events"`
}

// Check implements operation.Checker.
func (s EventSwap) Check() error {
	var wrong fault.Wrong
	checkSides(&wrong, s.Events)
	return wrong.Err()
}

// PagerTake says for which role, and until when.
type PagerTake struct {
	Role  string     `json:"role"`
	Until *time.Time `json:"until,omitempty" nullable:"true" doc:"Default: the end of the shifts that it replaces."`
	User  *string    `json:"user,omitempty" nullable:"true" doc:"The person who takes the pager: required if the caller is not a person, otherwise ignored."`
}

// PagerTaking puts the caller on call for a role of a team.
type PagerTaking struct {
	users.OneTeam
	Body PagerTake `json:"body"`
}

// Taken are the new shifts.
type Taken struct {
	Shifts []Event `json:"shifts"`
}

// The operations on shifts.
var (
	PreviewEdit = operation.Define[EventEditing, EditAnswer](operation.Doc{Name: "event.preview-edit",
		Method: http.MethodPost, Path: "/v1/events/preview", Status: http.StatusOK, Needs: operation.Member,
		Rule: operation.InTeam, Summary: "What an edit of the calendar would change; changes nothing",
		Errors: []int{404, 409, 412, 422}, Note: "It answers with the same errors as the edit."})
	MakeEdit = operation.Define[EventEditing, EditAnswer](operation.Doc{Name: "event.edit", Method: http.MethodPost,
		Path: "/v1/events/edit", Status: http.StatusOK, Needs: operation.Member, Rule: operation.InTeam,
		Audit: []audit.Action{audit.ShiftCreated, audit.ShiftChanged, audit.ShiftDeleted, audit.ShiftsSwapped,
			audit.ShiftOverridden, audit.PagerTaken, audit.ShiftEditUndone},
		Summary: "Make an edit of the calendar, or undo one by sending its answer back", Errors: []int{404, 409, 412, 422},
		Note: "Shifts that began more than the grace time ago are changed by administrators of the team only."})
	SwapEvents = operation.Define[EventSwap, operation.None](operation.Doc{Name: "event.swap", Method: http.MethodPost,
		Path: "/v1/events/swap", Status: http.StatusNoContent, Needs: operation.Member, Rule: operation.InTeam,
		Audit:   []audit.Action{audit.ShiftsSwapped},
		Summary: "Exchange the people of two shifts; a running shift keeps its person until now",
		Errors:  []int{404, 409, 422}})
	TakePager = operation.Define[PagerTaking, Taken](operation.Doc{Name: "team.take-pager", Method: http.MethodPost,
		Path: "/v1/teams/{team}/take", Needs: operation.Member, Rule: operation.InTeam,
		Audit: []audit.Action{audit.PagerTaken}, Summary: "Take the pager now", Errors: []int{404, 409, 422}})
)

// preview makes the edit in a transaction and rolls it back.
func (c *Calendaring) preview(ctx context.Context, by operation.Actor, e EventEditing) (EditAnswer, error) {
	o, err := c.run(ctx, by, e, true)
	if err != nil {
		return EditAnswer{}, err
	}
	for i := range o.Add {
		o.Add[i].ID = 0 // the preview was rolled back, so its numbers mean nothing
	}
	return c.answer(ctx, o.Changes)
}

func (c *Calendaring) edit(ctx context.Context, by operation.Actor, e EventEditing) (out EditAnswer, err error) {
	o, err := c.run(ctx, by, e, false)
	if err != nil {
		return out, err
	}
	if out, err = c.answer(ctx, o.Changes); err != nil {
		return out, err
	}
	digest, err := digestOf(out.Added, out.Removed, out.Changed)
	out.Proof = c.deps.Sealer.Seal(digest, aboutEdit)
	return out, err
}

func (c *Calendaring) run(ctx context.Context, by operation.Actor, e EventEditing, rehearse bool) (o editing.Outcome, err error) {
	edit, err := c.read(ctx, by, e.Body)
	if err != nil {
		return o, err
	}
	edit.Rehearse, edit.IfMatch = rehearse, e.Tags()
	return c.deps.Shifts.Edit(ctx, edit, planning.Author(by, edit.Body))
}

// read returns the edit that a request describes.
func (c *Calendaring) read(ctx context.Context, by operation.Actor, e EventEdit) (editing.Edit, error) {
	may, err := c.access(ctx, by)
	if err != nil {
		return editing.Edit{}, err
	}
	raw := planning.Author(by, e).Body
	switch e.Action {
	case "create":
		return c.deps.Creation(ctx, may, e.request(), raw)
	case "link":
		drafts := make([]editing.ShiftRequest, len(e.Events))
		for i, item := range e.Events {
			drafts[i] = item.request()
		}
		return c.deps.LinkedCreation(ctx, may, drafts, raw)
	case "edit", "edit_link":
		return c.deps.Change(ctx, may, e.ID, e.Link, e.wanted(), raw)
	case "delete", "delete_link":
		return c.deps.Deletion(ctx, may, e.ID, e.Link)
	case "swap", "swap_from_now":
		return c.swapping(ctx, may, []Side{e.Events[0].Side, e.Events[1].Side}, e.Action == "swap_from_now", raw)
	case "override":
		return c.deps.Overriding(ctx, may, e.IDs, *e.User, oncall.Span{Start: whole(*e.Start), End: whole(*e.End)}, raw)
	case "take":
		return c.taking(ctx, by, may, *e.Team, PagerTake{*e.Role, e.Until, e.User})
	}
	return c.undoing(ctx, may, e)
}

func (c *Calendaring) swapping(ctx context.Context, may editing.Access, given []Side, fromNow bool, raw json.RawMessage) (editing.Edit, error) {
	var sides [2]editing.SideRef
	for i, s := range given {
		sides[i], _ = s.ref() // see checkSides
	}
	return c.deps.Swapping(ctx, may, sides, fromNow, raw)
}

// swap does not change the past: a running shift keeps its person until now.
func (c *Calendaring) swap(ctx context.Context, by operation.Actor, s EventSwap) (none operation.None, err error) {
	may, err := c.access(ctx, by)
	if err != nil {
		return none, err
	}
	author := planning.Author(by, s)
	e, err := c.swapping(ctx, may, s.Events, true, author.Body)
	if err == nil {
		_, err = c.deps.Shifts.Edit(ctx, e, author)
	}
	return none, err
}

// taking returns an edit that puts a person on call for a role of a team from now on.
func (c *Calendaring) taking(ctx context.Context, by operation.Actor, may editing.Access, name string, t PagerTake) (e editing.Edit, err error) {
	team, err := c.deps.ActiveTeam(ctx, name)
	if err != nil {
		return e, err
	}
	role, known, err := c.deps.RoleName(ctx, t.Role)
	if err == nil && !known {
		err = fault.Invalidf("role", "there is no role %q", t.Role)
	}
	if err != nil {
		return e, err
	}
	who, err := c.person(ctx, by, deref(t.User))
	until := whole(deref(t.Until))
	return editing.Edit{Access: may, Selection: editing.Selection{TeamID: team.ID, Running: true, Until: until},
		Change: editing.Take{Role: role, User: who, Until: until}}, err
}

func (c *Calendaring) take(ctx context.Context, by operation.Actor, t PagerTaking) (out Taken, err error) {
	may, err := c.access(ctx, by)
	if err != nil {
		return out, err
	}
	e, err := c.taking(ctx, by, may, t.Team, t.Body)
	if err != nil {
		return out, err
	}
	o, err := c.deps.Shifts.Edit(ctx, e, planning.Author(by, nil))
	if err != nil {
		return out, err
	}
	rows, err := c.deps.Named(ctx, o.Add)
	return Taken{eventsOf(rows)}, err
}

// answer returns the changes of an edit.
func (c *Calendaring) answer(ctx context.Context, changes oncall.Changes) (out EditAnswer, err error) {
	all := slices.Concat(changes.Add, changes.Delete)
	for _, u := range changes.Update {
		all = append(all, u.Before, u.After)
	}
	rows, err := c.deps.Named(ctx, all)
	if err != nil {
		return out, err
	}
	events := make([]EditedEvent, len(rows))
	for i, row := range rows {
		events[i] = EditedEvent{EventOf(row), row.Edited, row.Covers}
	}
	kept := len(changes.Add) + len(changes.Delete)
	out = EditAnswer{Added: events[:len(changes.Add)], Removed: events[len(changes.Add):kept], Changed: []ChangedEvent{}}
	made := slices.Clone(rows[:len(changes.Add)])
	for i := kept; i < len(events); i += 2 {
		out.Changed, made = append(out.Changed, ChangedEvent{events[i], events[i+1]}), append(made, rows[i+1])
	}
	out.Conflicts, err = c.conflicts(ctx, made)
	return out, err
}

// conflicts returns those of the shifts whose person cannot be on call then.
func (c *Calendaring) conflicts(ctx context.Context, shifts []oncall.ShiftRow) ([]planning.Conflict, error) {
	var people []users.ID
	var in oncall.Span
	for i, s := range shifts {
		people = append(people, s.User)
		if i == 0 || s.Start.Before(in.Start) {
			in.Start = s.Start
		}
		if s.End.After(in.End) {
			in.End = s.End
		}
	}
	if len(people) == 0 || in.End.Sub(in.Start) > planning.MaxWindow {
		return []planning.Conflict{}, nil
	}
	absences, err := c.deps.Absences.Absences(ctx, people)
	return planning.Conflicts(absences, shifts, in), err
}

// aboutEdit binds a proof to its use.
const aboutEdit = "edit of shifts"

// digestOf identifies the changes of an answer, so that an undo can only restore what an edit has removed or changed.
func digestOf(added, removed []EditedEvent, changed []ChangedEvent) ([]byte, error) {
	raw, err := json.Marshal([]any{append([]EditedEvent{}, added...), append([]EditedEvent{}, removed...), append([]ChangedEvent{}, changed...)})
	sum := sha256.Sum256(raw)
	return sum[:], err
}

// undoing returns an edit that reverses another one. The request has the lists and the proof of the answer of that edit.
func (c *Calendaring) undoing(ctx context.Context, may editing.Access, e EventEdit) (editing.Edit, error) {
	digest, err := digestOf(e.Added, e.Removed, e.Changed)
	if err != nil {
		return editing.Edit{}, err
	}
	if sealed, err := c.deps.Sealer.Unseal(e.Proof, aboutEdit); err != nil || !bytes.Equal(sealed, digest) {
		return editing.Edit{}, fault.Invalidf("proof", "proof does not belong to these changes: send the answer of the edit back unchanged")
	}
	all := slices.Concat(e.Added, e.Removed)
	for _, one := range e.Changed {
		all = append(all, one.Before, one.After)
	}
	team, err := c.deps.ActiveTeam(ctx, all[0].Team)
	if err != nil {
		return editing.Edit{}, err
	}
	shifts, refusal, err := c.undone(ctx, team, all)
	if err != nil {
		return editing.Edit{}, err
	}
	kept := len(e.Added) + len(e.Removed)
	undo := editing.Undo{Added: shifts[:len(e.Added)], Removed: shifts[len(e.Added):kept], Refusal: refusal}
	selection := editing.Selection{TeamID: team.ID}
	for _, s := range undo.Added {
		selection.IDs = append(selection.IDs, s.ID)
	}
	for i := kept; i < len(shifts); i += 2 {
		undo.Changed = append(undo.Changed, oncall.Update{Before: shifts[i], After: shifts[i+1]})
		selection.IDs = append(selection.IDs, shifts[i+1].ID)
	}
	rows, err := c.deps.ShiftRows(ctx, selection)
	return editing.Edit{Access: may, Selection: selection, Change: undo, Rows: rows}, err
}

// undone returns the shifts of an answer. The refusal is about a role, a person or a schedule that the team does not
// have.
func (c *Calendaring) undone(ctx context.Context, team oncall.Profile, given []EditedEvent) (out []oncall.Shift, refusal, err error) {
	own, err := c.deps.Schedules.ByTeam(ctx, team.ID)
	if err != nil {
		return nil, nil, err
	}
	known := map[oncall.ScheduleID]bool{0: true}
	for _, s := range own {
		known[s.ID] = true
	}
	people, roles := map[string]users.ID{}, map[string]string{}
	for _, g := range given {
		if _, seen := people[g.User]; !seen {
			if people[g.User], err = c.deps.UserID(ctx, g.User); err != nil {
				return nil, nil, err
			}
		}
		if _, seen := roles[g.Role]; !seen {
			role, ok, err := c.deps.RoleName(ctx, g.Role)
			if err != nil {
				return nil, nil, err
			}
			if !ok {
				refusal = fault.Invalidf("role", "there is no role %q any more", g.Role)
			}
			roles[g.Role] = role
		}
		s := oncall.Shift{ID: g.ID, TeamID: team.ID, Role: roles[g.Role], User: people[g.User], Start: g.Start, End: g.End,
			Link: string(g.Link), Note: string(g.Note), Edited: g.Edited, Covers: g.Covers,
			Schedule: deref(g.Schedule)}
		if !known[s.Schedule] || !known[s.Covers] {
			refusal = fault.New(fault.Conflict,
				fmt.Sprintf("the schedule of a shift was deleted from team %s, so the edit cannot be undone", team.Name))
		}
		out = append(out, s)
	}
	return out, refusal, nil
}
