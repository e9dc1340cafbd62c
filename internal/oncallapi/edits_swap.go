package oncallapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/edits"
	"github.com/iris-oncall/iris/internal/users"
)

// swapSide is one half of a swap as the request names it.
type swapSide struct {
	id     oncall.ShiftID
	link   string
	linked bool
}

func (s swapSide) of(chosen []oncall.Shift) edits.Side {
	side := edits.Side{Linked: s.linked}
	for _, shift := range chosen {
		if s.linked && shift.Link == s.link || !s.linked && shift.ID == s.id {
			side.Shifts = append(side.Shifts, shift)
		}
	}
	return side
}

// swapping reads a request to exchange the people of two sides (docs/reference/oncall-v0.md 6.5). decide is what is done with them.
func (a *API) swapping(ctx context.Context, b body, decide func(edits.Editor, []edits.Side) (oncall.Changes, error)) (*edit, error) {
	const title = "Invalid event swap request"
	var items []json.RawMessage
	if !b.given("events") || json.Unmarshal(b.members["events"], &items) != nil || len(items) != 2 {
		return nil, fault.Titled(title, "Must provide 2 events")
	}
	sides := make([]swapSide, 2)
	var c edits.Selection
	for i, item := range items {
		given, err := parseMember(fmt.Sprintf("events[%d]", i), item, title)
		if err != nil {
			return nil, err
		}
		if sides[i], err = readSide(given, title); err != nil {
			return nil, err
		}
		if sides[i].linked {
			c.Links = append(c.Links, sides[i].link)
		} else {
			c.IDs = append(c.IDs, sides[i].id)
		}
	}
	e, err := a.about(ctx, c)
	if err != nil {
		return nil, err
	}
	e.decide = func(now time.Time, crew edits.Membership, chosen []oncall.Shift) (edits.Decision, error) {
		changes, err := decide(a.desk(ctx, now, crew, false), []edits.Side{sides[0].of(chosen), sides[1].of(chosen)})
		return edits.Decision{Changes: changes, Action: "event_swapped", Context: func([]oncall.Shift) any {
			return map[string]any{"request_body": b.raw, "events_swapped": e.old(chosen)}
		}}, err
	}
	return e, nil
}

func readSide(b body, title string) (swapSide, error) {
	linked, _, err := b.flag("linked")
	if err != nil {
		return swapSide{}, err
	}
	raw := b.members["id"]
	var link string
	if linked && json.Unmarshal(raw, &link) == nil && link != "" {
		return swapSide{link: link, linked: true}, nil
	}
	id, ok := number(raw)
	if linked || !ok || id <= 0 {
		shown := string(raw)
		if shown == "" {
			shown = "null"
		}
		return swapSide{}, fault.Titled(title, "Invalid event id: "+shown)
	}
	return swapSide{id: oncall.ShiftID(id)}, nil
}

func (a *API) swapEvents(w http.ResponseWriter, r *http.Request) error {
	if err := a.swap(w, r, edits.Editor.Swap); err != nil {
		return err
	}
	return empty(w, http.StatusOK)
}

// swapFromNow leaves what is past of a running shift to the person who had it.
func (a *API) swapFromNow(w http.ResponseWriter, r *http.Request) error {
	if err := a.swap(w, r, edits.Editor.SwapFromNow); err != nil {
		return err
	}
	return empty(w, http.StatusNoContent)
}

func (a *API) swap(w http.ResponseWriter, r *http.Request, decide func(edits.Editor, []edits.Side) (oncall.Changes, error)) error {
	b, err := readBody(w, r, "Invalid event swap request")
	if err != nil {
		return err
	}
	e, err := a.swapping(r.Context(), b, decide)
	if err != nil {
		return err
	}
	_, err = a.run(r, e, b.raw, false)
	return err
}

// overriding reads a request to put a substitute in for a while (docs/reference/oncall-v0.md 6.6).
func (a *API) overriding(ctx context.Context, b body) (*edit, error) {
	start, err := b.mustAt("start")
	if err != nil {
		return nil, err
	}
	end, err := b.mustAt("end")
	if err != nil {
		return nil, err
	}
	name, err := b.required("user")
	if err != nil {
		return nil, err
	}
	invalid := fault.New(fault.Invalid, "Invalid name or list of events")
	var raw []json.RawMessage
	if !b.given("event_ids") {
		return nil, b.missing("event_ids")
	}
	if json.Unmarshal(b.members["event_ids"], &raw) != nil {
		return nil, invalid
	}
	var c edits.Selection
	for _, item := range raw {
		id, ok := number(item)
		if !ok {
			return nil, invalid
		}
		c.IDs = append(c.IDs, oncall.ShiftID(id))
	}
	slices.Sort(c.IDs)
	c.IDs = slices.Compact(c.IDs)
	user, err := a.userID(ctx, name)
	if err != nil {
		return nil, err
	}
	if user == 0 || len(c.IDs) == 0 {
		return nil, invalid
	}
	return a.override(ctx, c, start, end, user, b.raw)
}

func (a *API) override(ctx context.Context, c edits.Selection, start, end time.Time, user users.ID, raw json.RawMessage) (*edit, error) {
	e, err := a.about(ctx, c)
	if err != nil {
		return nil, err
	}
	if len(e.rows) == 0 {
		return nil, fault.New(fault.Invalid, "Invalid name or list of events")
	}
	people, err := a.People.ByID(ctx, []users.ID{user})
	if err != nil {
		return nil, err
	}
	if len(people) == 0 {
		return nil, fault.New(fault.Invalid, "Invalid name or list of events")
	}
	e.substitute = people[0]
	e.decide = func(now time.Time, crew edits.Membership, chosen []oncall.Shift) (edits.Decision, error) {
		changes, after, err := a.desk(ctx, now, crew, false).Override(chosen, start, end, user)
		e.after = after
		return edits.Decision{Changes: changes, Action: "event_substituted", Context: func(added []oncall.Shift) any {
			return map[string]any{"new_events": e.survivors(added, crew.Name), "request_body": raw}
		}}, err
	}
	return e, nil
}

// survivors are the given shifts that are left after an override and the new ones, in the route's shape.
func (e *edit) survivors(added []oncall.Shift, team string) []map[string]any {
	var old oncall.ShiftRow
	for _, row := range e.rows {
		old = row
		break // all have the same user
	}
	out := []map[string]any{}
	next := 0
	for _, s := range e.after {
		if s.ID == 0 && next < len(added) {
			s.ID = added[next].ID
			next++
		}
		row := oncall.ShiftRow{Shift: s, Team: team, UserName: old.UserName, FullName: old.FullName}
		if s.User == e.substitute.ID {
			row.UserName, row.FullName = e.substitute.Name, e.substitute.FullName
		}
		out = append(out, pick(eventObject(row), []string{"start", "end", "id", "role", "team", "user", "full_name"}))
	}
	return out
}

func (a *API) overrideEvents(w http.ResponseWriter, r *http.Request) error {
	b, err := readBody(w, r, "Invalid override request")
	if err != nil {
		return err
	}
	e, err := a.overriding(r.Context(), b)
	if err != nil {
		return err
	}
	c, err := a.run(r, e, b.raw, false)
	if err != nil {
		return err
	}
	team := ""
	for _, row := range e.rows {
		team = row.Team
	}
	return answer(w, http.StatusOK, e.survivors(c.Add, team))
}
