package oncallapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/legacy/jsonbody"
	"github.com/iris-oncall/iris/internal/legacy/params"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/web/routing"
)

func (a weekly) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/api/v0/teams/{team}/rosters/{roster}/schedules", routing.Read, a.listSchedules),
		routing.Post("/api/v0/teams/{team}/rosters/{roster}/schedules", routing.Write, a.createSchedule),
		routing.Get("/api/v0/schedules/{id}", routing.Read, a.getSchedule),
		routing.Put("/api/v0/schedules/{id}", routing.Write, a.updateSchedule),
		routing.Delete("/api/v0/schedules/{id}", routing.Write, a.deleteSchedule),
		routing.Post("/api/v0/schedules/{id}/populate", routing.Write, a.populate),
		routing.Get("/api/v0/schedules/{id}/preview", routing.Read, a.previewSchedule),
	}
}

var scheduleFields = []string{"id", "roster", "auto_populate_threshold", "role", "team", "events", "advanced_mode",
	"timezone", "scheduler"}

// scheduleObject returns a schedule on the wire. For a rotation the events are empty, because /v1 serves rotations.
func scheduleObject(s scheduling.StoredSchedule) map[string]any {
	scheduler := map[string]any{"name": s.Algorithm}
	if len(s.OrderNames) > 0 {
		scheduler["data"] = s.OrderNames
	}
	events := []map[string]int64{}
	for _, slot := range s.Pattern {
		events = append(events, map[string]int64{"start": int64(slot.Start / time.Second),
			"duration": int64(slot.Duration / time.Second)})
	}
	return map[string]any{
		"id": s.ID, "roster": s.RosterName, "roster_id": s.RosterID, "role": s.Role, "role_id": s.RoleOrder, "team": s.Team,
		"team_id": s.TeamNumber, "timezone": s.TimeZone, "auto_populate_threshold": s.Threshold, "advanced_mode": Bool01(s.Advanced),
		"scheduler": scheduler, "events": events,
	}
}

// shown returns the requested fields of a schedule, and its id. roster, role and team also bring roster_id, role_id and
// team_id.
func shown(object map[string]any, asked []string) map[string]any {
	keys := append([]string{"id"}, asked...)
	for _, f := range asked {
		if f == "roster" || f == "role" || f == "team" {
			keys = append(keys, f+"_id")
		}
	}
	return params.Pick(object, keys)
}

// listSchedules answers with the weekly schedules of a roster; an empty list for an unknown team or roster.
func (a weekly) listSchedules(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	asked, err := params.Fields(q, scheduleFields, params.ErrFields)
	if err != nil {
		return err
	}
	cs, _ := params.Conditions(q, map[string]params.Kind{"id": params.Number, "name": params.Text, "role": params.Text,
		"team": params.Text, "team_id": params.Number, "roster_id": params.Number})
	out := []map[string]any{}
	t, err := a.Team(r)
	var ro oncall.Roster
	if err == nil {
		ro, err = a.roster(r, t)
	}
	if fault.Is(err, fault.NotFound) {
		return routing.Answer(w, http.StatusOK, out)
	}
	if err != nil {
		return err
	}
	schedules, err := a.Schedules.ByTeam(r.Context(), t.ID)
	if err != nil {
		return err
	}
	for _, s := range schedules {
		v := params.Values{
			Text: map[string]string{"name": s.RosterName, "role": s.Role, "team": s.Team},
			Num:  map[string]int64{"id": int64(s.ID), "team_id": t.OncallID, "roster_id": s.RosterID},
		}
		if s.RosterID == ro.ID && s.Algorithm != scheduling.ByRotation && params.Match(cs, v) {
			out = append(out, shown(scheduleObject(s), asked))
		}
	}
	return routing.Answer(w, http.StatusOK, out)
}

