package oncallapi

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/legacy/jsonbody"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
)

// Titles of faults.
const (
	BadEvent  = calendaring.BadEvent
	BadUpdate = "Invalid event update"
	badSwap   = "Invalid event swap request"
)

// fields reads a requested shift.
func fields(b jsonbody.Object) (f calendaring.Fields, err error) {
	start, err := b.RequiredTime("start")
	end := jsonbody.Next(&err, b.RequiredTime, "end")
	user := jsonbody.Next(&err, b.Required, "user")
	role := jsonbody.Next(&err, b.Required, "role")
	team := jsonbody.Next(&err, b.Text, "team")
	note := jsonbody.Next(&err, b.Text, "note")
	if err != nil {
		return f, err
	}
	id, _, err := b.Number("schedule_id")
	schedule := oncall.ScheduleID(id)
	return calendaring.Fields{Team: &team, User: &user, Role: &role, Start: &start, End: &end, Note: noted(&note),
		Schedule: &schedule}, err
}

// noted returns a note as operations take it; nil = none is given.
func noted(note *string) operation.Optional[string] {
	return operation.Optional[string]{Given: note != nil, Value: note}
}

// creation reads an edit that adds one shift.
func creation(b jsonbody.Object) (calendaring.EventEdit, error) {
	f, err := fields(b)
	if err == nil && *f.Team == "" {
		err = b.Missing("team")
	}
	return calendaring.EventEdit{Action: "create", Fields: f}, err
}

// linkedCreation reads an edit that adds several shifts with a common link id.
func linkedCreation(raw json.RawMessage) (e calendaring.EventEdit, err error) {
	const title = "Invalid argument"
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return e, fault.Titled(title, "events argument needs to be a list")
	}
	if len(items) == 0 {
		return e, fault.Titled(title, "events list cannot be empty")
	}
	if len(items) > calendaring.MaxLinked {
		return e, fault.Titled(title, fmt.Sprintf("events list cannot hold more than %d events", calendaring.MaxLinked))
	}
	e = calendaring.EventEdit{Action: "link", Events: make([]calendaring.EventItem, len(items))}
	for i, item := range items {
		b, err := jsonbody.ParseMember(fmt.Sprintf("events[%d]", i), item, BadEvent)
		if err != nil {
			return e, err
		}
		if i == 0 && !b.Given("team") {
			return e, fault.Titled(title, "event missing team attribute")
		}
		if e.Events[i].Fields, err = fields(b); err != nil {
			return e, err
		}
	}
	return e, nil
}

// change reads the changes of shifts in a body. Keys that are not in allowed are refused.
func change(b jsonbody.Object, allowed ...string) (e calendaring.EventEdit, err error) {
	for key := range b.Members {
		if !slices.Contains(allowed, key) {
			return e, fault.Titled(BadUpdate, "Invalid column")
		}
	}
	for name, at := range map[string]**time.Time{"start": &e.Start, "end": &e.End} {
		t, ok, err := b.Time(name)
		if err != nil {
			return e, err
		}
		if ok {
			*at = &t
		}
	}
	for name, text := range map[string]**string{"role": &e.Role, "user": &e.User} {
		if !b.Given(name) {
			continue
		}
		if *text, err = b.TextPtr(name); err != nil {
			return e, err
		}
	}
	note, err := b.TextPtr("note")
	e.Note = noted(note)
	return e, err
}

// ErrGone is the refusal for an object that does not exist.
var ErrGone = fault.New(fault.NotFound, "not found")

// swapping reads an edit that exchanges the people of two sides.
func swapping(b jsonbody.Object) (e calendaring.EventEdit, err error) {
	var items []json.RawMessage
	if !b.Given("events") || json.Unmarshal(b.Members["events"], &items) != nil || len(items) != 2 {
		return e, fault.Titled(badSwap, "Must provide 2 events")
	}
	e = calendaring.EventEdit{Action: "swap", Events: make([]calendaring.EventItem, len(items))}
	for i, item := range items {
		given, err := jsonbody.ParseMember(fmt.Sprintf("events[%d]", i), item, badSwap)
		if err != nil {
			return e, err
		}
		if e.Events[i].Side, err = readSide(given); err != nil {
			return e, err
		}
	}
	return e, nil
}

func readSide(b jsonbody.Object) (calendaring.Side, error) {
	linked, _, err := b.Flag("linked")
	if err != nil {
		return calendaring.Side{}, err
	}
	raw := b.Members["id"]
	var link string
	if linked && json.Unmarshal(raw, &link) == nil && link != "" {
		return calendaring.Side{ID: raw, Linked: &linked}, nil
	}
	id, ok := jsonbody.ParseNumber(raw)
	if linked || !ok || id <= 0 {
		shown := string(raw)
		if shown == "" {
			shown = "null"
		}
		return calendaring.Side{}, fault.Titled(badSwap, "Invalid event id: "+shown)
	}
	return calendaring.Side{ID: strconv.AppendInt(nil, id, 10)}, nil
}

// overriding reads an edit that puts a substitute on call for a part of some shifts.
func overriding(b jsonbody.Object) (e calendaring.EventEdit, err error) {
	start, err := b.RequiredTime("start")
	end := jsonbody.Next(&err, b.RequiredTime, "end")
	name := jsonbody.Next(&err, b.Required, "user")
	if err != nil {
		return e, err
	}
	invalid := fault.New(fault.Invalid, "Invalid name or list of events")
	var raw []json.RawMessage
	if !b.Given("event_ids") {
		return e, b.Missing("event_ids")
	}
	if json.Unmarshal(b.Members["event_ids"], &raw) != nil {
		return e, invalid
	}
	ids := make([]oncall.ShiftID, len(raw))
	for i, item := range raw {
		id, ok := jsonbody.ParseNumber(item)
		if !ok {
			return e, invalid
		}
		ids[i] = oncall.ShiftID(id)
	}
	return calendaring.EventEdit{Action: "override", Fields: calendaring.Fields{User: &name, Start: &start, End: &end}, IDs: ids}, nil
}
