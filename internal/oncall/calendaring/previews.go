package calendaring

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/planning"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
)

// Rotations computes the shifts that a schedule would make.
type Rotations interface {
	Rehearse(ctx context.Context, draft scheduling.Schedule, roster int64, start time.Time,
		window oncall.Span) (scheduling.Result, error)
}

// Switch is true or false. It may be written as 1 or 0, as in Oncall. In a pointer, null is as if it was not given.
type Switch bool

// UnmarshalJSON implements json.Unmarshaler.
func (s *Switch) UnmarshalJSON(raw []byte) error {
	*s = string(raw) == "true" || string(raw) == "1"
	return nil
}

// Schema implements huma.SchemaProvider.
func (Switch) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Enum: []any{true, false, 0.0, 1.0, nil}}
}

// Slot is a part of each week.
type Slot struct {
	Start    int64 `json:"start" doc:"Seconds since the begin of the week, Sunday at midnight on the clock of the team."`
	Duration int64 `json:"duration" doc:"Seconds."`
}

// Scheduler says in what order people take turns in a weekly schedule.
type Scheduler struct {
	Name string   `json:"name,omitempty" nullable:"true" doc:"default, round-robin, no-skip-matching or multi-team."`
	Data []string `json:"data,omitempty" nullable:"true" maxItems:"500" doc:"People in their order, of round-robin."`
}

// ScheduleDraft is a rotation (layers) or a weekly schedule (events) that is not saved, and the time to foresee.
type ScheduleDraft struct {
	ID        *oncall.ScheduleID `json:"id,omitempty" nullable:"true" doc:"The stored schedule that it replaces."`
	Start     time.Time          `json:"start"`
	End       time.Time          `json:"end"`
	Name      string             `json:"name,omitempty" nullable:"true"`
	Role      string             `json:"role"`
	Roster    string             `json:"roster"`
	Threshold *int               `json:"auto_populate_threshold,omitempty" nullable:"true" doc:"For how many days ahead shifts are made; default: 21."`
	Layers    []planning.Layer   `json:"layers,omitempty" nullable:"true"`
	Slots     []Slot             `json:"events,omitempty" nullable:"true" maxItems:"1000"`
	Advanced  *Switch            `json:"advanced_mode,omitempty" doc:"true: any events; false: one event of 7 or 14 days, or 7 or 14 events of 12 hours."`
	Scheduler *Scheduler         `json:"scheduler,omitempty"`
}

// DraftPreview asks what a schedule of a team would make.
type DraftPreview struct {
	users.OneTeam
	Body ScheduleDraft `json:"body"`
}

// Unfilled is a time for which nobody can be found.
type Unfilled struct {
	Role  string    `json:"role"`
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
	Why   string    `json:"why"`
}

// DraftShifts is what a schedule would make.
type DraftShifts struct {
	Shifts   []Event    `json:"shifts"`
	Kept     []Event    `json:"kept" doc:"Shifts made or changed by hand, around which it works."`
	Unfilled []Unfilled `json:"unfilled"`
}

// The previews of schedules. Both are the same: the first is an older form.
var (
	PreviewRotation = draftPreview("rotation.preview", "/v1/teams/{team}/rotations/preview", "Older form of POST /v1/teams/{team}/schedules/preview.")
	PreviewSchedule = draftPreview("schedule.preview", "/v1/teams/{team}/schedules/preview", "")
)

func draftPreview(name, path, note string) operation.Def[DraftPreview, DraftShifts] {
	return operation.Define[DraftPreview, DraftShifts](operation.Doc{Name: name, Method: http.MethodPost, Path: path,
		Status: http.StatusOK, Needs: operation.Member, Rule: operation.InTeam, Note: note, Errors: []int{404, 409, 422},
		Summary: "What a schedule or rotation would make before it is saved; changes nothing"})
}

// foresee stores nothing.
func (c *Calendaring) foresee(ctx context.Context, by operation.Actor, p DraftPreview) (out DraftShifts, err error) {
	t, err := c.deps.ActiveTeam(ctx, p.Team)
	if err != nil {
		return out, err
	}
	who, err := auth.PlannerOf(ctx, c.deps.Memberships, by)
	if err == nil {
		err = who.MayEditCalendar(t.ID, t.Name)
	}
	if err != nil {
		return out, err
	}
	d, role, old, err := c.draft(ctx, t, p.Body)
	if err != nil {
		return out, err
	}
	span := oncall.Span{Start: whole(p.Body.Start), End: whole(p.Body.End)}
	if !span.Start.Before(span.End) {
		return out, fault.Invalidf("end", "end must be after start")
	}
	now, err := c.deps.People.Clock(ctx)
	if err != nil {
		return out, err
	}
	span.Start = clock.Later(span.Start, now) // past shifts do not change
	s := scheduling.Schedule{ID: old.ID, TeamID: t.ID, Zone: c.deps.ZoneOf(t), Role: role, RoleOrder: d.RoleID,
		Algorithm: d.Algorithm, Pattern: d.Pattern, Rotation: d.Rotation, Order: d.Order, Threshold: d.Threshold,
		Progress: old.Progress}
	if d.Order == nil {
		s.Order = old.Order
	}
	plan, err := c.deps.Rotations.Rehearse(ctx, s, d.RosterID, now, span)
	if err != nil {
		return out, err
	}
	shifts, err := c.deps.Named(ctx, within(plan.Add, span))
	if err != nil {
		return out, err
	}
	kept, err := c.deps.Named(ctx, within(plan.Kept, span))
	out = DraftShifts{eventsOf(shifts), eventsOf(kept), []Unfilled{}}
	for _, u := range plan.Unfilled {
		if u.Start.Before(span.End) && span.Start.Before(u.End) {
			out.Unfilled = append(out.Unfilled, Unfilled{u.Role, u.Start.UTC(), u.End.UTC(), u.Why})
		}
	}
	return out, err
}

