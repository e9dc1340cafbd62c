package incidents

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/filters"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/web/page"
)

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

type bodyView struct {
	I        incidentView
	Steps    int
	Timeline []entryView
	Messages []messageView
	Merged   []incidentView // into this one
	Context  string
	ReadOnly bool
}

func (h Handlers) show(rw http.ResponseWriter, r *http.Request) {
	id, err := incidentID(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	body, err := h.body(r.Context(), id)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	body.ReadOnly = page.Reader(r).ReadOnly
	live, whole := h.Pages.Live(rw, r, "incident-body", body)
	if !whole {
		return
	}
	h.Pages.Render(rw, r, http.StatusOK, "incident", struct {
		page.Frame
		ID         incidents.ID
		Live       page.Live
		Offer      *offer
		Open       bool // actions are possible
		Merged     bool
		SnoozeZone string
		Commented  bool // the reader has just added a comment: the browser deletes its draft
	}{h.Pages.Frame(r, body.I.Title, "incidents"), id, live, offered(r, body.I), !body.I.Resolved, body.I.MergedInto != 0, page.Zone(r).String(), h.Pages.Sessions.PopBool(r.Context(), "commented")})
}

func incidentID(r *http.Request) (incidents.ID, error) {
	id, err := strconv.ParseInt(chi.URLParam(r, "id"), 10, 64)
	if err != nil || id <= 0 {
		return 0, fault.New(fault.NotFound, "no such incident")
	}
	return incidents.ID(id), nil
}

func (h Handlers) body(ctx context.Context, id incidents.ID) (bodyView, error) {
	i, err := h.Incidents.Get(ctx, id)
	if err != nil {
		return bodyView{}, err
	}
	entries, err := h.Incidents.Timeline(ctx, id)
	if err != nil {
		return bodyView{}, err
	}
	sent, err := h.Messages.ByIncident(ctx, id)
	if err != nil {
		return bodyView{}, err
	}
	body := bodyView{I: viewIncident(i), Steps: h.Steps(ctx, i.PlanID), Context: indented(i.Context)}
	children, err := h.Incidents.List(ctx, filters.Query{Conditions: []filters.Condition{
		{Field: "merged_into", Op: filters.Eq, Values: []any{int64(id)}},
	}})
	if err != nil {
		return bodyView{}, err
	}
	for _, child := range children {
		body.Merged = append(body.Merged, viewIncident(child))
	}
	for _, e := range entries {
		v := entryView{Kind: e.Kind, At: e.At, Text: e.Text}
		if e.Kind == incidents.EntryComment || !strings.Contains(e.Text, e.Actor) { // most texts name the person
			v.By = e.Actor
		}
		body.Timeline = append(body.Timeline, v)
	}
	for _, m := range sent {
		body.Messages = append(body.Messages, viewMessage(m))
	}
	return body, nil
}

// stateText describes the state of a message. A queued message must not read like a sent one.
func stateText(s messages.State) string {
	return map[messages.State]string{
		messages.Pending: "waiting", messages.Taken: "about to be sent", messages.Sending: "being sent", messages.Sent: "accepted by vendor",
		messages.Delivered: "delivered", messages.Failed: "failed", messages.Cancelled: "cancelled", messages.Aggregated: "held for a digest",
		messages.Dropped: "dropped",
	}[s]
}

// maxDetail is how much of a vendor's error is shown, in characters.
const maxDetail = 120

func viewMessage(m messages.Message) messageView {
	v := messageView{Target: m.Target, Mode: string(m.Mode), State: string(m.State), StateText: stateText(m.State), Step: m.Step, Repeat: m.Repeat}
	switch m.Purpose.Kind() {
	case messages.Fallback, messages.FollowUp, messages.ResolvedNotice, messages.OwnerNotice:
		v.Note = string(m.Purpose.Kind())
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
			v.Detail += ": " + shortened(last.Detail, maxDetail)
		}
	}
	return v
}

func shortened(s string, length int) string {
	r := []rune(s)
	if len(r) <= length {
		return s
	}
	return string(r[:length-1]) + "…"
}

// maxIndented is how deep a context may be nested and still be shown indented. The spaces grow with the square of the depth:
// 64 KB of brackets would become a page of more than 100 MB.
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
