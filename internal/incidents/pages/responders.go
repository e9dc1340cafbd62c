package pages

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
)

// page pages the typed target.
func (h Handlers) page(rw http.ResponseWriter, r *http.Request) {
	h.change(rw, r, func(by operation.Actor, one incidents.One) error {
		form := page.Typed(r)
		target := incidents.Target{Role: form.Get("role"), Name: form.Get("name")}
		_, err := h.Changes.Page.Do(r.Context(), by, incidents.Paging{One: one,
			Body: incidents.AddedPage{Targets: []incidents.Target{target}, Priority: form.Get("priority")}})
		return inForm(err)
	})
}

// inForm returns err with the field of the form in place of that of the request.
func inForm(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	field, ok := strings.CutPrefix(f.Field, "targets[0]")
	if !ok {
		return err
	}
	out := *f
	out.Field = cmp.Or(strings.TrimPrefix(field, "."), "name")
	return &out
}

// maxSuggested is how many people are suggested while a name is typed.
const maxSuggested = 20

// people suggests people whose names contain what was typed. Forms that choose a role get people only for the role user.
func (h Handlers) people(rw http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	typed := strings.TrimSpace(page.Storable(cmp.Or(q.Get("name"), q.Get("owner"))))
	var found operation.Page[users.PersonRow]
	if role := q.Get("role"); typed != "" && (role == "" || role == "user") {
		var err error
		if found, err = h.People.List.Do(r.Context(), page.Actor(r), users.PeopleFilter{Search: typed,
			Paging: operation.Paging{Limit: maxSuggested}}); err != nil {
			h.Pages.Fail(rw, r, err)
			return
		}
	}
	h.Pages.Render(rw, r, http.StatusOK, "person-options", found.Items)
}

// reassign gives the incident another owner.
func (h Handlers) reassign(rw http.ResponseWriter, r *http.Request) {
	h.change(rw, r, func(by operation.Actor, one incidents.One) error {
		_, err := h.Changes.Reassign.Do(r.Context(), by, incidents.Reassigning{One: one,
			Body: incidents.NewOwner{Owner: page.Typed(r).Get("owner")}})
		return err
	})
}

// snooze ends the escalation until the chosen instant.
func (h Handlers) snooze(rw http.ResponseWriter, r *http.Request) {
	h.change(rw, r, func(by operation.Actor, one incidents.One) error {
		form := page.Typed(r)
		pause, err := pauseOf(form.Get("for"), form.Get("until"), page.Zone(r))
		if err == nil {
			_, err = h.Changes.Snooze.Do(r.Context(), by, incidents.Snoozing{One: one, Body: pause})
		}
		return err
	})
}

// merge makes the typed incident stand for this one.
func (h Handlers) merge(rw http.ResponseWriter, r *http.Request) {
	h.change(rw, r, func(by operation.Actor, one incidents.One) error {
		form := page.Typed(r)
		into, err := strconv.ParseInt(strings.TrimPrefix(form.Get("into"), "#"), 10, 64)
		if err != nil || into <= 0 {
			return fault.Invalidf("into", "Enter the number of the incident that stands for this one")
		}
		_, err = h.Changes.Merge.Do(r.Context(), by, incidents.Merging{One: one,
			Body: incidents.Parenthood{Into: incidents.ID(into), Comment: operation.Text(form.Get("comment"))}})
		return err
	})
}

// pauseOf returns the end of a snooze: a duration, tomorrow morning, or the civil time at, in a zone.
func pauseOf(choice, at string, zone *time.Location) (incidents.Pause, error) {
	switch choice {
	case "":
		return incidents.Pause{}, fault.Invalidf("for", "Choose how long the snooze lasts")
	case "tomorrow":
		return incidents.Pause{Tomorrow: zone}, nil
	case "at":
		until, err := time.ParseInLocation("2006-01-02T15:04", at, zone)
		if err != nil {
			return incidents.Pause{}, fault.Invalidf("until", "Enter the date and time at which the snooze ends")
		}
		return incidents.Pause{Until: until}, nil
	}
	return incidents.Pause{For: operation.Text(choice)}, nil
}
