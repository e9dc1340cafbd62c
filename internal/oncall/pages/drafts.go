package pages

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/planning"
	"github.com/iris-oncall/iris/internal/oncall/requests"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/routing"
	"github.com/iris-oncall/iris/internal/web/wire"
)

func (a drafts) routes() []routing.Route {
	return []routing.Route{
		routing.Post("/v1/teams/{team}/rotations/preview", routing.Write, a.previewDraft),
		routing.Post("/v1/teams/{team}/schedules/preview", routing.Write, a.previewDraft),
	}
}

// previewDraft answers with the shifts of an unsaved schedule or rotation, which replaces the stored one with the same
// id. It stores nothing. Members of the team may.
func (a drafts) previewDraft(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	t, err := a.Team(r)
	if err != nil {
		return err
	}
	if err := wire.Actor(ctx).MayEditCalendar(t.ID, t.Name); err != nil {
		return err
	}
	b, err := jsonbody.Read(w, r, "")
	if err != nil {
		return err
	}
	d, role, old, err := a.scheduleDraft(ctx, t, b)
	if err != nil {
		return err
	}
	from, err := b.RequiredTime("start")
	until := jsonbody.Next(&err, b.RequiredTime, "end")
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
		from = now // past shifts do not change
	}
	s := scheduling.Schedule{ID: old.ID, TeamID: t.ID, Zone: a.ZoneOf(t), Role: role, RoleOrder: d.RoleID,
		Algorithm: d.Algorithm, Pattern: d.Pattern,
		Rotation: d.Rotation, Order: d.Order, Threshold: d.Threshold, Progress: old.Progress}
	if d.Order == nil {
		s.Order = old.Order
	}
	plan, err := a.Rotations.Rehearse(ctx, s, d.RosterID, now, oncall.Span{Start: from, End: until})
	if err != nil {
		return err
	}
	out, err := a.planObject(ctx, plan, from, until)
	return routing.Reply(w, http.StatusOK, out, err)
}

// scheduleDraft reads an unsaved schedule or rotation and the name of its role. It also returns the stored one that the
// draft replaces; the zero value if there is none.
func (a drafts) scheduleDraft(ctx context.Context, t oncall.Profile, b jsonbody.Object) (scheduling.ScheduleDraft, string, scheduling.StoredSchedule, error) {
	read := a.weeklyDraft
	if b.Given("layers") {
		read = a.rotationDraft
	}
	d, role, err := read(ctx, t, b)
	if err != nil {
		return d, "", scheduling.StoredSchedule{}, err
	}
	id, given, err := b.Number("id")
	if err != nil || !given {
		return d, role, scheduling.StoredSchedule{}, err
	}
	old, err := a.Schedules.ByID(ctx, oncall.ScheduleID(id))
	if fault.Is(err, fault.NotFound) || err == nil && old.TeamID != t.ID {
		return d, role, old, fault.Invalidf("id", "team %s has no schedule %d", t.Name, id)
	}
	return d, role, old, err
}

// weeklyDraft reads and checks a weekly schedule of a team.
func (a drafts) weeklyDraft(ctx context.Context, t oncall.Profile, b jsonbody.Object) (scheduling.ScheduleDraft, string, error) {
	d := scheduling.ScheduleDraft{TeamID: t.ID, Algorithm: scheduling.Default, Threshold: scheduling.DefaultThreshold}
	if !b.Given("events") {
		return d, "", fault.Invalidf("events", "give the weekly schedule's events, or the layers of a rotation")
	}
	role, err := a.draftPlace(ctx, t, b, &d)
	if err != nil {
		return d, "", err
	}
	b.Title = requests.BadSchedule
	p, err := a.ReadSchedule(ctx, b)
	if err == nil {
		p.NotSimple = fault.Titled(requests.BadSchedule, "basic mode cannot show these events: set advanced_mode to 1")
		err = p.Apply(&d)
	}
	return d, role.Name, fieldOf(err)
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
	case f.Kind == fault.Invalid && f.Message == requests.BadSchedule:
		field := f.Field
		if field == "" {
			field = "events"
		}
		return fault.Invalidf(field, "%s", f.Detail)
	}
	return err
}

// planObject returns the shifts and the unfilled times of a result that overlap a window.
func (a drafts) planObject(ctx context.Context, plan scheduling.Result, from, until time.Time) (map[string]any, error) {
	shifts, err := a.Named(ctx, inWindow(plan.Add, from, until))
	if err != nil {
		return nil, err
	}
	kept, err := a.Named(ctx, inWindow(plan.Kept, from, until))
	if err != nil {
		return nil, err
	}
	unfilled := []map[string]any{}
	for _, u := range plan.Unfilled {
		if u.Start.Before(until) && from.Before(u.End) {
			unfilled = append(unfilled, map[string]any{"role": u.Role, "start": u.Start.Unix(), "end": u.End.Unix(),
				"why": u.Why})
		}
	}
	return map[string]any{"shifts": requests.EventObjects(shifts, requests.EventFields),
		"kept": requests.EventObjects(kept, requests.EventFields), "unfilled": unfilled}, nil
}

// rotationDraft reads and checks a rotation of a team.
func (a drafts) rotationDraft(ctx context.Context, t oncall.Profile, b jsonbody.Object) (scheduling.ScheduleDraft, string, error) {
	var settings planning.RotationSettings
	if err := json.Unmarshal(b.Raw, &settings); err != nil {
		return scheduling.ScheduleDraft{}, "", fault.Invalidf("layers",
			"layers must be a list of objects with start, every, unit and members")
	}
	return a.Planning.Draft(ctx, t, settings)
}

// draftPlace reads the role and roster of a draft, and for how many days ahead it is populated.
func (a drafts) draftPlace(ctx context.Context, t oncall.Profile, b jsonbody.Object, d *scheduling.ScheduleDraft) (oncall.RoleInfo, error) {
	roleName, err := b.Required("role")
	if err != nil {
		return oncall.RoleInfo{}, err
	}
	role, err := a.Role(ctx, roleName)
	if err != nil {
		return role, fault.When(err, fault.NotFound, fault.Invalidf("role", "there is no role %q", roleName))
	}
	rosterName, err := b.Required("roster")
	if err != nil {
		return role, err
	}
	ro, err := a.RosterNamed(ctx, t, rosterName)
	if err != nil {
		return role, fault.When(err, fault.NotFound, fault.Invalidf("roster", "team %s has no roster %q", t.Name,
			rosterName))
	}
	d.RoleID, d.RosterID = role.ID, ro.ID
	n, given, err := b.Number("auto_populate_threshold")
	if given {
		d.Threshold = int(min(max(n, -1), 1<<30))
	}
	return role, err
}

// inWindow returns the shifts that overlap the window.
func inWindow(shifts []oncall.Shift, from, until time.Time) []oncall.Shift {
	var out []oncall.Shift
	for _, s := range shifts {
		if s.Overlaps(from, until) {
			out = append(out, s)
		}
	}
	return out
}
