package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/filters"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

const listLength = 50

type incidentView struct {
	incidents.Incident
	Title, State, StateText               string
	CanAcknowledge, CanReopen, CanResolve bool
}

type tab struct {
	Label, Href string
	Current     bool
}

type listPage struct {
	frame
	Tabs                    []tab
	Show, Application, Plan string
	Live                    live
}

type listRows struct {
	Rows     []incidentView
	Older    string
	Empty    string
	Self     string // address of this list, for the way back
	ReadOnly bool
}

var shows = []struct {
	name, label, empty string
	conditions         []filters.Condition
}{
	{"open", "Open", "No open incidents.", []filters.Condition{flag("resolved", 0)}},
	{"escalating", "Escalating", "Nobody is being paged.", []filters.Condition{flag("active", 1)}},
	{"resolved", "Resolved", "No resolved incidents.", []filters.Condition{flag("resolved", 1)}},
	{"all", "All", "No incidents.", nil},
}

func flag(field string, v int64) filters.Condition {
	return filters.Condition{Field: field, Op: filters.Eq, Values: []any{v}}
}

func (w *Web) frame(r *http.Request, title, section string) frame {
	return frame{Title: title, Section: section, User: actor(r).Name, ReadOnly: actor(r).ReadOnly, Admin: actor(r).Admin, Mailbox: w.d.Mailbox,
		Zone:  actor(r).TimeZone,
		Flash: w.d.Sessions.PopString(r.Context(), "flash")}
}

// zoneCookie is where the pages' script keeps the browser's time zone, for readers who have chosen none.
const zoneCookie = "iris_zone"

// readerZone is the zone in which times are shown to the reader: their own, else the browser's.
func readerZone(r *http.Request) *time.Location {
	name := actor(r).TimeZone
	if c, err := r.Cookie(zoneCookie); err == nil && name == "" {
		name = c.Value
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		return time.UTC
	}
	return zone
}

func (w *Web) listIncidents(rw http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), requestTimeout)
	defer cancel()
	v := r.URL.Query()
	chosen := shows[0]
	for _, s := range shows {
		if s.name == v.Get("show") {
			chosen = s
		}
	}
	page := listPage{Show: chosen.name, Application: strings.TrimSpace(v.Get("application")), Plan: strings.TrimSpace(v.Get("plan"))}
	q := filters.Query{Conditions: append([]filters.Condition(nil), chosen.conditions...), Limit: listLength + 1}
	for _, f := range []struct{ field, text string }{{"application", page.Application}, {"plan", page.Plan}} {
		if f.text != "" {
			q.Conditions = append(q.Conditions, filters.Condition{Field: f.field, Op: filters.Contains, Values: []any{printable(f.text)}})
		}
	}
	if before, err := strconv.ParseInt(v.Get("before"), 10, 64); err == nil {
		q.Conditions = append(q.Conditions, filters.Condition{Field: "id", Op: filters.Lt, Values: []any{before}})
	}
	found, err := w.d.Incidents.List(ctx, q)
	if err != nil {
		w.fail(rw, r, err)
		return
	}
	rows := listRows{Empty: chosen.empty, ReadOnly: actor(r).ReadOnly, Self: link(v, "show", chosen.name)}
	if page.Application != "" || page.Plan != "" {
		rows.Empty = "Nothing matches the filter."
	}
	if len(found) > listLength {
		found = found[:listLength]
		rows.Older = link(v, "before", strconv.FormatInt(int64(found[len(found)-1].ID), 10))
	}
	for _, i := range found {
		rows.Rows = append(rows.Rows, view(i))
	}
	l, whole := w.views.live(rw, r, w.d.Log, "incident-rows", rows)
	if !whole {
		return
	}
	page.Live = l
	for _, s := range shows {
		v.Del("before")
		page.Tabs = append(page.Tabs, tab{s.label, link(v, "show", s.name), s.name == chosen.name})
	}
	page.frame = w.frame(r, "Incidents", "incidents")
	w.views.page(rw, r, w.d.Log, http.StatusOK, "incidents", page)
}

