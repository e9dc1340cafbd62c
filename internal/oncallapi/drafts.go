package oncallapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/schedules"
	"github.com/iris-oncall/iris/internal/wire"
)

// previewDraft answers what a schedule or rotation would put on the calendar, before it is saved. With an id it is in the place
// of that one. Nothing is stored.
func (a *API) previewDraft(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	t, err := a.team(r)
	if err != nil {
		return err
	}
	if err := wire.Actor(ctx).MayEditCalendar(t.ID, t.Name); err != nil {
		return err
	}
	b, err := readBody(w, r, "")
	if err != nil {
		return err
	}
	d, role, old, err := a.scheduleDraft(ctx, t, b)
	if err != nil {
		return err
	}
	from, err := b.mustAt("start")
	if err != nil {
		return err
	}
	until, err := b.mustAt("end")
	if err != nil {
		return err
	}
	if !from.Before(until) {
		return fault.Invalidf("end", "end must be after start")
	}
	now, err := a.People.Clock(ctx)
	if err != nil {
		return err
	}
	if from.Before(now) {
		from = now // what is over stays as it is
	}
	s := schedules.Schedule{ID: old.ID, TeamID: t.ID, Zone: a.zoneOf(t), Role: role, RoleOrder: d.RoleID, Algorithm: d.Algorithm, Pattern: d.Pattern,
		Rotation: d.Rotation, Order: d.Order, Threshold: d.Threshold, Progress: old.Progress}
	if d.Order == nil {
		s.Order = old.Order
	}
	plan, err := a.Schedules.Rehearse(ctx, s, d.RosterID, now, oncall.Span{Start: from, End: until})
	if err != nil {
		return err
	}
	out, err := a.planObject(ctx, plan, from, until)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, out)
}

// scheduleDraft reads a schedule or rotation as its editor has it, and the stored one that it is to replace, if any.
func (a *API) scheduleDraft(ctx context.Context, t oncall.Profile, b body) (schedules.ScheduleDraft, string, schedules.StoredSchedule, error) {
	read := a.weeklyDraft
	if b.given("layers") {
		read = a.rotationDraft
	}
	d, role, err := read(ctx, t, b)
	if err != nil {
		return d, "", schedules.StoredSchedule{}, err
	}
	id, given, err := b.number("id")
	if err != nil || !given {
		return d, role, schedules.StoredSchedule{}, err
	}
	old, err := a.Schedules.ByID(ctx, oncall.ScheduleID(id))
	if fault.Is(err, fault.NotFound) || err == nil && old.TeamID != t.ID {
		return d, role, old, fault.Invalidf("id", "team %s has no schedule %d", t.Name, id)
	}
	return d, role, old, err
}

// weeklyDraft reads a whole weekly schedule of a team and checks it.
func (a *API) weeklyDraft(ctx context.Context, t oncall.Profile, b body) (schedules.ScheduleDraft, string, error) {
	d := schedules.ScheduleDraft{TeamID: t.ID, Algorithm: schedules.Default, Threshold: schedules.DefaultThreshold}
	if !b.given("events") {
		return d, "", fault.Invalidf("events", "give the weekly schedule's events, or the layers of a rotation")
	}
	role, err := a.draftPlace(ctx, t, b, &d)
	if err != nil {
		return d, "", err
	}
	b.title = badSchedule
	p, err := a.readSchedule(ctx, b)
	if err == nil {
		err = p.apply(&d, badSchedule, "basic mode cannot show these events: set advanced_mode to 1")
	}
	return d, role.Name, fieldOf(err)
}

// fieldOf gives the faults of a weekly schedule, which say in a legacy way what is wrong, the field that they are about.
func fieldOf(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	switch {
	case f.Kind == fault.Mismatch:
		return fault.Invalidf("scheduler", "%s", f.Detail)
	case f.Kind == fault.Invalid && f.Message == badSchedule:
		field := f.Field
		if field == "" {
			field = "events"
		}
		return fault.Invalidf(field, "%s", f.Detail)
	}
	return err
}

// planObject shows the part of a plan that a window sees.
func (a *API) planObject(ctx context.Context, plan schedules.Result, from, until time.Time) (map[string]any, error) {
	shifts, err := a.named(ctx, inWindow(plan.Add, from, until))
	if err != nil {
		return nil, err
	}
	kept, err := a.named(ctx, inWindow(plan.Kept, from, until))
	if err != nil {
		return nil, err
	}
	unfilled := []map[string]any{}
	for _, u := range plan.Unfilled {
		if u.Start.Before(until) && from.Before(u.End) {
			unfilled = append(unfilled, map[string]any{"role": u.Role, "start": u.Start.Unix(), "end": u.End.Unix(), "why": u.Why})
		}
	}
	return map[string]any{"shifts": eventObjects(shifts, eventFields), "kept": eventObjects(kept, eventFields), "unfilled": unfilled}, nil
}
