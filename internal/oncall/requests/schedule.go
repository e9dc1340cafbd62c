package requests

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
)

// BadSchedule is the title of faults of a schedule.
const BadSchedule = "invalid schedule"

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
		threshold := int(min(max(n, -1), 1<<30))
		p.Threshold = &threshold
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
	out := make([]scheduling.Slot, len(items))
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
		if !given || duration <= 0 {
			return nil, fault.Titled(b.Title, "schedule event duration must be positive")
		}
		const most = 1 << 31 // seconds; the domain has the real limit
		out[i] = scheduling.Slot{Start: time.Duration(max(min(start, most), -most)) * time.Second,
			Duration: time.Duration(min(duration, most)) * time.Second}
	}
	return out, nil
}

// MaxNames is the maximum number of people in one order or rotation. Each name is looked up.
const MaxNames = 500

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
	algorithm := scheduling.Algorithm(cmp.Or(name, string(scheduling.Default)))
	known := []scheduling.Algorithm{scheduling.Default, scheduling.RoundRobin, scheduling.NoSkipMatching,
		scheduling.MultiTeam, scheduling.ByRotation}
	if !slices.Contains(known, algorithm) {
		return Integrity("scheduler not found")
	}
	p.Algorithm = &algorithm
	names, given, err := s.Texts("data")
	if err != nil || !given || algorithm != scheduling.RoundRobin {
		return err
	}
	if len(names) > MaxNames {
		return fault.Titled(b.Title, "an order names at most 500 users")
	}
	p.Order = []users.ID{}
	for _, n := range names {
		id, err := a.UserID(ctx, n)
		if err != nil {
			return err
		}
		if id == 0 {
			return Integrity("user " + n + " not found")
		}
		if !slices.Contains(p.Order, id) {
			p.Order = append(p.Order, id)
		}
	}
	return nil
}
