package requests

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
)

// Swapping reads an edit that exchanges the people of two sides. With fromNow, the past part of a running shift keeps
// its person.
func (a Requests) Swapping(ctx context.Context, b jsonbody.Object, fromNow bool) (editing.Edit, error) {
	const title = "Invalid event swap request"
	var items []json.RawMessage
	if !b.Given("events") || json.Unmarshal(b.Members["events"], &items) != nil || len(items) != 2 {
		return editing.Edit{}, fault.Titled(title, "Must provide 2 events")
	}
	swap := editing.Exchange{FromNow: fromNow}
	var c editing.Selection
	for i, item := range items {
		given, err := jsonbody.ParseMember(fmt.Sprintf("events[%d]", i), item, title)
		if err != nil {
			return editing.Edit{}, err
		}
		side, err := readSide(given, title)
		if err != nil {
			return editing.Edit{}, err
		}
		if swap.Sides[i] = side; side.Link != "" {
			c.Links = append(c.Links, side.Link)
		} else {
			c.IDs = append(c.IDs, side.ID)
		}
	}
	return a.about(ctx, c, swap, b.Raw)
}

func readSide(b jsonbody.Object, title string) (editing.SideRef, error) {
	linked, _, err := b.Flag("linked")
	if err != nil {
		return editing.SideRef{}, err
	}
	raw := b.Members["id"]
	var link string
	if linked && json.Unmarshal(raw, &link) == nil && link != "" {
		return editing.SideRef{Link: link}, nil
	}
	id, ok := jsonbody.ParseNumber(raw)
	if linked || !ok || id <= 0 {
		shown := string(raw)
		if shown == "" {
			shown = "null"
		}
		return editing.SideRef{}, fault.Titled(title, "Invalid event id: "+shown)
	}
	return editing.SideRef{ID: oncall.ShiftID(id)}, nil
}

// Swap reads a swap from a request and applies it.
func (a Requests) Swap(w http.ResponseWriter, r *http.Request, fromNow bool) error {
	b, err := jsonbody.Read(w, r, "Invalid event swap request")
	if err != nil {
		return err
	}
	e, err := a.Swapping(r.Context(), b, fromNow)
	if err != nil {
		return err
	}
	_, err = a.Run(r, e)
	return err
}

// Overriding reads an edit that puts a substitute on call for a part of some shifts.
func (a Requests) Overriding(ctx context.Context, b jsonbody.Object) (editing.Edit, error) {
	start, err := b.RequiredTime("start")
	end := jsonbody.Next(&err, b.RequiredTime, "end")
	name := jsonbody.Next(&err, b.Required, "user")
	if err != nil {
		return editing.Edit{}, err
	}
	invalid := fault.New(fault.Invalid, "Invalid name or list of events")
	var raw []json.RawMessage
	if !b.Given("event_ids") {
		return editing.Edit{}, b.Missing("event_ids")
	}
	if json.Unmarshal(b.Members["event_ids"], &raw) != nil {
		return editing.Edit{}, invalid
	}
	var c editing.Selection
	for _, item := range raw {
		id, ok := jsonbody.ParseNumber(item)
		if !ok {
			return editing.Edit{}, invalid
		}
		c.IDs = append(c.IDs, oncall.ShiftID(id))
	}
	slices.Sort(c.IDs)
	c.IDs = slices.Compact(c.IDs)
	user, err := a.UserID(ctx, name)
	if err != nil {
		return editing.Edit{}, err
	}
	if user == 0 || len(c.IDs) == 0 {
		return editing.Edit{}, invalid
	}
	return a.override(ctx, c, start, end, user, b.Raw)
}

func (a Requests) override(ctx context.Context, c editing.Selection, start, end time.Time, user users.ID, raw json.RawMessage) (editing.Edit, error) {
	people, err := a.People.ByID(ctx, []users.ID{user})
	if err != nil {
		return editing.Edit{}, err
	}
	if len(people) == 0 {
		return editing.Edit{}, fault.New(fault.Invalid, "Invalid name or list of events")
	}
	e, err := a.about(ctx, c, editing.Override{Start: start, End: end, Substitute: people[0]}, raw)
	if err == nil && len(e.Rows) == 0 {
		err = fault.New(fault.Invalid, "Invalid name or list of events")
	}
	return e, err
}
