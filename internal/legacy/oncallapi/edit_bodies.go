package oncallapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/legacy/jsonbody"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/oncall/editing"
)

// Run applies the edit.
func (a Requests) Run(r *http.Request, e editing.Edit) (editing.Outcome, error) {
	return a.Shifts.Edit(r.Context(), e, By(r, e.Body))
}

// access returns the permissions of the caller for edits of a team that the request names.
func (a Requests) access(ctx context.Context) editing.Access {
	return editing.Access{Caller: a.Planner(ctx), Grace: a.Grace, Named: true, Link: calendaring.NewLink()}
}

// Titles of faults.
const (
	BadEvent  = calendaring.BadEvent
	BadUpdate = "Invalid event update"
	badSwap   = "Invalid event swap request"
)

// draft reads a requested shift.
func draft(b jsonbody.Object) (d editing.ShiftRequest, err error) {
	d.Start, err = b.RequiredTime("start")
	d.End = jsonbody.Next(&err, b.RequiredTime, "end")
	d.UserName = jsonbody.Next(&err, b.Required, "user")
	d.Role = jsonbody.Next(&err, b.Required, "role")
	d.TeamName = jsonbody.Next(&err, b.Text, "team")
	d.Note = jsonbody.Next(&err, b.Text, "note")
	if err != nil {
		return d, err
	}
	id, _, err := b.Number("schedule_id")
	d.Schedule = oncall.ScheduleID(id)
	return d, err
}

// Creation reads an edit that adds one shift.
func (a Requests) Creation(ctx context.Context, b jsonbody.Object) (editing.Edit, error) {
	d, err := draft(b)
	if err == nil && d.TeamName == "" {
		err = b.Missing("team")
	}
	if err != nil {
		return editing.Edit{}, err
	}
	return a.Finder.Creation(ctx, a.access(ctx), d, b.Raw)
}

// LinkedCreation reads an edit that adds several shifts with a common link id.
func (a Requests) LinkedCreation(ctx context.Context, raw json.RawMessage) (editing.Edit, error) {
	const title = "Invalid argument"
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return editing.Edit{}, fault.Titled(title, "events argument needs to be a list")
	}
	if len(items) == 0 {
		return editing.Edit{}, fault.Titled(title, "events list cannot be empty")
	}
	if len(items) > calendaring.MaxLinked {
		return editing.Edit{}, fault.Titled(title, fmt.Sprintf("events list cannot hold more than %d events",
			calendaring.MaxLinked))
	}
	drafts := make([]editing.ShiftRequest, len(items))
	for i, item := range items {
		b, err := jsonbody.ParseMember(fmt.Sprintf("events[%d]", i), item, BadEvent)
		if err != nil {
			return editing.Edit{}, err
		}
		if i == 0 && !b.Given("team") {
			return editing.Edit{}, fault.Titled(title, "event missing team attribute")
		}
		if drafts[i], err = draft(b); err != nil {
			return editing.Edit{}, err
		}
	}
	return a.Finder.LinkedCreation(ctx, a.access(ctx), drafts, raw)
}

// wanted reads the changes of a shift in a body. Keys that are not in allowed are refused.
func wanted(b jsonbody.Object, allowed ...string) (w calendaring.Wanted, err error) {
	for key := range b.Members {
		if !slices.Contains(allowed, key) {
			return w, fault.Titled(BadUpdate, "Invalid column")
		}
	}
	for name, at := range map[string]**time.Time{"start": &w.Start, "end": &w.End} {
		t, ok, err := b.Time(name)
		if err != nil {
			return w, err
		}
		if ok {
			*at = &t
		}
	}
	for name, text := range map[string]**string{"role": &w.Role, "user": &w.User} {
		if !b.Given(name) {
			continue
		}
		if *text, err = b.TextPtr(name); err != nil {
			return w, err
		}
	}
	w.Note, err = b.TextPtr("note")
	return w, err
}

// Change reads an edit that changes one shift.
func (a Requests) Change(ctx context.Context, id oncall.ShiftID, b jsonbody.Object) (editing.Edit, error) {
	w, err := wanted(b, "start", "end", "role", "user", "note")
	if err != nil {
		return editing.Edit{}, err
	}
	return a.Finder.Change(ctx, a.access(ctx), id, "", w, b.Raw)
}

// LinkedChange reads an edit that changes all shifts of a link.
func (a Requests) LinkedChange(ctx context.Context, link string, b jsonbody.Object) (editing.Edit, error) {
	w, err := wanted(b, "role", "user", "note")
	if err != nil {
		return editing.Edit{}, err
	}
	return a.Finder.Change(ctx, a.access(ctx), 0, link, w, b.Raw)
}

// ErrGone is the refusal for an object that does not exist.
var ErrGone = fault.New(fault.NotFound, "not found")

// Deletion returns an edit that deletes one shift, or with a link all its shifts.
func (a Requests) Deletion(ctx context.Context, id oncall.ShiftID, link string) (editing.Edit, error) {
	return a.Finder.Deletion(ctx, a.access(ctx), id, link)
}

// Swapping reads an edit that exchanges the people of two sides.
func (a Requests) Swapping(ctx context.Context, b jsonbody.Object) (editing.Edit, error) {
	var items []json.RawMessage
	if !b.Given("events") || json.Unmarshal(b.Members["events"], &items) != nil || len(items) != 2 {
		return editing.Edit{}, fault.Titled(badSwap, "Must provide 2 events")
	}
	var sides [2]editing.SideRef
	for i, item := range items {
		given, err := jsonbody.ParseMember(fmt.Sprintf("events[%d]", i), item, badSwap)
		if err != nil {
			return editing.Edit{}, err
		}
		if sides[i], err = readSide(given); err != nil {
			return editing.Edit{}, err
		}
	}
	return a.Finder.Swapping(ctx, a.access(ctx), sides, false, b.Raw)
}

func readSide(b jsonbody.Object) (editing.SideRef, error) {
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
		return editing.SideRef{}, fault.Titled(badSwap, "Invalid event id: "+shown)
	}
	return editing.SideRef{ID: oncall.ShiftID(id)}, nil
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
	var ids []oncall.ShiftID
	for _, item := range raw {
		id, ok := jsonbody.ParseNumber(item)
		if !ok {
			return editing.Edit{}, invalid
		}
		ids = append(ids, oncall.ShiftID(id))
	}
	return a.Finder.Overriding(ctx, a.access(ctx), ids, name, oncall.Span{Start: start, End: end}, b.Raw)
}
