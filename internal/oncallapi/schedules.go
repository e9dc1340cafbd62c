package oncallapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/schedules"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/wire"
)

func (a *API) scheduleRoutes() []route {
	return []route{
		{get, v0 + "/teams/{team}/rosters/{roster}/schedules", read, a.listSchedules},
		{post, v0 + "/teams/{team}/rosters/{roster}/schedules", login, a.createSchedule},
		{get, v0 + "/schedules/{id}", read, a.getSchedule},
		{put, v0 + "/schedules/{id}", login, a.updateSchedule},
		{del, v0 + "/schedules/{id}", login, a.deleteSchedule},
		{post, v0 + "/schedules/{id}/populate", login, a.populate},
		{get, v0 + "/schedules/{id}/preview", read, a.previewSchedule},
		{post, v1 + "/teams/{team}/schedules/preview", login, a.previewDraft},
	}
}

var scheduleFields = []string{"id", "roster", "auto_populate_threshold", "role", "team", "events", "advanced_mode", "timezone", "scheduler"}

// scheduleObject is a schedule as the wire shows it. A rotation has no events: it has routes of its own.
func scheduleObject(s schedules.StoredSchedule) map[string]any {
	scheduler := map[string]any{"name": s.Algorithm}
	if len(s.OrderNames) > 0 {
		scheduler["data"] = s.OrderNames
	}
	events := []map[string]int64{}
	for _, slot := range s.Pattern {
		events = append(events, map[string]int64{"start": int64(slot.Start / time.Second), "duration": int64(slot.Duration / time.Second)})
	}
	return map[string]any{
		"id": s.ID, "roster": s.RosterName, "roster_id": s.RosterID, "role": s.Role, "role_id": s.RoleOrder, "team": s.Team,
		"team_id": s.TeamNumber, "timezone": s.TimeZone, "auto_populate_threshold": s.Threshold, "advanced_mode": bool01(s.Advanced),
		"scheduler": scheduler, "events": events,
	}
}

// shown keeps the asked fields of a schedule; the numbers come with the names, and the id always.
func shown(object map[string]any, asked []string) map[string]any {
	keys := append([]string{"id"}, asked...)
	for _, f := range asked {
		if f == "roster" || f == "role" || f == "team" {
			keys = append(keys, f+"_id")
		}
	}
	return pick(object, keys)
}

func (a *API) listSchedules(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	asked, err := fields(q, scheduleFields, errBadFields)
	if err != nil {
		return err
	}
	cs, _ := conditions(q, map[string]kind{"id": numbers, "name": words, "role": words, "team": words, "team_id": numbers, "roster_id": numbers})
	out := []map[string]any{}
	t, err := a.team(r)
	var ro oncall.Roster
	if err == nil {
		ro, err = a.roster(r, t)
	}
	if fault.Is(err, fault.NotFound) {
		return answer(w, http.StatusOK, out)
	}
	if err != nil {
		return err
	}
	stored, err := a.Schedules.ByTeam(r.Context(), t.ID)
	if err != nil {
		return err
	}
	for _, s := range stored {
		v := values{
			text: map[string]string{"name": s.RosterName, "role": s.Role, "team": s.Team},
			num:  map[string]int64{"id": int64(s.ID), "team_id": t.OncallID, "roster_id": s.RosterID},
		}
		if s.RosterID == ro.ID && s.Algorithm != schedules.ByRotation && match(cs, v) {
			out = append(out, shown(scheduleObject(s), asked))
		}
	}
	return answer(w, http.StatusOK, out)
}

// schedule finds the schedule of the path with its team.
func (a *API) schedule(r *http.Request) (schedules.StoredSchedule, oncall.Profile, error) {
	id, err := shiftID(r, "id")
	if err != nil {
		return schedules.StoredSchedule{}, oncall.Profile{}, err
	}
	s, err := a.Schedules.ByID(r.Context(), oncall.ScheduleID(id))
	if err != nil {
		return s, oncall.Profile{}, err
	}
	t, err := a.Teams.ByID(r.Context(), s.TeamID)
	return s, t, err
}

// ownSchedule finds the schedule of the path for somebody who may administer its team.
func (a *API) ownSchedule(r *http.Request) (schedules.StoredSchedule, oncall.Profile, error) {
	s, t, err := a.schedule(r)
	if err == nil {
		err = wire.Actor(r.Context()).MayAdministerTeam(t.ID, t.Name)
	}
	return s, t, err
}