// within returns the shifts that overlap a span.
func within(shifts []oncall.Shift, in oncall.Span) []oncall.Shift {
	return slices.DeleteFunc(slices.Clone(shifts), func(s oncall.Shift) bool { return !s.Overlaps(in.Start, in.End) })
}

// draft reads a schedule, and the name of its role. It also returns the stored one that the draft replaces; the zero
// value if there is none.
func (c *Calendaring) draft(ctx context.Context, t oncall.Profile, b ScheduleDraft) (d scheduling.ScheduleDraft, role string, old scheduling.StoredSchedule, err error) {
	if b.Layers != nil {
		d, role, err = c.deps.Planning.Draft(ctx, t, planning.RotationSettings{Name: b.Name, Role: b.Role, Roster: b.Roster,
			Threshold: b.Threshold, Layers: b.Layers})
	} else {
		d, role, err = c.weekly(ctx, t, b)
	}
	if err != nil || b.ID == nil {
		return d, role, old, err
	}
	old, err = c.deps.Schedules.ByID(ctx, *b.ID)
	if fault.Is(err, fault.NotFound) || err == nil && old.TeamID != t.ID {
		err = fault.Invalidf("id", "team %s has no schedule %d", t.Name, *b.ID)
	}
	return d, role, old, err
}

// weekly reads and checks a weekly schedule of a team.
func (c *Calendaring) weekly(ctx context.Context, t oncall.Profile, b ScheduleDraft) (d scheduling.ScheduleDraft, name string, err error) {
	d = scheduling.ScheduleDraft{TeamID: t.ID, Algorithm: scheduling.Default, Threshold: scheduling.DefaultThreshold}
	if b.Slots == nil {
		return d, "", fault.Invalidf("events", "give the weekly schedule's events, or the layers of a rotation")
	}
	role, err := c.deps.Role(ctx, b.Role)
	if err != nil {
		return d, "", fault.When(err, fault.NotFound, fault.Invalidf("role", "there is no role %q", b.Role))
	}
	roster, err := c.deps.RosterNamed(ctx, t, b.Roster)
	if err != nil {
		return d, "", fault.When(err, fault.NotFound, fault.Invalidf("roster", "team %s has no roster %q", t.Name, b.Roster))
	}
	d.RoleID, d.RosterID = role.ID, roster.ID
	p := scheduling.Patch{Role: &role.ID, NotSimple: fault.Titled(BadSchedule, "basic mode cannot show these events: set advanced_mode to 1")}
	if p.Slots, err = SlotsOf(b.Slots); err != nil {
		return d, "", fieldOf(err)
	}
	if b.Advanced != nil {
		advanced := bool(*b.Advanced)
		p.Advanced = &advanced
	}
	if b.Threshold != nil {
		p.Threshold = AtMost(int64(*b.Threshold))
	}
	if b.Scheduler != nil {
		if err := c.deps.Ordered(ctx, &p, *b.Scheduler); err != nil {
			return d, "", fieldOf(err)
		}
	}
	return d, role.Name, fieldOf(p.Apply(&d))
}

// BadSchedule is the title of faults of a schedule.
const BadSchedule = "invalid schedule"

// AtMost returns a number of days in plausible bounds.
func AtMost(days int64) *int {
	n := int(min(max(days, -1), 1<<30))
	return &n
}

// SlotsOf checks the events of a weekly schedule.
func SlotsOf(given []Slot) ([]scheduling.Slot, error) {
	const most = 1 << 31 // seconds; the domain has the real limit
	out := make([]scheduling.Slot, len(given))
	for i, s := range given {
		if s.Duration <= 0 {
			return nil, fault.Titled(BadSchedule, "schedule event duration must be positive")
		}
		out[i] = scheduling.Slot{Start: time.Duration(max(min(s.Start, most), -most)) * time.Second,
			Duration: time.Duration(min(s.Duration, most)) * time.Second}
	}
	return out, nil
}

// MaxNames is the maximum number of people in one order. Each name is looked up.
const MaxNames = 500

// Ordered finds the people of an order, and adds it to a patch.
func (f Finder) Ordered(ctx context.Context, p *scheduling.Patch, s Scheduler) error {
	algorithm := scheduling.Algorithm(cmp.Or(s.Name, string(scheduling.Default)))
	known := []scheduling.Algorithm{scheduling.Default, scheduling.RoundRobin, scheduling.NoSkipMatching,
		scheduling.MultiTeam, scheduling.ByRotation}
	if !slices.Contains(known, algorithm) {
		return Integrity("scheduler not found")
	}
	p.Algorithm = &algorithm
	if s.Data == nil || algorithm != scheduling.RoundRobin {
		return nil
	}
	if len(s.Data) > MaxNames {
		return fault.Titled(BadSchedule, "an order names at most 500 users")
	}
	p.Order = []users.ID{}
	for _, n := range s.Data {
		id, err := f.UserID(ctx, n)
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

// fieldOf adds the field to a fault of a weekly schedule. Such faults have the texts of Oncall's API and no field.
func fieldOf(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	switch {
	case f.Kind == fault.Mismatch:
		return fault.Invalidf("scheduler", "%s", f.Detail)
	case f.Kind == fault.Invalid && f.Message == BadSchedule:
		return fault.Invalidf(cmp.Or(f.Field, "events"), "%s", f.Detail)
	}
	return err
}
