package pages

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/silences"
	"github.com/iris-oncall/iris/internal/web/page"
)

// formView has the typed values as texts, so that a refused form keeps them.
type formView struct {
	page.Frame
	ID                                   silences.ID // of the silence that the form changes; 0 = it adds one
	Refusal                              page.Refusal
	Match, Application, Plan, Team       string
	From, For, Until, Repeat, Rule, Zone string
	Comment                              string
	Periods, Repeats                     []page.Option
	Applications, Plans, Teams           []string // suggestions
	Repeating                            bool     // the part about repetition is open
	Incident                             incidents.ID
	Foreseen                             *foreseen
}

// foreseen is what the typed silence would hide. Problem says why it cannot be told.
type foreseen struct {
	Problem    string
	Escalating []hidden
	Count      int // of Escalating, which has the newest
	Recent     int
	Partial    bool
	Spans      []silences.Span // the next occurrences of a window
}

// typed returns the values of a form that field reads.
func typed(field func(name string) string) formView {
	clean := func(name string) string { return page.Storable(strings.TrimSpace(field(name))) }
	return formView{Match: clean("match"), Application: clean("application"), Plan: clean("plan"), Team: clean("team"), From: clean("from"),
		For: clean("for"), Until: clean("until"), Repeat: clean("repeat"), Rule: clean("rule"), Comment: clean("comment")}
}

// form shows the form. ?incident=ID fills in the application and the labels of an incident; the fields of the form fill in themselves.
func (h Handlers) form(rw http.ResponseWriter, r *http.Request) {
	v := typed(r.URL.Query().Get)
	v.For = cmp.Or(v.For, "2h")
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
	h.render(rw, r, v)
}

// render shows the form.
func (h Handlers) render(rw http.ResponseWriter, r *http.Request, v formView) {
	title := "Add a silence"
	if v.ID != 0 {
		title = fmt.Sprintf("Change silence %d", v.ID)
		v.Periods = []page.Option{{Value: "", Label: "keep the end"}}
	}
	v.Frame = h.Pages.Frame(r, title, "silences")
	v.Zone = cmp.Or(v.Zone, page.Zone(r).String())
	v.Periods, v.Repeats = append(v.Periods, periods...), repeats()
	v.Repeating = v.Repeat != "" || v.Rule != ""
	api := h.Pages.API(r)
	for list, into := range map[string]*[]string{"applications": &v.Applications, "plans": &v.Plans, "teams": &v.Teams} {
		*into = api.Names("/v1/" + list)
	}
	h.Pages.Render(rw, r, max(v.Refusal.Status, http.StatusOK), "silence-form", v)
}

// periods are the offered lengths of a silence.
var periods = []page.Option{{Value: "30m", Label: "30 minutes"}, {Value: "1h", Label: "1 hour"}, {Value: "2h", Label: "2 hours"}, {Value: "4h", Label: "4 hours"},
	{Value: "8h", Label: "8 hours"}, {Value: "24h", Label: "1 day"}, {Value: "72h", Label: "3 days"}, {Value: "168h", Label: "7 days"}}

// repeats are the recurrences that need no RRULE.
func repeats() []page.Option {
	return []page.Option{{Value: "", Label: "never"}, {Value: "FREQ=DAILY", Label: "every day"}, {Value: "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", Label: "every working day"},
		{Value: "FREQ=WEEKLY", Label: "every week"}, {Value: "FREQ=MONTHLY", Label: "every month"}}
}

// create adds a silence.
func (h Handlers) create(rw http.ResponseWriter, r *http.Request) {
	v := typed(r.PostFormValue)
	d, err := v.draft(page.Zone(r))
	if r.PostFormValue("do") == doPreview {
		h.preview(rw, r, v, d, err)
		return
	}
	var made silences.Silence
	if err == nil {
		made, err = h.Silences.Create.Do(r.Context(), page.Actor(r), d)
	}
	h.answer(rw, r, v, made.ID, err)
}

