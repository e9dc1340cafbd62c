package silences

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
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
	ID                                   silences.ID // of the silence that the form changes; 0 = it adds one
	Problem                              string
	Match, Application, Plan, Team       string
	From, For, Until, Repeat, Rule, Zone string
	Comment                              string
	Periods, Repeats                     []option
	Repeating                            bool // the part about repetition is open
	Incident                             incidents.ID
}

// typed returns the values of a form that field reads.
func typed(field func(name string) string) formView {
	clean := func(name string) string { return page.Storable(strings.TrimSpace(field(name))) }
	return formView{Match: clean("match"), Application: clean("application"), Plan: clean("plan"), Team: clean("team"), From: clean("from"),
		For: clean("for"), Until: clean("until"), Repeat: clean("repeat"), Rule: clean("rule"), Comment: clean("comment")}
}

// keptForm is the parameter of a form whose values are in the query, because the session ended before they were stored.
const keptForm = "kept"

const lostForm = "Your session had ended, and nothing was stored. Check what you typed and send it again."

// kept returns the typed values in the query; false = there are none.
func kept(r *http.Request) (formView, bool) {
	q := r.URL.Query()
	v := typed(q.Get)
	v.Problem = lostForm
	return v, q.Has(keptForm)
}

// form shows the form. ?incident=ID fills in the application and the labels of an incident.
func (h Handlers) form(rw http.ResponseWriter, r *http.Request) {
	if v, ok := kept(r); ok {
		h.render(rw, r, http.StatusOK, v)
		return
	}
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
	title := "Add a silence"
	if v.ID != 0 {
		title = fmt.Sprintf("Change silence %d", v.ID)
		v.Periods = []option{{"", "keep the end"}}
	}
	v.Frame = h.Pages.Frame(r, title, "silences")
	if v.Zone == "" {
		v.Zone = page.Zone(r).String()
	}
	v.Periods = append(v.Periods, []option{{"30m", "30 minutes"}, {"1h", "1 hour"}, {"2h", "2 hours"}, {"4h", "4 hours"}, {"8h", "8 hours"}, {"24h", "1 day"}, {"72h", "3 days"}, {"168h", "7 days"}}...)
	v.Repeats = repeats()
	v.Repeating = v.Repeat != "" || v.Rule != ""
	h.Pages.Render(rw, r, status, "silence-form", v)
}

// repeats are the recurrences that need no RRULE.
func repeats() []option {
	return []option{{"", "never"}, {"FREQ=DAILY", "every day"}, {"FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "every working day"}, {"FREQ=WEEKLY", "every week"}, {"FREQ=MONTHLY", "every month"}}
}

// create adds a silence.
func (h Handlers) create(rw http.ResponseWriter, r *http.Request) {
	v := typed(r.PostFormValue)
	c, err := v.content(time.Now(), page.Zone(r))
	var made silences.Silence
	if err == nil {
		made, err = h.Changes.Create(r.Context(), actor(r), c)
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
	v, ok := kept(r)
	if !ok {
		const local = "2006-01-02T15:04:05"
		v = formView{Match: s.Match, Application: s.Application, Plan: s.Plan, Team: s.Team, Comment: s.Comment, Rule: s.Recurrence,
			From: s.From.In(zone).Format(local), Until: s.To.In(zone).Format(local)}
		if slices.ContainsFunc(repeats(), func(o option) bool { return o.Value == s.Recurrence }) {
			v.Repeat, v.Rule = s.Recurrence, ""
		}
	}
	v.ID, v.Zone = s.ID, zone.String()
	h.render(rw, r, http.StatusOK, v)
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
	now := time.Now()
	c, err := v.content(now, zone)
	if v.For != "" {
		c.To = c.EndAfter(c.To.Sub(c.From), now)
	}
	if err == nil {
		_, err = h.Changes.Replace(r.Context(), actor(r), s.ID, c)
	}
	h.answer(rw, r, v, s.ID, err)
}

// editable returns the silence of a request, and the zone of its times: that of a window, else the reader's.
func (h Handlers) editable(r *http.Request) (silences.Silence, *time.Location, error) {
	id, err := number(r)
	if err != nil {
		return silences.Silence{}, nil, err
	}
	s, err := h.Silences.ByID(r.Context(), id)
	zone := page.Zone(r)
	if s.Recurrence != "" {
		if own, err := time.LoadLocation(s.Zone); err == nil {
			zone = own
		}
	}
	return s, zone, err
}

// answer redirects to the silence that a form stored. A form that is refused is shown again with its values.
func (h Handlers) answer(rw http.ResponseWriter, r *http.Request, v formView, stored silences.ID, err error) {
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
		http.Redirect(rw, r, fmt.Sprintf("/silences/%d", stored), http.StatusSeeOther)
		return
	}
	v.Problem = fault.Public(err)
	h.render(rw, r, status, v)
}

// maxForm is the largest form that is kept through a log-in, in bytes. Its values must fit into an address twice escaped.
const maxForm = 4 << 10

// RefuseChange answers a form of somebody without a session: with the log-in page, which leads back to the form with its values. It
// returns false if the request is no form of a silence.
func RefuseChange(rw http.ResponseWriter, r *http.Request) bool {
	to, ok := strings.CutPrefix(r.URL.Path, "/silences")
	if r.Method != http.MethodPost || !ok {
		return false
	}
	switch {
	case to == "" || to == "/":
		to = "/new"
	case !strings.HasSuffix(to, "/edit"):
		return false
	}
	r.Body = http.MaxBytesReader(rw, r.Body, maxForm)
	next := "/silences" + to
	if r.ParseForm() == nil {
		r.PostForm.Set(keptForm, "")
		next += "?" + r.PostForm.Encode()
	}
	http.Redirect(rw, r, "/login/?next="+url.QueryEscape(next), http.StatusSeeOther)
	return true
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
