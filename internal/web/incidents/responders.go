package incidents

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/web/page"
)

// page pages the typed target.
func (h Handlers) page(rw http.ResponseWriter, r *http.Request) {
	h.other(rw, r, func(ctx context.Context, c incidents.Change) error {
		target := incidents.Target{Role: typed(r, "role"), Name: typed(r, "name")}
		return h.Responders.PageAlso(ctx, c, incidents.AddedPage{Targets: []incidents.Target{target}, Priority: typed(r, "priority")})
	})
}

// reassign gives the incident another owner.
func (h Handlers) reassign(rw http.ResponseWriter, r *http.Request) {
	h.other(rw, r, func(ctx context.Context, c incidents.Change) error {
		return h.Responders.Reassign(ctx, c, typed(r, "owner"))
	})
}

// snooze ends the escalation until the chosen instant.
func (h Handlers) snooze(rw http.ResponseWriter, r *http.Request) {
	h.other(rw, r, func(ctx context.Context, c incidents.Change) error {
		until, err := snoozeEnd(typed(r, "for"), typed(r, "until"), time.Now().In(page.Zone(r)))
		if err != nil {
			return err
		}
		return found(h.Snoozes.Snooze(ctx, c, until))
	})
}

// merge makes the typed incident stand for this one.
func (h Handlers) merge(rw http.ResponseWriter, r *http.Request) {
	h.other(rw, r, func(ctx context.Context, c incidents.Change) error {
		into, err := strconv.ParseInt(strings.TrimPrefix(typed(r, "into"), "#"), 10, 64)
		if err != nil {
			return fault.Invalidf("into", "Enter the number of the incident that stands for this one")
		}
		return found(h.Merges.Merge(ctx, c, incidents.ID(into), typed(r, "comment")))
	})
}

func (h Handlers) unmerge(rw http.ResponseWriter, r *http.Request) {
	h.other(rw, r, func(ctx context.Context, c incidents.Change) error { return found(h.Merges.Unmerge(ctx, c)) })
}

// found returns a NotFound fault if the incident of a change does not exist.
func found(done []incidents.Acknowledged, err error) error {
	if err == nil && (len(done) == 0 || !done[0].Found) {
		err = fault.New(fault.NotFound, "no such incident")
	}
	return err
}

// morning is the hour at which a snooze until tomorrow ends.
const morning = 9

// snoozeEnd returns the end of a snooze: a duration, tomorrow morning, or the civil time at, in the zone of now.
func snoozeEnd(choice, at string, now time.Time) (time.Time, error) {
	switch choice {
	case "tomorrow":
		return time.Date(now.Year(), now.Month(), now.Day()+1, morning, 0, 0, 0, now.Location()), nil
	case "at":
		until, err := time.ParseInLocation("2006-01-02T15:04", at, now.Location())
		if err != nil {
			return until, fault.Invalidf("until", "Enter the date and time at which the snooze ends")
		}
		return until, nil
	}
	d, err := time.ParseDuration(choice)
	if err != nil {
		return now, fault.Invalidf("for", "Choose how long the snooze lasts")
	}
	return now.Add(d), nil
}

// typed returns a field of a form.
func typed(r *http.Request, name string) string {
	return page.Storable(strings.TrimSpace(r.PostFormValue(name)))
}

// other makes a change that has no confirmation, and redirects to the incident.
func (h Handlers) other(rw http.ResponseWriter, r *http.Request, do func(context.Context, incidents.Change) error) {
	id, err := incidentID(r)
	if err == nil {
		err = do(r.Context(), incidents.Change{IDs: []incidents.ID{id}, Actor: page.Reader(r).Name, Via: incidents.ViaWeb})
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.Wake(buckets.Of(int(int64(id) % buckets.Count)))
	http.Redirect(rw, r, fmt.Sprintf("/incidents/%d", id), http.StatusSeeOther)
}
