package oncallapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/schedules"
)

func (a *API) rotationRoutes() []route {
	return []route{
		{get, v1 + "/teams/{team}/rotations", read, a.listRotations},
		{post, v1 + "/teams/{team}/rotations", login, a.createRotation},
		{post, v1 + "/teams/{team}/rotations/preview", login, a.previewDraft},
		{get, v1 + "/rotations/{id}", read, a.getRotation},
		{put, v1 + "/rotations/{id}", login, a.updateRotation},
		{del, v1 + "/rotations/{id}", login, a.deleteSchedule},
	}
}

// Times on the wire are the team's clock, without a zone.
const (
	clockFormat = "2006-01-02T15:04"
	clockLong   = "2006-01-02T15:04:05"
)

var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// layerObject is a layer as the pages show it; names are those of its members.
type layerObject struct {
	Name     string              `json:"name"`
	Start    string              `json:"start"`
	End      *string             `json:"end"`
	Every    int                 `json:"every"`
	Unit     string              `json:"unit"`
	HandOffs items[string]       `json:"hand_offs"`
	Restrict items[windowObject] `json:"restrict"`
	Holidays string              `json:"holidays"`
	Members  items[turnObject]   `json:"members"`
}

// items decodes a JSON list. The errors of its elements name their place, as in members[2].
type items[T any] []T

// UnmarshalJSON sets the Field of an element's UnmarshalTypeError; json.Unmarshal puts the names of outer fields before it.
func (l *items[T]) UnmarshalJSON(raw []byte) error {
	var elements []json.RawMessage
	if err := json.Unmarshal(raw, &elements); err != nil {
		return err
	}
	out := make([]T, len(elements))
	for i, element := range elements {
		if err := json.Unmarshal(element, &out[i]); err != nil {
			var wrong *json.UnmarshalTypeError
			if errors.As(err, &wrong) {
				wrong.Field = strings.TrimSuffix(fmt.Sprintf("[%d].%s", i, wrong.Field), ".")
			}
			return err
		}
	}
	*l = out
	return nil
}

type windowObject struct {
	Days items[string] `json:"days"`
	From string        `json:"from"`
	To   string        `json:"to"`
}

type turnObject struct {
	User   string  `json:"user"`
	Joins  *string `json:"joins,omitempty"`
	Leaves *string `json:"leaves,omitempty"`
}

func clockText(l oncall.Local) string {
	t := l.Time()
	if t.Second() != 0 {
		return t.Format(clockLong)
	}
	return t.Format(clockFormat)
}

func timeOfDay(d time.Duration) string {
	s := int64(d / time.Second)
	if s%60 != 0 {
		return time.Unix(s, 0).UTC().Format(time.TimeOnly)
	}
	if s == 86400 {
		return "24:00"
	}
	return time.Unix(s, 0).UTC().Format("15:04")
}

// rotationObject is a rotation as the pages show it.
func (a *API) rotationObject(ctx context.Context, s schedules.StoredSchedule) (map[string]any, error) {
	var shifts []oncall.Shift // only to find the members' names
	for _, l := range s.Rotation.Layers {
		for _, m := range l.Members {
			shifts = append(shifts, oncall.Shift{TeamID: s.TeamID, User: m.User})
		}
	}
	c, err := a.crowdOf(ctx, shifts)
	if err != nil {
		return nil, err
	}
	layers := []layerObject{}
	for _, l := range s.Rotation.Layers {
		o := layerObject{Name: l.Name, Start: clockText(l.Start), Every: l.Every, Unit: string(l.Unit), Holidays: string(l.Holidays),
			HandOffs: []string{}, Restrict: []windowObject{}, Members: []turnObject{}}
		if o.Holidays == "" {
			o.Holidays = string(schedules.KeepHolidays)
		}
		if l.End != nil {
			end := clockText(*l.End)
			o.End = &end
		}
		for _, h := range l.HandOffs {
			o.HandOffs = append(o.HandOffs, timeOfDay(h))
		}
		o.Restrict = windowObjects(l.Restrict)
		for _, m := range l.Members {
			o.Members = append(o.Members, turnObject{User: c.people[m.User].Name, Joins: dateText(m.Joins), Leaves: dateText(m.Leaves)})
		}
		layers = append(layers, o)
	}
	return map[string]any{"id": s.ID, "name": s.Name, "team": s.Team, "role": s.Role, "roster": s.RosterName, "timezone": s.TimeZone,
		"auto_populate_threshold": s.Threshold, "layers": layers}, nil
}

func dateText(d *oncall.Date) *string {
	if d == nil {
		return nil
	}
	s := d.String()
	return &s
}

