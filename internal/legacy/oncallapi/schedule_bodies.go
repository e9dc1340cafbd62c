package oncallapi

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/legacy/jsonbody"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
)

// BadSchedule is the title of faults of a schedule.
const BadSchedule = calendaring.BadSchedule

// ReadSchedule reads the fields of a schedule that the body has, and finds the people and role that the body names.
func (a Requests) ReadSchedule(ctx context.Context, b jsonbody.Object) (p scheduling.Patch, err error) {
	if b.Given("events") {
		if p.Slots, err = readPattern(b); err != nil {
			return p, err
		}
	}
	if advanced, given, err := b.Flag("advanced_mode"); err != nil {
		return p, err
	} else if given {
		p.Advanced = &advanced
	}
	if n, given, err := b.Number("auto_populate_threshold"); err != nil {
		return p, err
	} else if given {
		p.Threshold = calendaring.AtMost(n)
	}
	if b.Given("role") {
		name, err := b.Text("role")
		if err != nil {
			return p, err
		}
		role, err := a.Role(ctx, name)
		if err != nil {
			return p, fault.When(err, fault.NotFound, Integrity("role not found"))
		}
		p.Role = &role.ID
	}
	return p, a.readScheduler(ctx, b, &p)
}

func readPattern(b jsonbody.Object) ([]scheduling.Slot, error) {
	var items []json.RawMessage
	if json.Unmarshal(b.Members["events"], &items) != nil {
		return nil, fault.Titled(b.Title, "events must be a list")
	}
	out := make([]calendaring.Slot, len(items))
	for i, item := range items {
		e, err := jsonbody.ParseMember(fmt.Sprintf("events[%d]", i), item, b.Title)
		if err != nil {
			return nil, err
		}
		if !e.Has("start") || !e.Has("duration") {
			return nil, fault.Titled(b.Title, "schedule event requires both start and duration fields")
		}
		start, given, err := e.Number("start")
		if err != nil {
			return nil, err
		}
		if !given {
			return nil, fault.Titled(b.Title, "schedule event start cannot be null")
		}
		duration, given, err := e.Number("duration")
		if err != nil {
			return nil, err
		}
		if !given {
			duration = 0
		}
		out[i] = calendaring.Slot{Start: start, Duration: duration}
	}
	return calendaring.SlotsOf(out)
}

// readScheduler reads {"name": ..., "data": [names in order]}.
func (a Requests) readScheduler(ctx context.Context, b jsonbody.Object, p *scheduling.Patch) error {
	if !b.Given("scheduler") {
		return nil
	}
	s, err := jsonbody.ParseMember("scheduler", b.Members["scheduler"], b.Title)
	if err != nil {
		return err
	}
	name, err := s.Text("name")
	if err != nil {
		return err
	}
	names, given, err := s.Texts("data")
	if err != nil {
		return err
	}
	if !given {
		names = nil
	}
	return a.Ordered(ctx, p, calendaring.Scheduler{Name: name, Data: names})
}
