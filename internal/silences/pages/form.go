package pages

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	pagescatalog "github.com/iris-oncall/iris/internal/catalog/pages"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/silences"
	pagesusers "github.com/iris-oncall/iris/internal/users/pages"
	"github.com/iris-oncall/iris/internal/web/page"
)

// formView is the form. Typed has its values, so that a refused form keeps them.
type formView struct {
	page.Frame
	ID                         silences.ID // of the silence that the form changes; 0 = it adds one
	Refusal                    page.Refusal
	Typed                      url.Values
	Zone                       string
	Periods, Repeats           []page.Option
	Applications, Plans, Teams []string // suggestions
	Incident                   incidents.ID
	Foreseen                   *foreseen
}

// Repeating reports whether the part about repetition is open.
func (v formView) Repeating() bool { return v.Typed.Get("repeat")+v.Typed.Get("recurrence") != "" }

// foreseen is what the typed silence would hide. Problem says why it cannot be told.
type foreseen struct {
	Problem    string
	Escalating []hidden
	Count      int // of Escalating, which has the newest
	Recent     int
	Partial    bool
	Spans      []silences.Span // the next occurrences of a window
}

// form shows the form. ?incident=ID fills in the application and the labels of an incident; the fields of the form fill
// in themselves.
func (h Handlers) form(rw http.ResponseWriter, r *http.Request) {
	v := formView{Typed: r.URL.Query()}
	if !v.Typed.Has("for_seconds") {
		v.Typed.Set("for_seconds", "2h")
	}
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
		v.Incident = i.ID
		v.Typed.Set("application", i.Application)
		v.Typed.Set("match", silences.Suggest(i.Context))
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
	v.Applications, v.Plans = pagescatalog.ApplicationNames(r, h.Applications), pagescatalog.PlanNames(r, h.Plans)
	v.Teams = pagesusers.TeamNames(r, h.Teams)
	h.Pages.Render(rw, r, max(v.Refusal.Status, http.StatusOK), "silence-form", v)
}

// periods are the offered lengths of a silence.
var periods = []page.Option{{Value: "30m", Label: "30 minutes"}, {Value: "1h", Label: "1 hour"},
	{Value: "2h", Label: "2 hours"}, {Value: "4h", Label: "4 hours"},
	{Value: "8h", Label: "8 hours"}, {Value: "24h", Label: "1 day"}, {Value: "72h", Label: "3 days"}, {Value: "168h",
		Label: "7 days"}}

// repeats are the recurrences that need no RRULE.
func repeats() []page.Option {
	return []page.Option{{Value: "", Label: "never"}, {Value: "FREQ=DAILY", Label: "every day"},
		{Value: "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", Label: "every working day"},
		{Value: "FREQ=WEEKLY", Label: "every week"}, {Value: "FREQ=MONTHLY", Label: "every month"}}
}

// create adds a silence.
func (h Handlers) create(rw http.ResponseWriter, r *http.Request) {
	v := formView{Typed: page.Typed(r)}
	d, err := typed(r, page.Zone(r))
	if !d.To.IsZero() {
		d.ForSeconds = nil
	}
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
	rule := "recurrence"
	if slices.ContainsFunc(repeats(), func(o page.Option) bool { return o.Value == string(s.Recurrence) }) {
		rule = "repeat"
	}
	h.render(rw, r, formView{ID: s.ID, Zone: zone.String(), Typed: url.Values{"match": {string(s.Match)},
		"application": {string(s.Application)},
		"plan":        {string(s.Plan)}, "team": {string(s.Team)}, "comment": {s.Comment}, "from": {s.From.In(zone).Format(local)},
		"to": {s.To.In(zone).Format(local)}, rule: {string(s.Recurrence)}}})
}

// change stores the typed content of a silence. A period is that of Content.EndAfter.
func (h Handlers) change(rw http.ResponseWriter, r *http.Request) {
	s, zone, err := h.editable(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v := formView{ID: s.ID, Zone: zone.String(), Typed: page.Typed(r)}
	d, err := typed(r, zone)
	if d.ForSeconds != nil {
		d.To, d.ForSeconds, d.EndsInSeconds = time.Time{}, nil, d.ForSeconds
	}
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

// typed returns the typed silence, whose times are in a zone. No begin means now.
func typed(r *http.Request, zone *time.Location) (silences.Draft, error) {
	d, err := page.DecodeIn[silences.Draft](r, zone)
	d.Recurrence, d.Zone = cmp.Or(d.Recurrence,
		operation.Text(page.Typed(r).Get("repeat"))), operation.Text(zone.String())
	return d, err
}
