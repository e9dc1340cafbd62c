package oncallapi

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/legacy/jsonbody"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/calendaring"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// edit makes an edit that was read from a body, unless err says that the body is wrong.
func (a events) edit(r *http.Request, b jsonbody.Object, e calendaring.EventEdit, err error) (calendaring.EditAnswer, error) {
	if err != nil {
		return calendaring.EditAnswer{}, err
	}
	edit := calendaring.EventEditing{Body: e}
	edit.IfMatch = strings.Join(r.Header.Values("If-Match"), ",")
	return a.Edits.DoValid(r.Context(), a.CallerOf(r, b), edit)
}

// createEvent adds a shift and answers with its number.
func (a events) createEvent(w http.ResponseWriter, r *http.Request) error {
	b, err := jsonbody.Read(w, r, BadEvent)
	if err != nil {
		return err
	}
	e, err := creation(b)
	made, err := a.edit(r, b, e, err)
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusCreated, made.Added[0].ID)
}

// updateEvent changes the fields of a shift that the body has. If-Match that does not match is a 412.
func (a events) updateEvent(w http.ResponseWriter, r *http.Request) error {
	id, b, err := WithBody(w, r, BadUpdate, func(r *http.Request) (int64, error) { return ShiftID(r, "id") })
	if err != nil {
		return err
	}
	e, err := change(b, "start", "end", "role", "user", "note")
	e.Action, e.ID = "edit", oncall.ShiftID(id)
	_, err = a.edit(r, b, e, err)
	return routing.Done(w, http.StatusOK, err)
}

// deleteEvent deletes a shift.
func (a events) deleteEvent(w http.ResponseWriter, r *http.Request) error {
	id, err := ShiftID(r, "id")
	_, err = a.edit(r, jsonbody.Object{}, calendaring.EventEdit{Action: "delete", ID: oncall.ShiftID(id)}, err)
	return routing.Done(w, http.StatusOK, err)
}

// createLinked adds several shifts with a common link id.
func (a events) createLinked(w http.ResponseWriter, r *http.Request) error {
	raw, err := jsonbody.ReadRaw(w, r)
	if err != nil {
		return err
	}
	e, err := linkedCreation(raw)
	made, err := a.edit(r, jsonbody.Object{Raw: raw}, e, err)
	if err != nil {
		return err
	}
	ids := make([]oncall.ShiftID, len(made.Added))
	for i, s := range made.Added {
		ids[i] = s.ID
	}
	return routing.Answer(w, http.StatusCreated, map[string]any{"link_id": made.Added[0].Link, "event_ids": ids})
}

// updateLinked changes all shifts of a link.
func (a events) updateLinked(w http.ResponseWriter, r *http.Request) error {
	b, err := jsonbody.Read(w, r, BadUpdate)
	if err != nil {
		return err
	}
	e, err := change(b, "role", "user", "note")
	e.Action, e.Link = "edit_link", routing.Param(r, "link")
	_, err = a.edit(r, b, e, err)
	return routing.Done(w, http.StatusNoContent, err)
}

// deleteLinked deletes all shifts of a link.
func (a events) deleteLinked(w http.ResponseWriter, r *http.Request) error {
	_, err := a.edit(r, jsonbody.Object{}, calendaring.EventEdit{Action: "delete_link", Link: routing.Param(r, "link")}, nil)
	return routing.Done(w, http.StatusOK, err)
}

// swapEvents exchanges the people of two shifts, or of two groups of linked shifts.
func (a events) swapEvents(w http.ResponseWriter, r *http.Request) error {
	b, err := jsonbody.Read(w, r, badSwap)
	if err != nil {
		return err
	}
	e, err := swapping(b)
	_, err = a.edit(r, b, e, err)
	return routing.Done(w, http.StatusOK, err)
}

// overrideEvents puts a substitute on call for a part of some shifts. It answers with what remains of the shifts, and
// the new ones.
func (a events) overrideEvents(w http.ResponseWriter, r *http.Request) error {
	b, err := jsonbody.Read(w, r, "Invalid override request")
	if err != nil {
		return err
	}
	e, err := overriding(b)
	made, err := a.edit(r, b, e, err)
	if err != nil {
		return err
	}
	shifts := made.Added
	for _, c := range made.Changed {
		shifts = append(shifts, c.After)
	}
	slices.SortStableFunc(shifts, func(x, y calendaring.EditedEvent) int { return x.Start.Compare(y.Start) })
	out := make([]map[string]any, len(shifts))
	for i, s := range shifts {
		out[i] = eventObject(s.Event)
		maps.DeleteFunc(out[i], func(key string, _ any) bool {
			return key == "schedule_id" || key == "link_id" || key == "note"
		})
	}
	return routing.Answer(w, http.StatusOK, out)
}
