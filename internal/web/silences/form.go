package silences

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/silences"
	"github.com/iris-oncall/iris/internal/web/page"
)

// option is a choice of a select.
type option struct{ Value, Label string }

// formView has the typed values as texts, so that a refused form keeps them.
type formView struct {
	page.Frame
	Problem                              string
	Match, Application, Plan, Team       string
	From, For, Until, Repeat, Rule, Zone string
	Comment                              string
	Periods, Repeats                     []option
	Repeating                            bool // the part about repetition is open
	Incident                             incidents.ID
}

// form shows the form. ?incident=ID fills in the application and the labels of an incident.
func (h Handlers) form(rw http.ResponseWriter, r *http.Request) {
	v := formView{For: "2h"}
	if text := r.URL.Query().Get("incident"); text != "" {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			err = fault.New(fault.NotFound, "no such incident")
		}
		var i incidents.Incident
		if err == nil {
			i, err = h.Deps.Incidents.Get(r.Context(), incidents.ID(id))
		}
		if err != nil {
			h.Pages.Fail(rw, r, err)
			return
		}
		v.Incident, v.Application, v.Match = i.ID, i.Application, silences.Suggest(i.Context)
	}
	h.render(rw, r, http.StatusOK, v)
}

func (h Handlers) render(rw http.ResponseWriter, r *http.Request, status int, v formView) {
	v.Frame, v.Zone = h.Pages.Frame(r, "Add a silence", "silences"), page.Zone(r).String()
	v.Periods = []option{{"30m", "30 minutes"}, {"1h", "1 hour"}, {"2h", "2 hours"}, {"4h", "4 hours"}, {"8h", "8 hours"}, {"24h", "1 day"}, {"72h", "3 days"}, {"168h", "7 days"}}
	v.Repeats = []option{{"", "never"}, {"FREQ=DAILY", "every day"}, {"FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "every working day"}, {"FREQ=WEEKLY", "every week"}, {"FREQ=MONTHLY", "every month"}}
	v.Repeating = v.Repeat != "" || v.Rule != ""
	h.Pages.Render(rw, r, status, "silence-form", v)
}

// create adds a silence. A form that is refused is shown again with its values.
func (h Handlers) create(rw http.ResponseWriter, r *http.Request) {
	field := func(name string) string { return page.Storable(strings.TrimSpace(r.PostFormValue(name))) }
	v := formView{Match: field("match"), Application: field("application"), Plan: field("plan"), Team: field("team"), From: field("from"),
		For: field("for"), Until: field("until"), Repeat: field("repeat"), Rule: field("rule"), Comment: field("comment")}
	c, err := v.content(time.Now(), page.Zone(r))
	var made silences.Silence
	if err == nil {
		made, err = h.Silences.Create(r.Context(), actor(r), c)
	}
	status := http.StatusBadRequest
	switch fault.KindOf(err) {
	case fault.Invalid:
	case fault.Forbidden:
		status = http.StatusForbidden
	case fault.Conflict:
		status = http.StatusConflict
	default:
		if err != nil {
			h.Pages.Fail(rw, r, err)
			return
		}
		http.Redirect(rw, r, fmt.Sprintf("/silences/%d", made.ID), http.StatusSeeOther)
		return
	}
	v.Problem = fault.Public(err)
	h.render(rw, r, status, v)
}

// content returns the typed silence. Times without a zone are in the reader's. No begin means now.
func (v formView) content(now time.Time, zone *time.Location) (c silences.Content, err error) {
	c = silences.Content{Match: v.Match, Application: v.Application, Plan: v.Plan, Team: v.Team, Comment: v.Comment, Recurrence: v.Rule,
		Zone: zone.String(), From: now.UTC().Truncate(time.Second)}
	if c.Recurrence == "" {
		c.Recurrence = v.Repeat
	}
	if v.From != "" {
		if c.From, err = moment("from", v.From, zone); err != nil {
			return c, err
		}
	}
	if v.Until != "" {
		c.To, err = moment("until", v.Until, zone)
		return c, err
	}
	d, err := time.ParseDuration(v.For)
	if err != nil || d <= 0 {
		return c, fault.Invalidf("for", "%.40q is no period such as 2h", v.For)
	}
	c.To = c.From.Add(d)
	return c, nil
}

// moment reads the value of a field of type datetime-local.
func moment(field, text string, zone *time.Location) (time.Time, error) {
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if at, err := time.ParseInLocation(layout, text, zone); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fault.Invalidf(field, "%s: %.40q is no time such as 2026-01-31T22:00", field, text)
}