// getSchedule answers with a schedule and its ETag.
func (a weekly) getSchedule(w http.ResponseWriter, r *http.Request) error {
	asked, err := params.Fields(r.URL.Query(), scheduleFields, params.ErrFields)
	if err != nil {
		return err
	}
	s, _, err := a.Schedule(r)
	if err != nil {
		return err
	}
	routing.ShowTag(w, s.Tag())
	return routing.Answer(w, http.StatusOK, shown(scheduleObject(s), asked))
}

// createSchedule creates a weekly schedule. An unknown team or roster is a 422.
func (a weekly) createSchedule(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	t, err := a.Administered(r)
	if err != nil {
		return fault.When(err, fault.NotFound, Integrity(`team "`+routing.Param(r, "team")+`" not found`))
	}
	b, err := jsonbody.Read(w, r, BadSchedule)
	if err != nil {
		return err
	}
	var missing []string
	for _, name := range []string{"events", "role", "advanced_mode"} {
		if !b.Given(name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return fault.Titled(BadSchedule, "missing required parameters: "+strings.Join(missing, ", "))
	}
	d := scheduling.ScheduleDraft{TeamID: t.ID, Algorithm: scheduling.Default, Threshold: scheduling.DefaultThreshold}
	p, err := a.ReadSchedule(ctx, b)
	if err != nil {
		return err
	}
	p.NotSimple = fault.Titled(BadSchedule, "invalid advanced mode setting")
	if err := p.Apply(&d); err != nil {
		return err
	}
	ro, err := a.roster(r, t)
	if err != nil {
		return fault.When(err, fault.NotFound, Integrity(`roster "`+routing.Param(r, "roster")+`" not found`))
	}
	d.RosterID = ro.ID
	id, err := a.Planning.CreateWeekly(ctx, a.CallerOf(r, b), t, d)
	return routing.Reply(w, http.StatusCreated, map[string]any{"id": id}, err)
}

// updateSchedule changes the fields that the body has. Storage applies the change to the current schedule. If-Match
// that does not match is a 412.
func (a weekly) updateSchedule(w http.ResponseWriter, r *http.Request) error {
	const title = "Invalid edit"
	ctx := r.Context()
	s, t, err := a.OwnSchedule(r)
	if err != nil {
		return err
	}
	b, err := jsonbody.Read(w, r, title)
	if err != nil {
		return err
	}
	p, err := a.ReadSchedule(ctx, b)
	if err != nil {
		return err
	}
	if b.Given("roster") && !b.Given("team") {
		return fault.Titled(title, "team must be specified with roster")
	}
	if b.Given("team") {
		if p.Team, p.Roster, err = a.newPlace(ctx, b, s, t); err != nil {
			return err
		}
	}
	if b.Has("events") || b.Has("scheduler") {
		p.OfRotation = fault.Titled(title, "this schedule is a rotation: edit it with PUT /v1/rotations/"+
			routing.Param(r, "id"))
	}
	p.NotSimple = fault.Titled(title, "schedule cannot be represented in simple mode")
	err = a.Planning.ChangeSchedule(ctx, a.CallerOf(r, b), s.ID, routing.IfMatch(r), p)
	return routing.Done(w, http.StatusOK, err)
}

// newPlace reads the team and roster that a schedule moves to; nil = the schedule does not move.
func (a weekly) newPlace(ctx context.Context, b jsonbody.Object, s scheduling.StoredSchedule, now oncall.Profile) (team, roster *int64, err error) {
	name, err := b.Text("team")
	if err != nil {
		return nil, nil, err
	}
	to, err := a.ActiveTeam(ctx, name)
	if err != nil {
		return nil, nil, fault.When(err, fault.NotFound, Integrity(`team "`+name+`" not found`))
	}
	if to.ID == now.ID && !b.Given("roster") {
		return nil, nil, nil
	}
	rosterName := s.RosterName
	if b.Given("roster") {
		if rosterName, err = b.Text("roster"); err != nil {
			return nil, nil, err
		}
	}
	ro, err := a.RosterNamed(ctx, to, rosterName)
	if err != nil {
		return nil, nil, fault.When(err, fault.NotFound, Integrity(`roster "`+rosterName+`" not found`))
	}
	return &to.ID, &ro.ID, nil
}

// deleteSchedule deletes a schedule.
func (a weekly) deleteSchedule(w http.ResponseWriter, r *http.Request) error {
	id, err := ShiftID(r, "id")
	if err != nil {
		return err
	}
	return routing.Done(w, http.StatusOK, a.Planning.DeleteSchedule(r.Context(), a.Caller(r), oncall.ScheduleID(id)))
}

// populate makes the shifts of a schedule again from an instant on.
func (a weekly) populate(w http.ResponseWriter, r *http.Request) error {
	s, _, err := a.OwnSchedule(r)
	if err != nil {
		return err
	}
	b, err := jsonbody.Read(w, r, "Invalid populate/preview request")
	if err != nil {
		return err
	}
	start, err := b.RequiredTime("start")
	if err != nil {
		return err
	}
	return routing.Done(w, http.StatusOK, a.Planning.Populate(r.Context(), a.Caller(r), s.ID, start))
}

// previewSchedule answers with the shifts that the calendar would have after populate. It writes nothing.
func (a weekly) previewSchedule(w http.ResponseWriter, r *http.Request) error {
	ctx, q := r.Context(), r.URL.Query()
	for _, name := range []string{"start", "start__lt", "end__ge", "team__eq"} {
		if !q.Has(name) {
			return params.Missing(name)
		}
	}
	start, _, err := params.Time(q, "start")
	if err != nil {
		return err
	}
	before, _, err := params.Time(q, "start__lt")
	if err != nil {
		return err
	}
	after, _, err := params.Time(q, "end__ge")
	if err != nil {
		return err
	}
	s, _, err := a.Schedule(r)
	if err != nil {
		return err
	}
	name, _ := params.Last(q, "team__eq")
	t, err := a.Teams.ByName(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return routing.Answer(w, http.StatusOK, []any{})
	}
	if err != nil {
		return err
	}
	plan, known, err := a.Previews.Preview(ctx, s.ID, start, oncall.Span{Start: after, End: before})
	if err != nil {
		return titledPreview(err)
	}
	shifts, err := a.shownAfter(ctx, plan, known, t, before, after)
	if err != nil {
		return err
	}
	rows, err := a.Named(ctx, shifts)
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, EventObjects(rows, EventFields))
}