// readLayers reads the layers of a rotation. Faults name the field as layers[0].start and so on.
func (a *API) readLayers(ctx context.Context, b body) (*schedules.Rotation, error) {
	if !b.given("layers") {
		return nil, fault.Invalidf("layers", "layers is required: a list of at least one layer")
	}
	var items []json.RawMessage
	if json.Unmarshal(b.members["layers"], &items) != nil {
		return nil, fault.Invalidf("layers", "layers must be a list of layers")
	}
	out, given, named := &schedules.Rotation{}, make([]layerObject, len(items)), 0
	for i, item := range items {
		if err := json.Unmarshal(item, &given[i]); err != nil {
			return nil, wrongLayer(err, i)
		}
		if named += len(given[i].Members); named > maxNames {
			return nil, fault.Invalidf("layers", "a rotation names at most %d members", maxNames)
		}
	}
	for i, g := range given {
		l, err := a.readLayer(ctx, g)
		if err != nil {
			return nil, within(err, i)
		}
		out.Layers = append(out.Layers, l)
	}
	return out, nil
}

// wrongLayer says which part of a layer has the wrong type, and which one it must have.
func wrongLayer(err error, layer int) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) || wrong.Field == "" {
		return fault.Invalidf(fmt.Sprintf("layers[%d]", layer), "a layer must be an object with start, every, unit and members")
	}
	want := "a string"
	switch {
	case wrong.Type == reflect.TypeFor[turnObject]():
		want = "an object with user"
	case wrong.Type == reflect.TypeFor[windowObject]():
		want = "an object with days, from and to"
	case wrong.Type.Kind() == reflect.Int:
		want = "a whole number"
	case wrong.Type.Kind() == reflect.Slice:
		want = "a list"
	}
	field := strings.ReplaceAll(wrong.Field, ".[", "[")
	return within(fault.Invalidf(field, "%s must be %s", field, want), layer)
}

// within names the layer in a fault's field.
func within(err error, layer int) error {
	var f *fault.Error
	if errors.As(err, &f) && f.Field != "" {
		f.Field = fmt.Sprintf("layers[%d].%s", layer, f.Field)
	}
	return err
}

func (a *API) readLayer(ctx context.Context, g layerObject) (schedules.Layer, error) {
	l := schedules.Layer{Name: g.Name, Every: g.Every, Unit: schedules.Unit(g.Unit), Holidays: schedules.HolidayRule(g.Holidays)}
	var err error
	if l.Start, err = readClock("start", g.Start); err != nil {
		return l, err
	}
	if g.End != nil && *g.End != "" {
		end, err := readClock("end", *g.End)
		if err != nil {
			return l, err
		}
		l.End = &end
	}
	for _, h := range g.HandOffs {
		d, err := readTimeOfDay("hand_offs", h)
		if err != nil {
			return l, err
		}
		l.HandOffs = append(l.HandOffs, d)
	}
	for _, win := range g.Restrict {
		o, err := readWindow("restrict", win)
		if err != nil {
			return l, err
		}
		l.Restrict = append(l.Restrict, o)
	}
	for _, m := range g.Members {
		id, err := a.userID(ctx, m.User)
		if err != nil {
			return l, err
		}
		if id == 0 {
			return l, fault.Invalidf("members", "there is no user %q", m.User)
		}
		turn := schedules.LayerMember{User: id}
		if turn.Joins, err = readDate("joins", m.Joins); err != nil {
			return l, err
		}
		if turn.Leaves, err = readDate("leaves", m.Leaves); err != nil {
			return l, err
		}
		l.Members = append(l.Members, turn)
	}
	return l, nil
}

func readClock(field, s string) (oncall.Local, error) {
	for _, format := range []string{clockFormat, clockLong, "2006-01-02 15:04"} {
		if t, err := time.Parse(format, s); err == nil {
			return oncall.LocalOf(t), nil
		}
	}
	return 0, fault.Invalidf(field, "%s must be a time on the team's clock like 2026-11-23T09:00", field)
}

func readTimeOfDay(field, s string) (time.Duration, error) {
	if s == "24:00" {
		return 24 * time.Hour, nil
	}
	for _, format := range []string{"15:04", time.TimeOnly} {
		if t, err := time.Parse(format, s); err == nil {
			return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute + time.Duration(t.Second())*time.Second, nil
		}
	}
	return 0, fault.Invalidf(field, "%s must be a time of day like 09:00", field)
}

func readDate(field string, s *string) (*oncall.Date, error) {
	if s == nil || *s == "" {
		return nil, nil
	}
	d, err := oncall.ParseDate(*s)
	if err != nil {
		return nil, fault.Invalidf(field, "%s must be a date like 2026-11-23", field)
	}
	return &d, nil
}

func readWindow(field string, g windowObject) (schedules.Window, error) {
	var out schedules.Window
	for _, name := range g.Days {
		found := false
		for i, known := range weekdays {
			if strings.EqualFold(name, known) {
				out.Days, found = append(out.Days, time.Weekday(i)), true
			}
		}
		if !found {
			return out, fault.Invalidf(field, "days must be of sun, mon, tue, wed, thu, fri, sat")
		}
	}
	var err error
	if out.From, err = readTimeOfDay(field, g.From); err != nil {
		return out, err
	}
	out.To, err = readTimeOfDay(field, g.To)
	return out, err
}

