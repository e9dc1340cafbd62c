package calendars

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire/jsonbody"
)

// BadSchedule is the title of faults of a schedule.
const BadSchedule = "invalid schedule"

// SchedulePatch is what a body changes of a schedule; nil leaves a part as it is.
type SchedulePatch struct {
	slots        []scheduling.Slot // as given: merging hides whether basic mode can show them
	advanced     *bool
	threshold    *int
	role         *int64
	algorithm    *scheduling.Algorithm
	order        []users.ID
	Team, Roster *int64
}

// ReadSchedule reads what a body says of a schedule, and looks up who and what it names.
func (a Requests) ReadSchedule(ctx context.Context, b jsonbody.Object) (p SchedulePatch, err error) {
	if b.Given("events") {
		if p.slots, err = readPattern(b); err != nil {
			return p, err
		}
	}
	if advanced, given, err := b.Flag("advanced_mode"); err != nil {
		return p, err
	} else if given {
		p.advanced = &advanced
	}
	if n, given, err := b.Number("auto_populate_threshold"); err != nil {
		return p, err
	} else if given {
		threshold := int(min(max(n, -1), 1<<30))
		p.threshold = &threshold
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
		p.role = &role.ID
	}
	return p, a.readScheduler(ctx, b, &p)
}

// Apply makes the changes and checks the whole. notSimple is the refusal of a pattern that basic mode cannot show.
func (p SchedulePatch) Apply(d *scheduling.ScheduleDraft, title, notSimple string) error {
	set(&d.Advanced, p.advanced)
	switch {
	case p.slots != nil:
		if !d.Advanced && !scheduling.SimplePattern(p.slots) {
			return fault.Titled(title, notSimple)
		}
		d.Pattern = scheduling.MergeSlots(p.slots)
	case p.advanced != nil && !d.Advanced && !simpleOnce(d.Pattern):
		return fault.Titled(title, notSimple)
	}
	set(&d.Threshold, p.threshold)
	set(&d.RoleID, p.role)
	set(&d.TeamID, p.Team)
	set(&d.RosterID, p.Roster)
	if p.algorithm != nil {
		if *p.algorithm == scheduling.ByRotation && d.Rotation == nil {
			return Integrity("scheduler not found")
		}
		d.Algorithm = *p.algorithm
	}
	if d.Algorithm == scheduling.RoundRobin {
		d.Order = p.order
	}
	whole := scheduling.Schedule{Algorithm: d.Algorithm, Pattern: d.Pattern, Rotation: d.Rotation, Threshold: d.Threshold}
	return whole.Check()
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// simpleOnce reports whether a pattern as it is stored, merged, is one that basic mode can show.
func simpleOnce(stored []scheduling.Slot) bool {
	return scheduling.SimplePattern(stored) || scheduling.SimplePattern(halves(stored))
}

// halves cuts slots into shifts of twelve hours, which merging joined.
func halves(stored []scheduling.Slot) []scheduling.Slot {
	const half = 12 * time.Hour
	var out []scheduling.Slot
	for _, s := range stored {
		for s.Duration > half && s.Duration%half == 0 && len(out) <= 14 {
			out = append(out, scheduling.Slot{Start: s.Start, Duration: half})
			s.Start, s.Duration = s.Start+half, s.Duration-half
		}
		out = append(out, s)
	}
	return out
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
		const most = 1 << 31 // seconds; the domain bounds what is sensible
		out[i] = scheduling.Slot{Start: time.Duration(max(min(start, most), -most)) * time.Second, Duration: time.Duration(min(duration, most)) * time.Second}
	}
	return out, nil
}

// MaxNames is how many people one order or rotation may name: each is looked up.
const MaxNames = 500

// readScheduler reads {"name": ..., "data": [names in order]}.
func (a Requests) readScheduler(ctx context.Context, b jsonbody.Object, p *SchedulePatch) error {
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
	known := []scheduling.Algorithm{scheduling.Default, scheduling.RoundRobin, scheduling.NoSkipMatching, scheduling.MultiTeam, scheduling.ByRotation}
	if !slices.Contains(known, algorithm) {
		return Integrity("scheduler not found")
	}
	p.algorithm = &algorithm
	names, given, err := s.Texts("data")
	if err != nil || !given || algorithm != scheduling.RoundRobin {
		return err
	}
	if len(names) > MaxNames {
		return fault.Titled(b.Title, "an order names at most 500 users")
	}
	p.order = []users.ID{}
	for _, n := range names {
		id, err := a.UserID(ctx, n)
		if err != nil {
			return err
		}
		if id == 0 {
			return Integrity("user " + n + " not found")
		}
		if !slices.Contains(p.order, id) {
			p.order = append(p.order, id)
		}
	}
	return nil
}
