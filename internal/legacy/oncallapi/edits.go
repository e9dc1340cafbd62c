package oncallapi

import (
	"net/http"

	"github.com/iris-oncall/iris/internal/legacy/jsonbody"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/web/routing"
)

// apply makes an edit, unless err says that the request is wrong, and answers with the status and no body.
func (a events) apply(w http.ResponseWriter, r *http.Request, status int, e editing.Edit, err error) error {
	if err == nil {
		_, err = a.Run(r, e)
	}
	return routing.Done(w, status, err)
}

// createEvent adds a shift and answers with its number.
func (a events) createEvent(w http.ResponseWriter, r *http.Request) error {
	b, err := jsonbody.Read(w, r, BadEvent)
	if err != nil {
		return err
	}
	e, err := a.Creation(r.Context(), b)
	if err != nil {
		return err
	}
	o, err := a.Run(r, e)
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusCreated, o.Add[0].ID)
}

// updateEvent changes the fields of a shift that the body has. If-Match that does not match is a 412.
func (a events) updateEvent(w http.ResponseWriter, r *http.Request) error {
	id, err := ShiftID(r, "id")
	if err != nil {
		return err
	}
	b, err := jsonbody.Read(w, r, BadUpdate)
	if err != nil {
		return err
	}
	e, err := a.Change(r.Context(), oncall.ShiftID(id), b)
	e.IfMatch = routing.IfMatch(r)
	return a.apply(w, r, http.StatusOK, e, err)
}

// deleteEvent deletes a shift.
func (a events) deleteEvent(w http.ResponseWriter, r *http.Request) error {
	id, err := ShiftID(r, "id")
	if err != nil {
		return err
	}
	e, err := a.Deletion(r.Context(), oncall.ShiftID(id), "")
	e.IfMatch = routing.IfMatch(r)
	return a.apply(w, r, http.StatusOK, e, err)
}

// createLinked adds several shifts with a common link id.
func (a events) createLinked(w http.ResponseWriter, r *http.Request) error {
	raw, err := jsonbody.ReadRaw(w, r)
	if err != nil {
		return err
	}
	e, err := a.LinkedCreation(r.Context(), raw)
	if err != nil {
		return err
	}
	o, err := a.Run(r, e)
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusCreated, map[string]any{"link_id": o.Add[0].Link, "event_ids": o.AddedIDs()})
}

// updateLinked changes all shifts of a link.
func (a events) updateLinked(w http.ResponseWriter, r *http.Request) error {
	b, err := jsonbody.Read(w, r, BadUpdate)
	if err != nil {
		return err
	}
	e, err := a.LinkedChange(r.Context(), routing.Param(r, "link"), b)
	return a.apply(w, r, http.StatusNoContent, e, err)
}

// deleteLinked deletes all shifts of a link.
func (a events) deleteLinked(w http.ResponseWriter, r *http.Request) error {
	e, err := a.Deletion(r.Context(), 0, routing.Param(r, "link"))
	return a.apply(w, r, http.StatusOK, e, err)
}

// swapEvents exchanges the people of two shifts, or of two groups of linked shifts.
func (a events) swapEvents(w http.ResponseWriter, r *http.Request) error {
	b, err := jsonbody.Read(w, r, "Invalid event swap request")
	if err != nil {
		return err
	}
	e, err := a.Swapping(r.Context(), b)
	return a.apply(w, r, http.StatusOK, e, err)
}

// overrideEvents puts a substitute on call for a part of some shifts.
func (a events) overrideEvents(w http.ResponseWriter, r *http.Request) error {
	b, err := jsonbody.Read(w, r, "Invalid override request")
	if err != nil {
		return err
	}
	e, err := a.Overriding(r.Context(), b)
	if err != nil {
		return err
	}
	o, err := a.Run(r, e)
	if err != nil {
		return err
	}
	return routing.Answer(w, http.StatusOK, e.Change.(editing.Override).Survivors(e, o))
}
