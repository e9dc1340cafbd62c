package pages

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/incidents/reviews"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/kit/operation"
	pagesnotifications "github.com/iris-oncall/iris/internal/notifications/pages"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
)

type entryView struct {
	Kind  incidents.EntryKind
	At    time.Time
	Text  string
	Actor string
	By    string // the actor, if the text does not name it
}

type bodyView struct {
	I               incidentView
	Facts           facts
	Alerts          alertsView
	Steps           int
	Next            nextView
	Earlier, Recent []entryView // of the timeline
	People          []personView
	OlderMessages   bool           // there are messages that are not shown
	Merged          []incidentView // into this one
	Context         string
	ReadOnly        bool
}

// incidentPage is the page around the part that refreshes itself.
type incidentPage struct {
	page.Frame
	I          incidentView
	Live       page.Live
	Offer      bool // of the acknowledgement that came without a session
	Undo       bool // the reader has just resolved the incident
	Open       bool // actions are possible
	SnoozeZone string
	Roles      []page.Option // of people to page
	Priorities []page.Option
	Told       pagesnotifications.Told
	Review     *reviews.Review // nil = nobody has written it
	Over       bool            // resolved or closed: a review can be made
	Commented  bool            // the reader has just added a comment: the browser deletes its draft
	// Refusal is why an action was refused; Action is the last part of its address, and Typed has its values.
	Refusal page.Refusal
	Action  string
	Typed   url.Values
}

// roleLabels are texts for roles of targets. Other roles are shown by name.
var roleLabels = map[string]string{"user": "a person", "oncall-primary": "on call, primary",
	"oncall-secondary": "on call, secondary", "manager": "manager",
	"next-on-call": "on call next", "round-robin": "one member of the team, in turn",
	"team": "everybody in the team", "mailing-list": "a mailing list"}

// roles reads whom a reader can page besides the plan.
func (h Handlers) roles(r *http.Request) (out []page.Option, err error) {
	all, err := h.Plans.Roles.Do(r.Context(), page.Actor(r), operation.None{})
	for _, one := range all.Items {
		out = append(out, page.Option{Value: one.Name, Label: cmp.Or(roleLabels[one.Name], one.Name)})
	}
	return out, err
}

func (h Handlers) show(rw http.ResponseWriter, r *http.Request) {
	id, err := incidentID(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	h.showIncident(rw, r, id, incidentPage{})
}

// showIncident shows the page of an incident. v has what was typed into an action that was refused.
func (h Handlers) showIncident(rw http.ResponseWriter, r *http.Request, id incidents.ID, v incidentPage) {
	version, err := h.Version(r.Context(), id)
	if err == nil && page.Unchanged(r, version) {
		return
	}
	var body bodyView
	if err == nil {
		body, err = h.body(r, id)
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	live, whole := h.Pages.Live(rw, r, "incident-body", body)
	if !whole {
		return
	}
	live.Self = fmt.Sprintf("/incidents/%d", id)
	v.Frame, v.I, v.Live, v.Open = h.Pages.Frame(r, body.I.Title, "incidents"), body.I, live, !body.I.Resolved
	v.Offer = r.URL.Query().Get("offer") == "acknowledge"
	v.Undo = body.I.Resolved && h.mayUndo(r, id)
	v.Over = body.I.State == string(incidents.StateResolved) || body.I.State == string(incidents.StateClosed)
	if v.Told, err = h.Told(r, id); err == nil {
		v.Review, err = h.review(r, id)
	}
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v.SnoozeZone, v.Priorities = page.Zone(r).String(), page.Options(users.Priorities...)
	if v.Open && !v.ReadOnly {
		if v.Roles, err = h.roles(r); err != nil {
			h.Pages.Fail(rw, r, err)
			return
		}
	}
	v.Commented = h.Pages.Sessions.PopBool(r.Context(), "commented")
	status := http.StatusOK
	if v.Refusal.Text != "" {
		status = v.Refusal.Status
	}
	h.Pages.Render(rw, r, status, "incident", v)
}

// review reads the review of an incident; nil = nobody has written it.
func (h Handlers) review(r *http.Request, id incidents.ID) (*reviews.Review, error) {
	found, err := h.Reviews.Get.Do(r.Context(), page.Actor(r), reviews.One{Incident: id})
	if fault.Is(err, fault.NotFound) {
		return nil, nil
	}
	return &found, err
}

func incidentID(r *http.Request) (incidents.ID, error) {
	id, err := strconv.ParseInt(chi.URLParam(r, "id"), 10, 64)
	if err != nil || id <= 0 {
		return 0, fault.New(fault.NotFound, "no such incident")
	}
	return incidents.ID(id), nil
}

func (h Handlers) body(r *http.Request, id incidents.ID) (bodyView, error) {
	ctx := r.Context()
	i, err := h.Incidents.Get(ctx, id)
	if err != nil {
		return bodyView{}, err
	}
	entries, err := h.Incidents.Timeline(ctx, id)
	if err != nil {
		return bodyView{}, err
	}
	sent, err := h.Messages.Newest(ctx, id, maxMessages+1)
	if err != nil {
		return bodyView{}, err
	}
	older := len(sent) > maxMessages
	sent = sent[max(0, len(sent)-maxMessages):]
	alerts, err := h.Incidents.Alerts(ctx, id, "", maxAlerts+1)
	if err != nil {
		return bodyView{}, err
	}
	children, err := h.Incidents.List(ctx, filters.Query{Conditions: []filters.Condition{
		{Field: "merged_into", Op: filters.Eq, Values: []any{int64(id)}},
	}})
	if err != nil {
		return bodyView{}, err
	}
	body := bodyView{I: viewIncident(i), Facts: readFacts(i.Context, i.Title()), Alerts: viewAlerts(alerts),
		Steps:  h.Steps(ctx, i.PlanID),
		People: byPerson(sent), Context: indented(i.Context), ReadOnly: page.Reader(r).ReadOnly}
	body.Next, body.OlderMessages = h.next(r, i)[id], older
	for _, child := range children {
		body.Merged = append(body.Merged, viewIncident(child))
	}
	body.Earlier, body.Recent = viewTimeline(entries)
	return body, nil
}

// recentEntries is how many entries of a timeline are not folded.
const recentEntries = 30

// viewTimeline returns the entries, and separately those that are folded because there are many.
func viewTimeline(entries []incidents.Entry) (earlier, recent []entryView) {
	all := make([]entryView, 0, len(entries))
	for _, e := range entries {
		v := entryView{Kind: e.Kind, At: e.At, Text: e.Text, Actor: e.Actor}
		if e.Kind == incidents.EntryComment || !strings.Contains(e.Text, e.Actor) { // most texts name the person
			v.By = e.Actor
		}
		all = append(all, v)
	}
	if cut := len(all) - recentEntries; cut > 0 {
		return all[:cut], all[cut:]
	}
	return nil, all
}

// maxIndented is how deep a context may be nested and still be shown indented. The spaces grow with the square of the
// depth: 64 KB of brackets would become a page of more than 100 MB.
const maxIndented = 32

// indented formats a context. A context that is nested too deep is shown as it was sent.
func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if depth(raw) > maxIndented || json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// depth returns how deep the lists and objects of a JSON text are nested.
func depth(raw json.RawMessage) (deepest int) {
	current, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			current++
			deepest = max(deepest, current)
		case c == ']' || c == '}':
			current--
		}
	}
	return deepest
}