// edit shows the form with the content of a silence.
func (h Handlers) edit(rw http.ResponseWriter, r *http.Request) {
	s, zone, err := h.editable(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	const local = "2006-01-02T15:04:05"
	v := formView{ID: s.ID, Zone: zone.String(), Match: string(s.Match), Application: string(s.Application), Plan: string(s.Plan), Team: string(s.Team), Comment: s.Comment, Rule: string(s.Recurrence),
		From: s.From.In(zone).Format(local), Until: s.To.In(zone).Format(local)}
	if slices.ContainsFunc(repeats(), func(o page.Option) bool { return o.Value == string(s.Recurrence) }) {
		v.Repeat, v.Rule = string(s.Recurrence), ""
	}
	h.render(rw, r, v)
}

// change stores the typed content of a silence. A period is that of Content.EndAfter.
func (h Handlers) change(rw http.ResponseWriter, r *http.Request) {
	s, zone, err := h.editable(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v := typed(r.PostFormValue)
	v.ID, v.Zone = s.ID, zone.String()
	if v.For != "" {
		v.Until = ""
	}
	d, err := v.draft(zone)
	d.ForSeconds, d.EndsInSeconds = nil, d.ForSeconds
	if r.PostFormValue("do") == doPreview {
		h.preview(rw, r, v, d, err)
		return
	}
	if err == nil {
		_, err = h.Silences.Replace.Do(r.Context(), page.Actor(r), silences.Edit{One: silences.One{ID: s.ID}, Body: d})
	}
	h.answer(rw, r, v, s.ID, err)
}

// editable returns the silence of a request, and the zone of its times: that of a window, else the reader's.
func (h Handlers) editable(r *http.Request) (silences.Silence, *time.Location, error) {
	s, err := h.Silences.Get.Do(r.Context(), page.Actor(r), number(r))
	if err != nil {
		return s, nil, err
	}
	zone := page.Zone(r)
	if s.Recurrence != "" {
		if own, err := time.LoadLocation(string(s.Zone)); err == nil {
			zone = own
		}
	}
	return s, zone, err
}

// answer redirects to the silence that a form stored. A form that is refused is shown again with its values.
func (h Handlers) answer(rw http.ResponseWriter, r *http.Request, v formView, stored silences.ID, err error) {
	if err == nil {
		http.Redirect(rw, r, fmt.Sprintf("/silences/%d", stored), http.StatusSeeOther)
		return
	}
	refusal, ok := h.Pages.Refused(rw, r, err)
	if !ok {
		return
	}
	if field := map[string]string{"to": "until", "recurrence": "rule"}[refusal.Field]; field != "" {
		refusal.Field = field
	}
	v.Refusal = refusal
	h.render(rw, r, v)
}

// doPreview is the value of the button that shows what the silence would hide.
const doPreview = "preview"

// preview shows the form with what the typed silence would hide. err says why it cannot be read.
func (h Handlers) preview(rw http.ResponseWriter, r *http.Request, v formView, d silences.Draft, err error) {
	v.Foreseen = &foreseen{}
	if err == nil {
		err = h.foresee(r, d, v.Foreseen)
	}
	if err != nil && !fault.Is(err, fault.Invalid) {
		h.Pages.Fail(rw, r, err)
		return
	}
	v.Foreseen.Problem = fault.Public(err)
	h.render(rw, r, v)
}

func (h Handlers) foresee(r *http.Request, d silences.Draft, out *foreseen) error {
	found, err := h.Silences.Preview.Do(r.Context(), page.Actor(r), d.Scope)
	if err != nil {
		return err
	}
	out.Count, out.Recent, out.Partial = len(found.Escalating), found.Recent, found.Partial
	out.Escalating, err = h.titles(r.Context(), found.Escalating[:min(len(found.Escalating), shownForeseen)])
	if c := d.Resolve(h.Silences.Now()); c.Recurrence != "" && c.Occurs() == nil {
		out.Spans = upcoming(c, h.Silences.Now(), shownSpans)
	}
	return err
}

// How many incidents and occurrences are shown.
const (
	shownForeseen = 10
	shownSpans    = 8
)

// upcoming returns the next occurrences of a window, the present one first.
func upcoming(c silences.Content, now time.Time, most int) (out []silences.Span) {
	if span, current := c.At(now); current {
		out = append(out, span)
	}
	for at := now; len(out) < most; {
		span, ok := c.Next(at)
		if !ok {
			break
		}
		out, at = append(out, span), span.From
	}
	return out
}

// draft returns the typed silence. Times without a zone are in the reader's. No begin means now.
func (v formView) draft(zone *time.Location) (d silences.Draft, err error) {
	d.Scope = silences.Scope{Match: operation.Text(v.Match), Application: operation.Text(v.Application), Plan: operation.Text(v.Plan), Team: operation.Text(v.Team)}
	d.Comment, d.Recurrence, d.Zone = v.Comment, operation.Text(cmp.Or(v.Rule, v.Repeat)), operation.Text(zone.String())
	if v.From != "" {
		if d.From, err = moment("from", v.From, zone); err != nil {
			return d, err
		}
	}
	if v.Until != "" {
		d.To, err = moment("until", v.Until, zone)
		return d, err
	}
	period, err := time.ParseDuration(v.For)
	if err != nil || period <= 0 {
		return d, fault.Invalidf("for", "%.40q is no period such as 2h", v.For)
	}
	seconds := int64(period / time.Second)
	d.ForSeconds = &seconds
	return d, nil
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