// printable removes NUL and invalid UTF-8 from typed text: stored text has neither.
func printable(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

func link(v url.Values, key, value string) string {
	c := url.Values{}
	for k, vs := range v {
		c[k] = vs
	}
	c.Set(key, value)
	return "/incidents?" + c.Encode()
}

func view(i incidents.Incident) incidentView {
	v := incidentView{Incident: i, Title: i.Title()}
	switch {
	case i.Resolved:
		v.State, v.StateText = "resolved", "resolved"
	case i.Active && i.CurrentStep == 0:
		v.State, v.StateText = "escalating", "starting"
	case i.Active:
		v.State, v.StateText = "escalating", fmt.Sprintf("escalating, step %d", i.CurrentStep)
	case i.Owner != "":
		v.State, v.StateText = "acknowledged", "acknowledged by" // the template adds who
	default:
		v.State, v.StateText = "exhausted", "nobody acknowledged"
	}
	v.CanAcknowledge = !i.Resolved && i.Owner == ""
	v.CanReopen = !i.Resolved && !i.Active
	v.CanResolve = !i.Resolved
	return v
}

func cut(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

type entryView struct {
	Kind incidents.EntryKind
	At   time.Time
	Text string
	By   string
}

type messageView struct {
	Target, Mode, State, StateText, Note, Detail string
	Step, Repeat                                 int
}

type incidentBody struct {
	I        incidentView
	Steps    int
	Timeline []entryView
	Messages []messageView
	Context  string
	ReadOnly bool
}

func (w *Web) showIncident(rw http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), requestTimeout)
	defer cancel()
	id, err := incidentID(r)
	if err != nil {
		w.fail(rw, r, err)
		return
	}
	body, err := w.incidentBody(ctx, id)
	if err != nil {
		w.fail(rw, r, err)
		return
	}
	body.ReadOnly = actor(r).ReadOnly
	l, whole := w.views.live(rw, r, w.d.Log, "incident-body", body)
	if !whole {
		return
	}
	w.views.page(rw, r, w.d.Log, http.StatusOK, "incident", struct {
		frame
		ID        incidents.ID
		Live      live
		Offer     *offer
		Commented bool // just now: the browser forgets its draft
	}{w.frame(r, body.I.Title, "incidents"), id, l, offered(r, body.I), w.d.Sessions.PopBool(r.Context(), "commented")})
}

func (w *Web) incidentBody(ctx context.Context, id incidents.ID) (incidentBody, error) {
	i, err := w.d.Incidents.Get(ctx, id)
	if err != nil {
		return incidentBody{}, err
	}
	entries, err := w.d.Incidents.Timeline(ctx, id)
	if err != nil {
		return incidentBody{}, err
	}
	msgs, err := w.d.Messages.ByIncident(ctx, id)
	if err != nil {
		return incidentBody{}, err
	}
	body := incidentBody{I: view(i), Steps: w.d.Steps(ctx, i.PlanID), Context: indented(i.Context)}
	for _, e := range entries {
		v := entryView{Kind: e.Kind, At: e.At, Text: e.Text}
		if e.Kind == incidents.EntryComment || !strings.Contains(e.Text, e.Actor) { // most texts say who it was
			v.By = e.Actor
		}
		body.Timeline = append(body.Timeline, v)
	}
	for _, m := range msgs {
		body.Messages = append(body.Messages, viewMessage(m))
	}
	return body, nil
}

// stateTexts are the texts of a message's states. "Queued" must not look like "sent".
var stateTexts = map[messages.State]string{
	messages.Pending: "waiting", messages.Taken: "about to be sent", messages.Sending: "being sent", messages.Sent: "accepted by vendor",
	messages.Delivered: "delivered", messages.Failed: "failed", messages.Cancelled: "cancelled", messages.Aggregated: "held for a digest",
	messages.Dropped: "dropped",
}

func viewMessage(m messages.Message) messageView {
	v := messageView{Target: m.Target, Mode: string(m.Mode), State: string(m.State), StateText: stateTexts[m.State], Step: m.Step, Repeat: m.Repeat}
	switch m.Purpose {
	case messages.Fallback:
		v.Note = "fallback"
	case messages.TrackingMsg:
		v.Note = "tracking"
	}
	if n := len(m.Attempts); n > 0 {
		last := m.Attempts[n-1]
		v.Detail = last.Vendor
		if n > 1 {
			v.Detail += fmt.Sprintf(", attempt %d", last.Number)
		}
		if last.InDoubt {
			v.Detail += ", in doubt"
		}
		if last.Outcome != messages.OutcomeSent && last.Detail != "" {
			v.Detail += ": " + cut(last.Detail, 120)
		}
	}
	return v
}

