package pages

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
)

// change changes one incident and redirects to the page that the reader came from. A change that fails is offered again
// with its values. If another person has acknowledged the incident, the reader is asked first.
func (h Handlers) change(rw http.ResponseWriter, r *http.Request, do func(by operation.Actor, one incidents.One) error) {
	id, err := incidentID(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	err = do(page.Actor(r), incidents.One{ID: id})
	var owned *incidents.OwnedError
	switch {
	case errors.As(err, &owned):
		h.confirmTakeover(rw, r, id, owned)
		return
	case err != nil:
		h.failChange(rw, r, id, err)
		return
	}
	back := r.PostFormValue("back")
	if !goesBack(back) {
		back = fmt.Sprintf("/incidents/%d", id)
	}
	http.Redirect(rw, r, back, http.StatusSeeOther)
}

// goesBack reports whether a change may lead back to an address: the home page, or the list with the reader's filter.
func goesBack(to string) bool {
	return to == "/" || to == "/incidents" || strings.HasPrefix(to, "/incidents?")
}

// plain returns the handler of a change without values.
func (h Handlers) plain(change operation.Op[incidents.One, incidents.IncidentDetail]) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		h.change(rw, r, func(by operation.Actor, one incidents.One) error {
			_, err := change.Do(r.Context(), by, one)
			return err
		})
	}
}

func (h Handlers) acknowledge(rw http.ResponseWriter, r *http.Request) {
	replace, _ := strconv.ParseInt(r.PostFormValue("replace"), 10, 64) // 0 replaces nobody
	h.change(rw, r, func(by operation.Actor, one incidents.One) error {
		_, err := h.Changes.Acknowledge.Do(r.Context(), by, incidents.Claim{One: one,
			Body: &incidents.Claimant{AskFirst: true, Replace: users.ID(replace)}})
		return err
	})
}

// reopen takes the acknowledgement back. The incident stays resolved if somebody has resolved it in the meantime.
func (h Handlers) reopen(rw http.ResponseWriter, r *http.Request) {
	h.change(rw, r, func(by operation.Actor, one incidents.One) error {
		_, err := h.Changes.Unacknowledge.Do(r.Context(), by, incidents.Several{Incidents: []incidents.ID{one.ID}})
		return err
	})
}

// undoTime is how long after a resolve the page offers to undo it.
const undoTime = 10 * time.Minute

// resolvedKey is the session key of the last resolve of the reader: the number of the incident and the time.
const resolvedKey = "resolved"

// resolve resolves an incident. The reader can undo it within undoTime.
func (h Handlers) resolve(rw http.ResponseWriter, r *http.Request) {
	h.change(rw, r, func(by operation.Actor, one incidents.One) error {
		_, err := h.Changes.Resolve.Do(r.Context(), by, one)
		if err == nil {
			h.Pages.Sessions.Put(r.Context(), resolvedKey, fmt.Sprintf("%d %d", one.ID, time.Now().Unix()))
		}
		return err
	})
}

// mayUndo reports whether the reader has resolved the incident within undoTime.
func (h Handlers) mayUndo(r *http.Request, id incidents.ID) bool {
	number, at, _ := strings.Cut(h.Pages.Sessions.GetString(r.Context(), resolvedKey), " ")
	unix, err := strconv.ParseInt(at, 10, 64)
	return err == nil && number == strconv.FormatInt(int64(id), 10) && time.Since(time.Unix(unix, 0)) < undoTime
}

// unresolve undoes a resolve. An incident that nobody owned escalates again, because a resolve by mistake must not end
// its pages.
func (h Handlers) unresolve(rw http.ResponseWriter, r *http.Request) {
	h.change(rw, r, func(by operation.Actor, one incidents.One) error {
		done, err := h.Changes.Unresolve.Do(r.Context(), by, one)
		if err == nil && done.State == incidents.StateExhausted {
			_, err = h.Changes.Reopen.Do(r.Context(), by, one)
		}
		return err
	})
}

func (h Handlers) comment(rw http.ResponseWriter, r *http.Request) {
	h.change(rw, r, func(by operation.Actor, one incidents.One) error {
		_, err := h.Changes.AddComment.Do(r.Context(), by, incidents.Commenting{One: one,
			Body: incidents.NewComment{Content: r.PostFormValue("content")}})
		if err == nil {
			h.Pages.Sessions.Put(r.Context(), "commented", true)
		}
		return err
	})
}