// rotationDraft reads a whole rotation of a team and checks it.
func (a *API) rotationDraft(ctx context.Context, t oncall.Profile, b body) (schedules.ScheduleDraft, string, error) {
	d := schedules.ScheduleDraft{TeamID: t.ID, Algorithm: schedules.ByRotation, Advanced: true, Threshold: schedules.DefaultThreshold}
	var err error
	if d.Name, err = b.text("name"); err != nil {
		return d, "", err
	}
	role, err := a.draftPlace(ctx, t, b, &d)
	if err != nil {
		return d, "", err
	}
	if d.Rotation, err = a.readLayers(ctx, b); err != nil {
		return d, "", err
	}
	whole := schedules.Schedule{Algorithm: d.Algorithm, Rotation: d.Rotation, Threshold: d.Threshold}
	return d, role.Name, whole.Check()
}

// draftPlace reads the role and roster of a draft, and its days ahead.
func (a *API) draftPlace(ctx context.Context, t oncall.Profile, b body, d *schedules.ScheduleDraft) (oncall.RoleInfo, error) {
	roleName, err := b.required("role")
	if err != nil {
		return oncall.RoleInfo{}, err
	}
	role, err := a.role(ctx, roleName)
	if err != nil {
		return role, when(err, fault.NotFound, fault.Invalidf("role", "there is no role %q", roleName))
	}
	rosterName, err := b.required("roster")
	if err != nil {
		return role, err
	}
	ro, err := a.rosterNamed(ctx, t, rosterName)
	if err != nil {
		return role, when(err, fault.NotFound, fault.Invalidf("roster", "team %s has no roster %q", t.Name, rosterName))
	}
	d.RoleID, d.RosterID = role.ID, ro.ID
	n, given, err := b.number("auto_populate_threshold")
	if given {
		d.Threshold = int(min(max(n, -1), 1<<30))
	}
	return role, err
}

func (a *API) listRotations(w http.ResponseWriter, r *http.Request) error {
	t, err := a.team(r)
	if err != nil {
		return err
	}
	stored, err := a.Schedules.ByTeam(r.Context(), t.ID)
	if err != nil {
		return err
	}
	out := []map[string]any{}
	for _, s := range stored {
		if s.Algorithm != schedules.ByRotation {
			continue
		}
		o, err := a.rotationObject(r.Context(), s)
		if err != nil {
			return err
		}
		out = append(out, o)
	}
	return answer(w, http.StatusOK, out)
}

func (a *API) getRotation(w http.ResponseWriter, r *http.Request) error {
	s, _, err := a.schedule(r)
	if err == nil && s.Algorithm != schedules.ByRotation {
		err = fault.New(fault.NotFound, "not found")
	}
	if err != nil {
		return err
	}
	o, err := a.rotationObject(r.Context(), s)
	if err != nil {
		return err
	}
	showTag(w, s.Tag())
	return answer(w, http.StatusOK, o)
}

func (a *API) createRotation(w http.ResponseWriter, r *http.Request) error {
	t, err := a.administered(r)
	if err != nil {
		return err
	}
	b, err := readBody(w, r, "")
	if err != nil {
		return err
	}
	d, _, err := a.rotationDraft(r.Context(), t, b)
	if err != nil {
		return err
	}
	id, err := a.Schedules.Create(r.Context(), d, by(r, b.raw))
	if err != nil {
		return err
	}
	return answer(w, http.StatusCreated, map[string]any{"id": id})
}

func (a *API) updateRotation(w http.ResponseWriter, r *http.Request) error {
	s, t, err := a.ownSchedule(r)
	if err == nil && s.Algorithm != schedules.ByRotation {
		err = fault.New(fault.NotFound, "not found")
	}
	if err != nil {
		return err
	}
	b, err := readBody(w, r, "")
	if err != nil {
		return err
	}
	d, _, err := a.rotationDraft(r.Context(), t, b)
	if err != nil {
		return err
	}
	err = a.Schedules.Update(r.Context(), s.ID, func(is schedules.StoredSchedule) (schedules.ScheduleDraft, error) {
		if is.TeamID != t.ID {
			return d, oncall.ErrStale // its roster was looked up in another team
		}
		return d, a.mayStillEdit(r, is)
	}, by(r, b.raw))
	if err != nil {
		return err
	}
	return answer(w, http.StatusOK, map[string]any{"id": s.ID})
}

func inWindow(shifts []oncall.Shift, from, until time.Time) []oncall.Shift {
	var out []oncall.Shift
	for _, s := range shifts {
		if s.Overlaps(from, until) {
			out = append(out, s)
		}
	}
	return out
}