// titledPreview gives a fault about the window the title that clients of this route expect.
func titledPreview(err error) error {
	var f *fault.Error
	if errors.As(err, &f) && f.Field == "end" {
		return fault.Titled("Invalid populate/preview request", f.Message)
	}
	return err
}

// shownAfter returns the shifts that a team's calendar would show in a window if plan were stored, in their order after
// storing.
func (a weekly) shownAfter(ctx context.Context, plan scheduling.Result, known scheduling.Calendars, t oncall.Profile, before, after time.Time) ([]oncall.Shift, error) {
	subscriptions, err := a.Teams.Subscriptions(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	gone := map[oncall.ShiftID]bool{}
	for _, s := range plan.Delete {
		gone[s.ID] = true
	}
	var out []oncall.Shift
	for _, s := range append(slices.Clone(known.Shifts), plan.Add...) {
		ours := s.TeamID == t.ID || slices.ContainsFunc(subscriptions,
			func(b oncall.Subscription) bool { return b.TeamID == s.TeamID && b.Role == s.Role })
		if ours && !gone[s.ID] && s.Start.Before(before) && !s.End.Before(after) {
			out = append(out, s)
		}
	}
	// New shifts will get higher numbers than all stored shifts, in the order of the plan.
	slices.SortStableFunc(out, func(x, y oncall.Shift) int {
		if c := x.Start.Compare(y.Start); c != 0 || x.ID == y.ID {
			return c
		}
		if x.ID == 0 || y.ID != 0 && x.ID > y.ID {
			return 1
		}
		return -1
	})
	return out, nil
}
