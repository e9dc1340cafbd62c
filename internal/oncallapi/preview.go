package oncallapi

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/edits"
)

// previewEdit answers what an edit would change: the same work, done and undone again. The body is the one that the edit
// itself takes, with the action, and with id, link_id or team where the edit has them in its path.
func (a *API) previewEdit(w http.ResponseWriter, r *http.Request) error {
	b, err := readBody(w, r, "")
	if err != nil {
		return err
	}
	action, err := b.required("action")
	if err != nil {
		return err
	}
	e, err := a.previewed(r.Context(), action, b)
	if err != nil {
		return err
	}
	c, err := a.run(r, e, nil, true)
	if err != nil {
		return err
	}
	out, err := a.changesObject(r.Context(), c)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, out)
}

// previewed reads the edit that a preview is about.
func (a *API) previewed(ctx context.Context, action string, b body) (*edit, error) {
	plain := b.without("action", "id", "link_id")
	switch action {
	case "create":
		return a.creation(ctx, plain)
	case "link":
		return a.linkedCreation(ctx, b.members["events"])
	case "swap":
		return a.swapping(ctx, plain, edits.Editor.Swap)
	case "swap_from_now":
		return a.swapping(ctx, plain, edits.Editor.SwapFromNow)
	case "override":
		return a.overriding(ctx, plain)
	case "edit", "delete":
		id, ok, err := b.number("id")
		if err == nil && !ok {
			err = b.missing("id")
		}
		if err != nil {
			return nil, err
		}
		if action == "delete" {
			return a.deletion(ctx, oncall.ShiftID(id))
		}
		return a.change(ctx, oncall.ShiftID(id), plain)
	case "edit_link", "delete_link":
		link, err := b.required("link_id")
		if err != nil {
			return nil, err
		}
		if action == "delete_link" {
			return a.linkedDeletion(ctx, link)
		}
		return a.linkedChange(ctx, link, plain)
	case "take":
		name, err := b.required("team")
		if err != nil {
			return nil, err
		}
		team, err := a.activeTeam(ctx, name)
		if err != nil {
			return nil, err
		}
		return a.taking(ctx, team, plain)
	}
	return nil, fault.Invalidf("action", "action must be one of create, link, edit, edit_link, delete, delete_link, swap, override, take")
}

// without returns the body without some of its members.
func (b body) without(names ...string) body {
	out := body{title: b.title, raw: b.raw, members: map[string]json.RawMessage{}}
	for k, v := range b.members {
		if !has(names, k) {
			out.members[k] = v
		}
	}
	return out
}

// changesObject is a change as the pages show it. Shifts that do not exist yet have the id 0.
func (a *API) changesObject(ctx context.Context, c oncall.Changes) (map[string]any, error) {
	all := append([]oncall.Shift{}, c.Add...)
	for i := range all {
		all[i].ID = 0
	}
	all = append(all, c.Delete...)
	for _, u := range c.Update {
		all = append(all, u.Before, u.After)
	}
	rows, err := a.named(ctx, all)
	if err != nil {
		return nil, err
	}
	objects := eventObjects(rows, eventFields)
	added, removed := objects[:len(c.Add)], objects[len(c.Add):len(c.Add)+len(c.Delete)]
	changed := []map[string]any{}
	for i := len(c.Add) + len(c.Delete); i < len(objects); i += 2 {
		changed = append(changed, map[string]any{"before": objects[i], "after": objects[i+1]})
	}
	return map[string]any{"added": added, "removed": removed, "changed": changed}, nil
}

// taking reads a request to be on call for a role from now on.
func (a *API) taking(ctx context.Context, team oncall.Profile, b body) (*edit, error) {
	role, err := b.required("role")
	if err != nil {
		return nil, err
	}
	proper, known, err := a.roleName(ctx, role)
	if err != nil {
		return nil, err
	}
	if !known {
		return nil, fault.Invalidf("role", "there is no role %q", role)
	}
	until, _, err := b.at("until")
	if err != nil {
		return nil, err
	}
	who, err := a.personOf(ctx, b)
	if err != nil {
		return nil, err
	}
	return &edit{
		choice: edits.Selection{TeamID: team.ID, Running: true, Until: until},
		decide: func(now time.Time, crew edits.Membership, chosen []oncall.Shift) (edits.Decision, error) {
			c, err := a.desk(ctx, now, crew, true).TakePager(chosen, proper, who.ID, until)
			return edits.Decision{Changes: c, Action: "pager_taken", Context: func(added []oncall.Shift) any {
				return map[string]any{"user": who.Name, "role": proper, "event_ids": shiftIDs(added)}
			}}, err
		},
	}, nil
}

// takePager puts the caller on call for a role of the team, at once.
func (a *API) takePager(w http.ResponseWriter, r *http.Request) error {
	team, err := a.team(r)
	if err != nil {
		return err
	}
	b, err := readBody(w, r, "")
	if err != nil {
		return err
	}
	e, err := a.taking(r.Context(), team, b)
	if err != nil {
		return err
	}
	c, err := a.run(r, e, nil, false)
	if err != nil {
		return err
	}
	rows, err := a.named(r.Context(), c.Add)
	if err != nil {
		return err
	}
	return answer(w, http.StatusCreated, map[string]any{"shifts": eventObjects(rows, eventFields)})
}
