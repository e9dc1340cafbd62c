package pages

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/oncall/planning"
	"github.com/iris-oncall/iris/internal/oncall/requests"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/routing"
)

func (a edits) routes() []routing.Route {
	return []routing.Route{
		routing.Post("/v1/events/preview", routing.Write, a.previewEdit),
		routing.Post("/v1/events/edit", routing.Write, a.makeEdit),
		routing.Post("/v1/events/swap", routing.Write, a.swapFromNow),
		routing.Post("/v1/teams/{team}/take", routing.Write, a.takePager),
	}
}

// swapFromNow swaps shifts from now on. The past part of a running shift keeps its person. Members of the team may.
func (a edits) swapFromNow(w http.ResponseWriter, r *http.Request) error {
	return routing.Done(w, http.StatusNoContent, a.Swap(w, r, true))
}

// previewEdit answers with the changes that an edit would make. It makes them in a transaction and rolls the
// transaction back. The body is the body of the edit plus the field action. It also has id, link_id or team if the path
// of the edit has them. Callers who may not make the edit get the same refusal.
func (a edits) previewEdit(w http.ResponseWriter, r *http.Request) error {
	return a.run(w, r, true)
}

// makeEdit makes an edit and answers with its changes. The body is the one of the preview. With the changes as the body
// and the action undo, it reverses the edit. If-Match of one changed or deleted shift that does not match is a 412.
func (a edits) makeEdit(w http.ResponseWriter, r *http.Request) error {
	return a.run(w, r, false)
}

func (a edits) run(w http.ResponseWriter, r *http.Request, rehearse bool) error {
	b, err := jsonbody.Read(w, r, "")
	if err != nil {
		return err
	}
	action, err := b.Required("action")
	if err != nil {
		return err
	}
	e, err := a.previewed(r.Context(), action, b)
	if err != nil {
		return err
	}
	e.Rehearse, e.IfMatch = rehearse, routing.IfMatch(r)
	o, err := a.Run(r, e)
	if err != nil {
		return err
	}
	if rehearse {
		for i := range o.Add {
			o.Add[i].ID = 0 // the preview was rolled back, so its numbers mean nothing
		}
	}
	out, err := a.changesObject(r.Context(), o.Changes)
	if err == nil && !rehearse {
		out["proof"], err = a.proof(out)
	}
	return routing.Reply(w, http.StatusOK, out, err)
}

// previewed reads the edit that the body describes.
func (a edits) previewed(ctx context.Context, action string, b jsonbody.Object) (editing.Edit, error) {
	plain := b.Without("action", "id", "link_id")
	switch action {
	case "create":
		return a.Creation(ctx, plain)
	case "link":
		return a.LinkedCreation(ctx, b.Members["events"])
	case "swap":
		return a.Swapping(ctx, plain, false)
	case "swap_from_now":
		return a.Swapping(ctx, plain, true)
	case "override":
		return a.Overriding(ctx, plain)
	case "edit", "delete":
		id, ok, err := b.Number("id")
		if err == nil && !ok {
			err = b.Missing("id")
		}
		if err != nil {
			return editing.Edit{}, err
		}
		if action == "delete" {
			return a.Deletion(ctx, oncall.ShiftID(id))
		}
		return a.Change(ctx, oncall.ShiftID(id), plain)
	case "edit_link", "delete_link":
		link, err := b.Required("link_id")
		if err != nil {
			return editing.Edit{}, err
		}
		if action == "delete_link" {
			return a.LinkedDeletion(ctx, link)
		}
		return a.LinkedChange(ctx, link, plain)
	case "take":
		name, err := b.Required("team")
		if err != nil {
			return editing.Edit{}, err
		}
		team, err := a.ActiveTeam(ctx, name)
		if err != nil {
			return editing.Edit{}, err
		}
		return a.taking(ctx, team, plain)
	case "undo":
		return a.undoing(ctx, b)
	}
	return editing.Edit{}, fault.Invalidf("action",
		"action must be one of create, link, edit, edit_link, delete, delete_link, swap, swap_from_now, override, take, undo")
}

// changesObject returns the changes of an edit for the answer. What only an undo reads is in edited and covers_id.
func (a edits) changesObject(ctx context.Context, c oncall.Changes) (map[string]any, error) {
	all := append(append([]oncall.Shift{}, c.Add...), c.Delete...)
	for _, u := range c.Update {
		all = append(all, u.Before, u.After)
	}
	rows, err := a.Named(ctx, all)
	if err != nil {
		return nil, err
	}
	objects := requests.EventObjects(rows, requests.EventFields)
	for i, row := range rows {
		objects[i]["edited"], objects[i]["covers_id"] = row.Edited, row.Covers
	}
	kept := len(c.Add) + len(c.Delete)
	added, removed, made := objects[:len(c.Add)], objects[len(c.Add):kept], slices.Clone(rows[:len(c.Add)])
	changed := []map[string]any{}
	for i := kept; i < len(objects); i += 2 {
		changed, made = append(changed, map[string]any{"before": objects[i], "after": objects[i+1]}), append(made,
			rows[i+1])
	}
	conflicts, err := a.conflictsWith(ctx, made)
	return map[string]any{"added": added, "removed": removed, "changed": changed, "conflicts": conflicts}, err
}

// conflictsWith returns those of the shifts whose person is unavailable during the shift.
func (a edits) conflictsWith(ctx context.Context, shifts []oncall.ShiftRow) ([]planning.Conflict, error) {
	var people []users.ID
	var from, to time.Time
	for i, s := range shifts {
		people = append(people, s.User)
		if i == 0 || s.Start.Before(from) {
			from = s.Start
		}
		if s.End.After(to) {
			to = s.End
		}
	}
	if len(people) == 0 || to.Sub(from) > MaxWindow {
		return []planning.Conflict{}, nil
	}
	absences, err := a.Unavailability.Absences(ctx, people)
	return planning.Conflicts(absences, shifts, oncall.Span{Start: from, End: to}), err
}

// taking reads an edit that puts a person on call for a role from now on.
func (a edits) taking(ctx context.Context, team oncall.Profile, b jsonbody.Object) (editing.Edit, error) {
	role, err := b.Required("role")
	if err != nil {
		return editing.Edit{}, err
	}
	proper, known, err := a.RoleName(ctx, role)
	if err != nil {
		return editing.Edit{}, err
	}
	if !known {
		return editing.Edit{}, fault.Invalidf("role", "there is no role %q", role)
	}
	until, _, err := b.Time("until")
	if err != nil {
		return editing.Edit{}, err
	}
	who, err := a.PersonOf(ctx, b)
	if err != nil {
		return editing.Edit{}, err
	}
	return editing.Edit{
		Access:    a.Access(ctx, true),
		Selection: editing.Selection{TeamID: team.ID, Running: true, Until: until},
		Change:    editing.Take{Role: proper, User: who, Until: until},
	}, nil
}

// takePager puts the caller, or the person whom an application names, on call for a role of the team at once. Members
// of the team may.
func (a edits) takePager(w http.ResponseWriter, r *http.Request) error {
	team, b, err := requests.WithBody(w, r, "", a.Team)
	if err != nil {
		return err
	}
	e, err := a.taking(r.Context(), team, b)
	if err != nil {
		return err
	}
	o, err := a.Run(r, e)
	if err != nil {
		return err
	}
	rows, err := a.Named(r.Context(), o.Add)
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusCreated,
		map[string]any{"shifts": requests.EventObjects(rows, requests.EventFields)})
}
