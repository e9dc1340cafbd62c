package pages

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
)

// work makes a change of one incident. If another person has acknowledged the incident and the reader must confirm the
// change first, it returns that acknowledgement and changes nothing; nil = the change was made.
type work func(ctx context.Context, c incidents.Change) (*incidents.Acknowledged, error)

// change changes one incident and redirects to the page that the reader came from. A change that fails is offered again
// with its values.
func (h Handlers) change(rw http.ResponseWriter, r *http.Request, do work) {
	id, err := incidentID(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	replace, _ := strconv.ParseInt(r.PostFormValue("replace"), 10, 64) // 0 replaces nobody
	owned, err := do(r.Context(), incidents.Change{IDs: []incidents.ID{id}, Actor: page.Reader(r).Name,
		Via:      incidents.ViaWeb,
		AskFirst: true, Replace: users.ID(replace)})
	switch {
	case err != nil:
		h.failChange(rw, r, id, err)
		return
	case owned != nil:
		h.confirmTakeover(rw, r, *owned)
		return
	}
	h.Wake(r.Context(), buckets.Of(int(int64(id)%buckets.Count)))
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

// made returns the work of a transition.
func made(do func(context.Context, incidents.Change) ([]incidents.Acknowledged, error)) work {
	return func(ctx context.Context, c incidents.Change) (*incidents.Acknowledged, error) {
		done, err := do(ctx, c)
		switch {
		case err != nil:
			return nil, err
		case len(done) == 0 || !done[0].Found:
			return nil, fault.New(fault.NotFound, "no such incident")
		case done[0].OwnedBy != 0:
			return &done[0], nil
		}
		return nil, nil
	}
}

// plain returns the work of a change without a result.
func plain(do func(context.Context, incidents.Change) error) work {
	return func(ctx context.Context, c incidents.Change) (*incidents.Acknowledged, error) { return nil, do(ctx, c) }
}

func (h Handlers) acknowledge(rw http.ResponseWriter, r *http.Request) {
	h.change(rw, r, made(func(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error) {
		return h.Incidents.Acknowledge(ctx, c, page.Reader(r))
	}))
}

func (h Handlers) reopen(rw http.ResponseWriter, r *http.Request) {
	h.change(rw, r, made(h.Incidents.Reopen))
}

func (h Handlers) escalate(rw http.ResponseWriter, r *http.Request) {
	h.change(rw, r, made(h.Incidents.Escalate))
}

func (h Handlers) restart(rw http.ResponseWriter, r *http.Request) {
	h.change(rw, r, made(h.Incidents.Restart))
}

// undoTime is how long after a resolve the page offers to undo it.
const undoTime = 10 * time.Minute

// resolvedKey is the session key of the last resolve of the reader: the number of the incident and the time.
const resolvedKey = "resolved"

// resolve resolves an incident. The reader can undo it within undoTime.
func (h Handlers) resolve(rw http.ResponseWriter, r *http.Request) {
	h.change(rw, r, made(func(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error) {
		done, err := h.Incidents.Resolve(ctx, c, true)
		if err == nil {
			h.Pages.Sessions.Put(r.Context(), resolvedKey, fmt.Sprintf("%d %d", c.IDs[0], time.Now().Unix()))
		}
		return done, err
	}))
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
	h.change(rw, r, made(func(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error) {
		done, err := h.Incidents.Resolve(ctx, c, false)
		if err != nil {
			return nil, err
		}
		i, err := h.Incidents.Get(ctx, c.IDs[0])
		if err != nil || i.State() != incidents.StateExhausted {
			return done, err
		}
		return h.Incidents.Reopen(ctx, c)
	}))
}

func (h Handlers) comment(rw http.ResponseWriter, r *http.Request) {
	h.change(rw, r, plain(func(ctx context.Context, c incidents.Change) error {
		_, err := h.Incidents.AddComment(ctx, c.IDs[0], page.Reader(r), r.PostFormValue("content"))
		if err == nil {
			h.Pages.Sessions.Put(r.Context(), "commented", true)
		}
		return err
	}))
}
