package pages

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/web/page"
)

// page pages the typed target.
func (h Handlers) page(rw http.ResponseWriter, r *http.Request) {
	h.change(rw, r, plain(func(ctx context.Context, c incidents.Change) error {
		form := page.Typed(r)
		target := incidents.Target{Role: form.Get("role"), Name: form.Get("name")}
		return h.Responders.PageAlso(ctx, c, incidents.AddedPage{Targets: []incidents.Target{target},
			Priority: form.Get("priority")})
	}))
}

// reassign gives the incident another owner.
func (h Handlers) reassign(rw http.ResponseWriter, r *http.Request) {
	h.change(rw, r, plain(func(ctx context.Context, c incidents.Change) error {
		return h.Responders.Reassign(ctx, c, page.Typed(r).Get("owner"))
	}))
}

// snooze ends the escalation until the chosen instant.
func (h Handlers) snooze(rw http.ResponseWriter, r *http.Request) {
	h.change(rw, r, made(func(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error) {
		form := page.Typed(r)
		end, err := snoozeEnd(form.Get("for"), form.Get("until"), page.Zone(r))
		if err != nil {
			return nil, err
		}
		return h.Incidents.Snooze(ctx, c, end)
	}))
}

// merge makes the typed incident stand for this one.
func (h Handlers) merge(rw http.ResponseWriter, r *http.Request) {
	h.change(rw, r, made(func(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error) {
		form := page.Typed(r)
		into, err := strconv.ParseInt(strings.TrimPrefix(form.Get("into"), "#"), 10, 64)
		if err != nil {
			return nil, fault.Invalidf("into", "Enter the number of the incident that stands for this one")
		}
		return h.Incidents.Merge(ctx, c, incidents.ID(into), form.Get("comment"))
	}))
}

func (h Handlers) unmerge(rw http.ResponseWriter, r *http.Request) {
	h.change(rw, r, made(h.Incidents.Unmerge))
}

// morning is the hour at which a snooze until tomorrow ends.
const morning = 9

// snoozeEnd returns the end of a snooze: a duration, tomorrow morning, or the civil time at, in a zone.
func snoozeEnd(choice, at string, zone *time.Location) (incidents.SnoozeEnd, error) {
	switch choice {
	case "tomorrow":
		return func(now time.Time) time.Time {
			now = now.In(zone)
			return time.Date(now.Year(), now.Month(), now.Day()+1, morning, 0, 0, 0, zone)
		}, nil
	case "at":
		until, err := time.ParseInLocation("2006-01-02T15:04", at, zone)
		if err != nil {
			return nil, fault.Invalidf("until", "Enter the date and time at which the snooze ends")
		}
		return incidents.SnoozeUntil(until), nil
	}
	d, err := time.ParseDuration(choice)
	if err != nil {
		return nil, fault.Invalidf("for", "Choose how long the snooze lasts")
	}
	return incidents.SnoozeFor(d), nil
}