func (a *API) getSchedule(w http.ResponseWriter, r *http.Request) error {
	asked, err := fields(r.URL.Query(), scheduleFields, errBadFields)
	if err != nil {
		return err
	}
	s, _, err := a.schedule(r)
	if err != nil {
		return err
	}
	showTag(w, s.Tag())
	return answer(w, http.StatusOK, shown(scheduleObject(s), asked))
}

const badSchedule = "invalid schedule"

func (a *API) createSchedule(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	t, err := a.administered(r)
	if err != nil {
		return when(err, fault.NotFound, integrity(`team "`+param(r, "team")+`" not found`))
	}
	b, err := readBody(w, r, badSchedule)
	if err != nil {
		return err
	}
	var missing []string
	for _, name := range []string{"events", "role", "advanced_mode"} {
		if !b.given(name) {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return fault.Titled(badSchedule, "missing required parameters: "+strings.Join(missing, ", "))
	}
	d := schedules.ScheduleDraft{TeamID: t.ID, Algorithm: schedules.Default, Threshold: schedules.DefaultThreshold}
	p, err := a.readSchedule(ctx, b)
	if err != nil {
		return err
	}
	if err := p.apply(&d, badSchedule, "invalid advanced mode setting"); err != nil {
		return err
	}
	ro, err := a.roster(r, t)
	if err != nil {
		return when(err, fault.NotFound, integrity(`roster "`+param(r, "roster")+`" not found`))
	}
	d.RosterID = ro.ID
	id, err := a.Schedules.Create(ctx, d, by(r, b.raw))
	if err != nil {
		return err
	}
	return answer(w, http.StatusCreated, map[string]any{"id": id})
}

// schedulePatch is what a body changes of a schedule; nil leaves a part as it is.
type schedulePatch struct {
	slots        []schedules.Slot // as given: merging hides whether basic mode can show them
	advanced     *bool
	threshold    *int
	role         *int64
	algorithm    *schedules.Algorithm
	order        []users.ID
	team, roster *int64
}

// readSchedule reads what a body says of a schedule, and looks up who and what it names.
func (a *API) readSchedule(ctx context.Context, b body) (p schedulePatch, err error) {
	if b.given("events") {
		if p.slots, err = readPattern(b); err != nil {
			return p, err
		}
	}
	if advanced, given, err := b.flag("advanced_mode"); err != nil {
		return p, err
	} else if given {
		p.advanced = &advanced
	}
	if n, given, err := b.number("auto_populate_threshold"); err != nil {
		return p, err
	} else if given {
		threshold := int(min(max(n, -1), 1<<30))
		p.threshold = &threshold
	}
	if b.given("role") {
		name, err := b.text("role")
		if err != nil {
			return p, err
		}
		role, err := a.role(ctx, name)
		if err != nil {
			return p, when(err, fault.NotFound, integrity("role not found"))
		}
		p.role = &role.ID
	}
	return p, a.readScheduler(ctx, b, &p)
}

// apply makes the changes and checks the whole. notSimple is the refusal of a pattern that basic mode cannot show.
func (p schedulePatch) apply(d *schedules.ScheduleDraft, title, notSimple string) error {
	set(&d.Advanced, p.advanced)
	switch {
	case p.slots != nil:
		if !d.Advanced && !schedules.SimplePattern(p.slots) {
			return fault.Titled(title, notSimple)
		}
		d.Pattern = schedules.MergeSlots(p.slots)
	case p.advanced != nil && !d.Advanced && !simpleOnce(d.Pattern):
		return fault.Titled(title, notSimple)
	}
	set(&d.Threshold, p.threshold)
	set(&d.RoleID, p.role)
	set(&d.TeamID, p.team)
	set(&d.RosterID, p.roster)
	if p.algorithm != nil {
		if *p.algorithm == schedules.ByRotation && d.Rotation == nil {
			return integrity("scheduler not found")
		}
		d.Algorithm = *p.algorithm
	}
	if d.Algorithm == schedules.RoundRobin {
		d.Order = p.order
	}
	whole := schedules.Schedule{Algorithm: d.Algorithm, Pattern: d.Pattern, Rotation: d.Rotation, Threshold: d.Threshold}
	return whole.Check()
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// simpleOnce reports whether a pattern as it is stored, merged, is one that basic mode can show.
func simpleOnce(stored []schedules.Slot) bool {
	return schedules.SimplePattern(stored) || schedules.SimplePattern(halves(stored))
}

// halves cuts slots into shifts of twelve hours, which merging joined.
func halves(stored []schedules.Slot) []schedules.Slot {
	const half = 12 * time.Hour
	var out []schedules.Slot
	for _, s := range stored {
		for s.Duration > half && s.Duration%half == 0 && len(out) <= 14 {
			out = append(out, schedules.Slot{Start: s.Start, Duration: half})
			s.Start, s.Duration = s.Start+half, s.Duration-half
		}
		out = append(out, s)
	}
	return out
}

func readPattern(b body) ([]schedules.Slot, error) {
	var items []json.RawMessage
	if json.Unmarshal(b.members["events"], &items) != nil {
		return nil, fault.Titled(b.title, "events must be a list")
	}
	out := make([]schedules.Slot, len(items))
	for i, item := range items {
		e, err := parseMember(fmt.Sprintf("events[%d]", i), item, b.title)
		if err != nil {
			return nil, err
		}
		if !e.has("start") || !e.has("duration") {
			return nil, fault.Titled(b.title, "schedule event requires both start and duration fields")
		}
		start, given, err := e.number("start")
		if err != nil {
			return nil, err
		}
		if !given {
			return nil, fault.Titled(b.title, "schedule event start cannot be null")
		}
		duration, given, err := e.number("duration")
		if err != nil {
			return nil, err
		}
		if !given || duration <= 0 {
			return nil, fault.Titled(b.title, "schedule event duration must be positive")
		}
		const most = 1 << 31 // seconds; the domain bounds what is sensible
		out[i] = schedules.Slot{Start: time.Duration(max(min(start, most), -most)) * time.Second, Duration: time.Duration(min(duration, most)) * time.Second}
	}
	return out, nil
}

// maxNames is how many people one order or rotation may name: each is looked up.
const maxNames = 500

// readScheduler reads {"name": ..., "data": [names in order]}.
func (a *API) readScheduler(ctx context.Context, b body, p *schedulePatch) error {
	if !b.given("scheduler") {
		return nil
	}
	s, err := parseMember("scheduler", b.members["scheduler"], b.title)
	if err != nil {
		return err
	}
	name, err := s.text("name")
	if err != nil {
		return err
	}
	algorithm := schedules.Algorithm(cmp.Or(name, string(schedules.Default)))
	known := []schedules.Algorithm{schedules.Default, schedules.RoundRobin, schedules.NoSkipMatching, schedules.MultiTeam, schedules.ByRotation}
	if !slices.Contains(known, algorithm) {
		return integrity("scheduler not found")
	}
	p.algorithm = &algorithm
	names, given, err := s.texts("data")
	if err != nil || !given || algorithm != schedules.RoundRobin {
		return err
	}
	if len(names) > maxNames {
		return fault.Titled(b.title, "an order names at most 500 users")
	}
	p.order = []users.ID{}
	for _, n := range names {
		id, err := a.userID(ctx, n)
		if err != nil {
			return err
		}
		if id == 0 {
			return integrity("user " + n + " not found")
		}
		if !slices.Contains(p.order, id) {
			p.order = append(p.order, id)
		}
	}
	return nil
}

// updateSchedule changes what the body names, of the schedule as it is when it is stored.
func (a *API) updateSchedule(w http.ResponseWriter, r *http.Request) error {
	const title = "Invalid edit"
	ctx := r.Context()
	s, t, err := a.ownSchedule(r)
	if err != nil {
		return err
	}
	b, err := readBody(w, r, title)
	if err != nil {
		return err
	}
	p, err := a.readSchedule(ctx, b)
	if err != nil {
		return err
	}
	if b.given("roster") && !b.given("team") {
		return fault.Titled(title, "team must be specified with roster")
	}
	if b.given("team") {
		if err := a.moveSchedule(ctx, b, s, t, &p); err != nil {
			return err
		}
	}
	err = a.Schedules.Update(ctx, s.ID, func(is schedules.StoredSchedule) (schedules.ScheduleDraft, error) {
		d := is.Draft()
		if err := a.mayStillEdit(r, is); err != nil {
			return d, err
		}
		if is.Algorithm == schedules.ByRotation && (b.has("events") || b.has("scheduler")) {
			return d, fault.Titled(title, "this schedule is a rotation: edit it with PUT /v1/rotations/"+param(r, "id"))
		}
		return d, p.apply(&d, title, "schedule cannot be represented in simple mode")
	}, by(r, b.raw))
	if err != nil {
		return err
	}
	return empty(w, http.StatusOK)
}

// mayStillEdit decides about a schedule as it is when it is stored: its team may be another one meanwhile.
func (a *API) mayStillEdit(r *http.Request, is schedules.StoredSchedule) error {
	if err := wire.Actor(r.Context()).MayAdministerTeam(is.TeamID, is.Team); err != nil {
		return err
	}
	return stillIs(r, is.Tag())
}

// moveSchedule reads the team and roster that a schedule is to belong to.
func (a *API) moveSchedule(ctx context.Context, b body, s schedules.StoredSchedule, now oncall.Profile, p *schedulePatch) error {
	name, err := b.text("team")
	if err != nil {
		return err
	}
	to, err := a.activeTeam(ctx, name)
	if err != nil {
		return when(err, fault.NotFound, integrity(`team "`+name+`" not found`))
	}
	if to.ID != now.ID {
		if err := wire.Actor(ctx).MayAdministerTeam(to.ID, to.Name); err != nil {
			return err
		}
	}
	if to.ID == now.ID && !b.given("roster") {
		return nil
	}
	roster := s.RosterName
	if b.given("roster") {
		if roster, err = b.text("roster"); err != nil {
			return err
		}
	}
	ro, err := a.rosterNamed(ctx, to, roster)
	if err != nil {
		return when(err, fault.NotFound, integrity(`roster "`+roster+`" not found`))
	}
	p.team, p.roster = &to.ID, &ro.ID
	return nil
}

func (a *API) deleteSchedule(w http.ResponseWriter, r *http.Request) error {
	s, _, err := a.ownSchedule(r)
	if err != nil {
		return err
	}
	if err := a.Schedules.Delete(r.Context(), s, by(r, nil)); err != nil {
		return err
	}
	return empty(w, http.StatusOK)
}

func (a *API) populate(w http.ResponseWriter, r *http.Request) error {
	s, _, err := a.ownSchedule(r)
	if err != nil {
		return err
	}
	b, err := readBody(w, r, "Invalid populate/preview request")
	if err != nil {
		return err
	}
	start, err := b.mustAt("start")
	if err != nil {
		return err
	}
	if _, err := a.Schedules.Populate(r.Context(), s.ID, start, by(r, nil)); err != nil {
		return err
	}
	return empty(w, http.StatusOK)
}

// previewSchedule answers what the calendar would show after a populate. It writes nothing.
func (a *API) previewSchedule(w http.ResponseWriter, r *http.Request) error {
	ctx, q := r.Context(), r.URL.Query()
	for _, name := range []string{"start", "start__lt", "end__ge", "team__eq"} {
		if !q.Has(name) {
			return missingParameter(name)
		}
	}
	start, _, err := queryAt(q, "start")
	if err != nil {
		return err
	}
	before, _, err := queryAt(q, "start__lt")
	if err != nil {
		return err
	}
	after, _, err := queryAt(q, "end__ge")
	if err != nil {
		return err
	}
	s, _, err := a.schedule(r)
	if err != nil {
		return err
	}
	name, _ := last(q, "team__eq")
	t, err := a.Teams.ByName(ctx, name)
	if fault.Is(err, fault.NotFound) {
		return answer(w, http.StatusOK, []any{})
	}
	if err != nil {
		return err
	}
	plan, known, err := a.Schedules.Preview(ctx, s.ID, start, oncall.Span{Start: after, End: before})
	if err != nil {
		return titledPreview(err)
	}
	shifts, err := a.shownAfter(ctx, plan, known, t, before, after)
	if err != nil {
		return err
	}
	rows, err := a.named(ctx, shifts)
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, eventObjects(rows, eventFields))
}

// titledPreview gives a fault of the window the title that previews have here.
func titledPreview(err error) error {
	var f *fault.Error
	if errors.As(err, &f) && f.Field == "end" {
		return fault.Titled("Invalid populate/preview request", f.Message)
	}
	return err
}

// shownAfter returns what a team's calendar shows in a window after a plan, in the order that it will have once it is stored.
func (a *API) shownAfter(ctx context.Context, plan schedules.Result, known schedules.Calendars, t oncall.Profile, before, after time.Time) ([]oncall.Shift, error) {
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
		ours := s.TeamID == t.ID || slices.ContainsFunc(subscriptions, func(b oncall.Subscription) bool { return b.TeamID == s.TeamID && b.Role == s.Role })
		if ours && !gone[s.ID] && s.Start.Before(before) && !s.End.Before(after) {
			out = append(out, s)
		}
	}
	// New shifts get higher numbers than all others, in the order of the plan.
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
