package pages

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/requests"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/web/jsonbody"
	"github.com/iris-oncall/iris/internal/web/listing"
	"github.com/iris-oncall/iris/internal/web/routing"
)

func (a rotations) routes() []routing.Route {
	return []routing.Route{
		routing.Get("/v1/teams/{team}/rotations", routing.Read, a.listRotations),
		routing.Post("/v1/teams/{team}/rotations", routing.Write, a.createRotation),
		routing.Get("/v1/rotations/{id}", routing.Read, a.getRotation),
		routing.Put("/v1/rotations/{id}", routing.Write, a.updateRotation),
		routing.Delete("/v1/rotations/{id}", routing.Write, a.deleteRotation),
	}
}

// The formats of times on the wire: local times of the team, without a zone.
const (
	clockFormat = "2006-01-02T15:04"
	clockLong   = "2006-01-02T15:04:05"
)

var weekdays = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// layerObject is a layer of a rotation on the wire.
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

// UnmarshalJSON puts the index of the element into Field of an UnmarshalTypeError. json.Unmarshal prefixes the outer
// fields.
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

// windowObject is a part of the week on the wire: times of day on some weekdays; no days = every day.
type windowObject struct {
	Days items[string] `json:"days"`
	From string        `json:"from"`
	To   string        `json:"to"`
}

// turnObject is a member of a layer on the wire, with the dates on which the member joins and leaves.
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

// rotationObject returns a rotation on the wire.
func (a rotations) rotationObject(ctx context.Context, s scheduling.StoredSchedule) (map[string]any, error) {
	var shifts []oncall.Shift // only to find the members' names
	for _, l := range s.Rotation.Layers {
		for _, m := range l.Members {
			shifts = append(shifts, oncall.Shift{TeamID: s.TeamID, User: m.User})
		}
	}
	c, err := a.NamesOf(ctx, shifts)
	if err != nil {
		return nil, err
	}
	layers := []layerObject{}
	for _, l := range s.Rotation.Layers {
		o := layerObject{Name: l.Name, Start: clockText(l.Start), Every: l.Every, Unit: string(l.Unit),
			Holidays: string(l.Holidays),
			HandOffs: []string{}, Restrict: []windowObject{}, Members: []turnObject{}}
		if o.Holidays == "" {
			o.Holidays = string(scheduling.KeepHolidays)
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
			o.Members = append(o.Members, turnObject{User: c.People[m.User].Name, Joins: dateText(m.Joins),
				Leaves: dateText(m.Leaves)})
		}
		layers = append(layers, o)
	}
	return map[string]any{"id": s.ID, "name": s.Name, "team": s.Team, "role": s.Role, "roster": s.RosterName,
		"timezone":                s.TimeZone,
		"auto_populate_threshold": s.Threshold, "layers": layers}, nil
}

func dateText(d *oncall.Date) *string {
	if d == nil {
		return nil
	}
	s := d.String()
	return &s
}

// wrongLayer returns a fault that names the part of a layer with the wrong type, and the right type.
func wrongLayer(err error, layer int) error {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) || wrong.Field == "" {
		return fault.Invalidf(fmt.Sprintf("layers[%d]", layer),
			"a layer must be an object with start, every, unit and members")
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

// within puts the number of the layer before the field of a fault.
func within(err error, layer int) error {
	var f *fault.Error
	if errors.As(err, &f) && f.Field != "" {
		f.Field = fmt.Sprintf("layers[%d].%s", layer, f.Field)
	}
	return err
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
			return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute +
				time.Duration(t.Second())*time.Second, nil
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

func readWindow(field string, g windowObject) (scheduling.Window, error) {
	var out scheduling.Window
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

// listRotations answers with the rotations of a team.
func (a rotations) listRotations(w http.ResponseWriter, r *http.Request) error {
	t, err := a.Team(r)
	if err != nil {
		return err
	}
	schedules, err := a.Schedules.ByTeam(r.Context(), t.ID)
	if err != nil {
		return err
	}
	var out []map[string]any
	for _, s := range schedules {
		if s.Algorithm != scheduling.ByRotation {
			continue
		}
		o, err := a.rotationObject(r.Context(), s)
		if err != nil {
			return err
		}
		out = append(out, o)
	}
	return listing.AnswerAll(w, out)
}

// getRotation answers with a rotation and its ETag. A weekly schedule is a 404.
func (a rotations) getRotation(w http.ResponseWriter, r *http.Request) error {
	s, _, err := a.Schedule(r)
	if err == nil && s.Algorithm != scheduling.ByRotation {
		err = fault.New(fault.NotFound, "not found")
	}
	if err != nil {
		return err
	}
	o, err := a.rotationObject(r.Context(), s)
	if err != nil {
		return err
	}
	routing.ShowTag(w, s.Tag())
	return routing.Answer(w, http.StatusOK, o)
}

// createRotation creates a rotation. Administrators of the team may.
func (a rotations) createRotation(w http.ResponseWriter, r *http.Request) error {
	t, b, err := requests.WithBody(w, r, "", a.Administered)
	if err != nil {
		return err
	}
	d, _, err := drafts(a).rotationDraft(r.Context(), t, b)
	if err != nil {
		return err
	}
	id, err := a.Rotations.Create(r.Context(), d, requests.By(r, b.Raw))
	return routing.Reply(w, http.StatusCreated, map[string]any{"id": id}, err)
}

// updateRotation replaces a rotation. Administrators of the team may. If-Match that does not match is a 412.
func (a rotations) updateRotation(w http.ResponseWriter, r *http.Request) error {
	s, t, err := a.OwnSchedule(r)
	if err == nil && s.Algorithm != scheduling.ByRotation {
		err = fault.New(fault.NotFound, "not found")
	}
	if err != nil {
		return err
	}
	b, err := jsonbody.Read(w, r, "")
	if err != nil {
		return err
	}
	d, _, err := drafts(a).rotationDraft(r.Context(), t, b)
	if err != nil {
		return err
	}
	err = a.Rotations.Update(r.Context(), s.ID, requests.ScheduleReplacement(r, d), requests.By(r, b.Raw))
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, map[string]any{"id": s.ID})
}

// deleteRotation deletes a rotation. Administrators of the team may.
func (a rotations) deleteRotation(w http.ResponseWriter, r *http.Request) error {
	s, _, err := a.OwnSchedule(r)
	if err != nil {
		return err
	}
	return routing.Done(w, http.StatusOK, a.Rotations.Delete(r.Context(), s, requests.By(r, nil)))
}