// maxIndented is how deep a context may be nested that is shown indented. The spaces grow with the square of the depth: 64 KB of
// brackets would become a page of more than 100 MB.
const maxIndented = 32

// indented formats a context for people. A context that is nested too deep is shown as it was sent.
func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if nested(raw) > maxIndented || json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// nested returns how deep the lists and objects of a JSON text are nested.
func nested(raw json.RawMessage) (deepest int) {
	depth, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
			deepest = max(deepest, depth)
		case c == ']' || c == '}':
			depth--
		}
	}
	return deepest
}

func incidentID(r *http.Request) (incidents.ID, error) {
	id, err := strconv.ParseInt(chi.URLParam(r, "id"), 10, 64)
	if err != nil || id <= 0 {
		return 0, fault.New(fault.NotFound, "no such incident")
	}
	return incidents.ID(id), nil
}

// change makes one change of an incident and redirects back to the reader's page.
func (w *Web) change(rw http.ResponseWriter, r *http.Request, verb string, do func(context.Context, incidents.Change) ([]incidents.Acknowledged, error)) {
	id, err := incidentID(r)
	if err != nil {
		w.fail(rw, r, err)
		return
	}
	replace, _ := strconv.ParseInt(r.PostFormValue("replace"), 10, 64) // 0 replaces nobody
	done, err := do(r.Context(), incidents.Change{IDs: []incidents.ID{id}, Actor: actor(r).Name, Via: incidents.ViaWeb,
		AskFirst: true, Replace: users.ID(replace)})
	if err == nil && (len(done) == 0 || !done[0].Found) {
		err = fault.New(fault.NotFound, "no such incident")
	}
	list := r.PostFormValue("back") // as the reader had filtered it
	if list != "/incidents" && !strings.HasPrefix(list, "/incidents?") {
		list = ""
	}
	if err != nil {
		w.failChange(rw, r, err, again{ID: id, Verb: verb, Label: verbs[verb], Replace: users.ID(replace), Back: list})
		return
	}
	if done[0].OwnedBy != 0 {
		w.askFirst(rw, r, done[0], list)
		return
	}
	w.d.Wake(buckets.Of(int(int64(id) % buckets.Count)))
	back := fmt.Sprintf("/incidents/%d", id)
	if list != "" {
		back = list
	}
	http.Redirect(rw, r, back, http.StatusSeeOther)
}

func (w *Web) acknowledge(rw http.ResponseWriter, r *http.Request) {
	w.change(rw, r, "acknowledge", func(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error) {
		return w.d.Incidents.Acknowledge(ctx, c, actor(r))
	})
}

func (w *Web) reopen(rw http.ResponseWriter, r *http.Request) {
	w.change(rw, r, "reopen", w.d.Incidents.Reopen)
}

func (w *Web) resolve(rw http.ResponseWriter, r *http.Request) {
	w.change(rw, r, "resolve", func(ctx context.Context, c incidents.Change) ([]incidents.Acknowledged, error) {
		return w.d.Incidents.Resolve(ctx, c, true)
	})
}

// maxCommentForm is well above the longest comment, in bytes of an encoded form.
const maxCommentForm = 1 << 20

func (w *Web) comment(rw http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(rw, r.Body, maxCommentForm)
	id, err := incidentID(r)
	if err == nil && r.ParseForm() != nil {
		err = fault.Invalidf("content", "The comment is too long or cannot be read")
	}
	if err != nil {
		w.fail(rw, r, err)
		return
	}
	content := r.PostFormValue("content")
	if _, err := w.d.Incidents.AddComment(r.Context(), id, actor(r), content); err != nil {
		w.failChange(rw, r, err, again{ID: id, Verb: "comments", Label: "Add comment", Content: content})
		return
	}
	w.d.Sessions.Put(r.Context(), "commented", true)
	http.Redirect(rw, r, fmt.Sprintf("/incidents/%d", id), http.StatusSeeOther)
}
