package calendars

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire/jsonbody"
	"github.com/iris-oncall/iris/internal/wire/params"
)

// swapSide is one half of a swap as the request names it.
type swapSide struct {
	id     oncall.ShiftID
	link   string
	linked bool
}

func (s swapSide) of(chosen []oncall.Shift) editing.Side {
	side := editing.Side{Linked: s.linked}
	for _, shift := range chosen {
		if s.linked && shift.Link == s.link || !s.linked && shift.ID == s.id {
			side.Shifts = append(side.Shifts, shift)
		}
	}
	return side
}

// Swapping reads a request to exchange the people of two sides. decide is what is done with them.
func (a Requests) Swapping(ctx context.Context, b jsonbody.Object, decide func(editing.Editor, []editing.Side) (oncall.Changes, error)) (*Edit, error) {
	const title = "Invalid event swap request"
	var items []json.RawMessage
	if !b.Given("events") || json.Unmarshal(b.Members["events"], &items) != nil || len(items) != 2 {
		return nil, fault.Titled(title, "Must provide 2 events")
	}
	sides := make([]swapSide, 2)
	var c editing.Selection
	for i, item := range items {
		given, err := jsonbody.ParseMember(fmt.Sprintf("events[%d]", i), item, title)
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
	e.Decide = func(now time.Time, crew editing.Membership, chosen []oncall.Shift) (editing.Decision, error) {
		changes, err := decide(a.Desk(ctx, now, crew, false), []editing.Side{sides[0].of(chosen), sides[1].of(chosen)})
		return editing.Decision{Changes: changes, Action: "event_swapped", Context: func([]oncall.Shift) any {
			return map[string]any{"request_body": b.Raw, "events_swapped": e.old(chosen)}
		}}, err
	}
	return e, nil
}

func readSide(b jsonbody.Object, title string) (swapSide, error) {
	linked, _, err := b.Flag("linked")
	if err != nil {
		return swapSide{}, err
	}
	raw := b.Members["id"]
	var link string
	if linked && json.Unmarshal(raw, &link) == nil && link != "" {
		return swapSide{link: link, linked: true}, nil
	}
	id, ok := jsonbody.ParseNumber(raw)
	if linked || !ok || id <= 0 {
		shown := string(raw)
		if shown == "" {
			shown = "null"
		}
		return swapSide{}, fault.Titled(title, "Invalid event id: "+shown)
	}
	return swapSide{id: oncall.ShiftID(id)}, nil
}

// Swap reads an exchange from a request and makes it. decide is what is done with the two sides.
func (a Requests) Swap(w http.ResponseWriter, r *http.Request, decide func(editing.Editor, []editing.Side) (oncall.Changes, error)) error {
	b, err := jsonbody.Read(w, r, "Invalid event swap request")
	if err != nil {
		return err
	}
	e, err := a.Swapping(r.Context(), b, decide)
	if err != nil {
		return err
	}
	_, err = a.Run(r, e, b.Raw, false)
	return err
}

// Overriding reads a request to put a substitute in for a while.
func (a Requests) Overriding(ctx context.Context, b jsonbody.Object) (*Edit, error) {
	start, err := b.RequiredTime("start")
	if err != nil {
		return nil, err
	}
	end, err := b.RequiredTime("end")
	if err != nil {
		return nil, err
	}
	name, err := b.Required("user")
	if err != nil {
		return nil, err
	}
	invalid := fault.New(fault.Invalid, "Invalid name or list of events")
	var raw []json.RawMessage
	if !b.Given("event_ids") {
		return nil, b.Missing("event_ids")
	}
	if json.Unmarshal(b.Members["event_ids"], &raw) != nil {
		return nil, invalid
	}
	var c editing.Selection
	for _, item := range raw {
		id, ok := jsonbody.ParseNumber(item)
		if !ok {
			return nil, invalid
		}
		c.IDs = append(c.IDs, oncall.ShiftID(id))
	}
	slices.Sort(c.IDs)
	c.IDs = slices.Compact(c.IDs)
	user, err := a.UserID(ctx, name)
	if err != nil {
		return nil, err
	}
	if user == 0 || len(c.IDs) == 0 {
		return nil, invalid
	}
	return a.override(ctx, c, start, end, user, b.Raw)
}

func (a Requests) override(ctx context.Context, c editing.Selection, start, end time.Time, user users.ID, raw json.RawMessage) (*Edit, error) {
	e, err := a.about(ctx, c)
	if err != nil {
		return nil, err
	}
	if len(e.Rows) == 0 {
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
	e.Decide = func(now time.Time, crew editing.Membership, chosen []oncall.Shift) (editing.Decision, error) {
		changes, after, err := a.Desk(ctx, now, crew, false).Override(chosen, start, end, user)
		e.after = after
		return editing.Decision{Changes: changes, Action: "event_substituted", Context: func(added []oncall.Shift) any {
			return map[string]any{"new_events": e.Survivors(added, crew.Name), "request_body": raw}
		}}, err
	}
	return e, nil
}

// Survivors are the given shifts that are left after an override and the new ones, in the route's shape.
func (e *Edit) Survivors(added []oncall.Shift, team string) []map[string]any {
	var old oncall.ShiftRow
	for _, row := range e.Rows {
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
		out = append(out, params.Pick(EventObject(row), []string{"start", "end", "id", "role", "team", "user", "full_name"}))
	}
	return out
}
