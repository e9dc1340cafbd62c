// This file serves the search of messages, its export, and the page of one message.

package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/operation"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/system"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Deps are the operations that the pages carry out.
type Deps struct {
	Messages *messages.Messages
	Resend   operation.Op[system.OneMessage, system.Resent]
}

// Handlers serves the pages. It is safe for concurrent use.
type Handlers struct {
	Deps
	Pages *page.Pages
}

// Routes mounts the pages. The caller must admit only people who have logged in.
func (h Handlers) Routes(r chi.Router) {
	page.Get(r, "/messages", h.list)
	r.Get("/messages/export", h.export)
	r.Head("/messages/export", h.export)
	page.Get(r, "/messages/{message}", h.one)
	page.Get(r, "/messages/{message}/html", h.html)
}

// ChangeRoutes mounts the forms.
func (h Handlers) ChangeRoutes(r chi.Router) { r.Post("/messages/{message}/resend", h.resend) }

const (
	address = "/messages"
	// typed is how a datetime-local field writes an instant.
	typed = "2006-01-02T15:04"
	// exported is how many messages an export has at most, and exportFor how long it may take.
	exported  = 20000
	exportFor = time.Minute
	pageSize  = 500 // messages that are read at once
)

// message is a message as pages show it. Lists have only the members of messages.MessageInList.
type message struct{ messages.MessageDetail }

func inList(m messages.MessageInList) message {
	return message{messages.MessageDetail{MessageInList: m}}
}

type change struct{ messages.Change }

// otherMessage finds the number of another message in the description of a change.
var otherMessage = regexp.MustCompile(`sends (?:message|it again as message) ([0-9]+)`)

// Other is the number of the message that this one was made from, or that it was sent again as; "" = none.
func (c change) Other() string {
	if found := otherMessage.FindStringSubmatch(c.Description); c.Type == "sent-change" && found != nil {
		return found[1]
	}
	return ""
}

// Chip is the kind of chip for the state of the message.
func (m message) Chip() string {
	switch m.State {
	case messages.Delivered, messages.Sent:
		return "good"
	case messages.Failed:
		return "bad"
	case messages.Pending, messages.Taken, messages.Sending:
		return "warn"
	}
	return "info"
}

// longest is how long the heading of a message is at most, in characters.
const longest = 160

// Heading is the subject, or the beginning of the text of a message whose subject is only its number.
func (m message) Heading() string {
	if strings.Trim(m.Subject, "0123456789 ") != "" {
		return m.Subject
	}
	text := []rune(strings.TrimSpace(m.Body))
	switch {
	case len(text) == 0:
		return "Message " + strconv.FormatInt(int64(m.ID), 10)
	case len(text) > longest:
		return string(text[:longest]) + "…"
	}
	return string(text)
}

// search is what was typed into the search.
type search struct {
	Given    map[string]string // by the names of the members of messages.Filter
	From, To string
	in       *time.Location
}

// read reads a search, and returns the filter that it means.
func read(r *http.Request) (s search, f messages.Filter, wrong page.Refusal) {
	s = search{Given: map[string]string{}, in: page.Zone(r)}
	given := r.URL.Query()
	value := func(name string) string {
		text := page.Storable(strings.TrimSpace(given.Get(name)))
		if text != "" {
			s.Given[name] = text
		}
		return text
	}
	refuse := func(name, why string) {
		wrong = page.Refusal{Status: http.StatusBadRequest, Field: name, Text: name + " must be " + why}
	}
	number := func(name string) (n int64) {
		if text := value(name); text != "" {
			var err error
			if n, err = strconv.ParseInt(text, 10, 64); err != nil {
				refuse(name, "a whole number")
			} else if n < 1 {
				refuse(name, "at least 1")
			}
		}
		return n
	}
	at := func(name string) (at time.Time) {
		if text := given.Get(name); text != "" {
			var err error
			if at, err = time.ParseInLocation(typed, text, s.in); err != nil {
				refuse(name, "a time, such as 2026-11-22T09:30.")
			}
		}
		return at
	}
	f = messages.Filter{IncidentID: number("incident_id"), NotificationID: number("notification_id"),
		Target: value("target"), Mode: value("mode"), Application: value("application"), Plan: value("plan"),
		Priority: value("priority"), State: value("state"), Purpose: value("purpose"), Vendor: value("vendor"),
		Batch: value("batch"), Subject: value("subject"), Text: value("body"), Destination: value("destination"),
		Period: operation.Period{CreatedAfter: at("from"), CreatedBefore: at("to")}}
	s.From, s.To = given.Get("from"), given.Get("to")
	return s, f, wrong
}

// own returns the filters as the query of the pages.
func (s search) own() url.Values {
	q := url.Values{}
	for name, value := range s.Given {
		q.Set(name, value)
	}
	if s.From != "" {
		q.Set("from", s.From)
	}
	if s.To != "" {
		q.Set("to", s.To)
	}
	return q
}

type listView struct {
	page.Frame
	search
	Chosen       bool
	Rows         []message
	More, Export string
	Empty        bool // no row, and no further page
	Refusal      page.Refusal
	ZoneName     string
	Destinations bool // the reader may search by them

	Modes, Priorities, States, Purposes []page.Option
}

func (h Handlers) list(rw http.ResponseWriter, r *http.Request) {
	s, f, wrong := read(r)
	v := listView{search: s, Chosen: len(s.own()) > 0, Refusal: wrong, ZoneName: s.in.String(),
		Destinations: wire.Actor(r.Context()).Sight().SearchesDestinations(),
		Modes:        page.OptionsOr("any mode", users.Modes...), Priorities: page.OptionsOr("any priority",
			users.Priorities...),
		States: page.OptionsOr("any state", "pending", "taken", "sending", "sent", "delivered", "failed",
			"cancelled", "aggregated", "dropped"),
		Purposes: page.OptionsOr("any purpose", "primary", "copy", "fallback", "tracking", "direct", "digest",
			"resolved-notice", "owner-notice", "update")}
	status := http.StatusOK
	if wrong.Text == "" {
		f.Paging = operation.Paging{Limit: page.ListLength, Cursor: r.URL.Query().Get("cursor")}
		found, err := h.Messages.List.Do(r.Context(), page.Actor(r), f)
		if err != nil {
			refusal, ok := h.Pages.Refused(rw, r, err)
			if !ok {
				return
			}
			v.Refusal = refusal
		}
		for _, m := range found.Items {
			v.Rows = append(v.Rows, inList(m))
		}
		own := s.own()
		v.Export = address + "/export?" + own.Encode()
		if found.Next != nil {
			own.Set("cursor", *found.Next)
			v.More = address + "?" + own.Encode()
		}
	}
	if v.Refusal.Text != "" {
		status = v.Refusal.Status
	}
	v.Empty = len(v.Rows) == 0 && v.More == "" && v.Refusal.Text == ""
	v.Frame = h.Pages.Frame(r, "Messages", "messages")
	h.Pages.Render(rw, r, status, "messages", v)
}

// export answers with the messages of a search as CSV. It reads page after page and holds one of them in memory.
func (h Handlers) export(rw http.ResponseWriter, r *http.Request) {
	_, f, wrong := read(r)
	if wrong.Text != "" {
		h.Pages.Problem(rw, r, h.Pages.Frame(r, "Invalid request", "messages"), wrong.Status, wrong.Text)
		return
	}
	f.Limit = pageSize
	end, rows := time.Now().Add(exportFor), 0
	var out page.CSV
	for begun := false; ; {
		found, err := h.Messages.List.Do(r.Context(), page.Actor(r), f)
		if err != nil && begun {
			h.Pages.Note(r, err)
			panic(http.ErrAbortHandler) // so that nobody takes a part for the whole
		} else if err != nil {
			h.Pages.Fail(rw, r, err)
			return
		}
		if !begun {
			begun, out = true, page.NewCSV(rw, "iris-messages.csv")
			out.Row("message", "created_at", "sent_at", "state", "mode", "target", "destination", "application",
				"plan", "priority", "incident", "notification", "subject", "body")
		}
		for _, m := range found.Items[:min(len(found.Items), exported-rows)] {
			out.Row(row(m)...)
		}
		rows += len(found.Items)
		switch {
		case found.Next == nil:
		case rows >= exported || time.Now().After(end):
			out.Row("More messages match. Narrow the search, for example by time.")
			found.Next = nil
		}
		if err := out.Flush(); err != nil {
			panic(http.ErrAbortHandler) // the reader has gone
		}
		if f.Cursor = page.Next(found.Next); f.Cursor == "" {
			return
		}
	}
}

// row returns the row of a message in an export.
func row(m messages.MessageInList) []string {
	sent := ""
	if m.SentAt != nil {
		sent = m.SentAt.Format(time.RFC3339)
	}
	return []string{fmt.Sprint(m.ID), m.CreatedAt.Format(time.RFC3339), sent, string(m.State), string(m.Mode), m.Target,
		string(m.Destination), m.Application, string(m.Plan), string(m.Priority), orEmpty(m.IncidentID),
		orEmpty(m.NotificationID), m.Subject, m.Body}
}

func orEmpty[T any](v *T) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(*v)
}

type oneView struct {
	page.Frame
	message
	Changes []change
	Why     []string // why this person gets it, and why by this mode
	Again   bool     // the reader may send it again
	Refusal page.Refusal
}

func (h Handlers) one(rw http.ResponseWriter, r *http.Request) {
	h.showOne(rw, r, page.Refusal{Status: http.StatusOK})
}

// resend sends a message again and shows the new one.
func (h Handlers) resend(rw http.ResponseWriter, r *http.Request) {
	var made system.Resent
	id, err := number(r)
	if err == nil {
		made, err = h.Resend.Do(r.Context(), page.Actor(r), system.OneMessage{ID: id})
	}
	h.Pages.Finish(rw, r, "The message is sent again, as this message.", page.Path(address+"/%s", made.ID), err,
		func(refusal page.Refusal) { h.showOne(rw, r, refusal) })
}

// number returns the number of the message of the address.
func number(r *http.Request) (messages.ID, error) {
	id, err := strconv.ParseInt(wire.Param(r, "message"), 10, 64)
	if err != nil {
		return 0, fault.New(fault.NotFound, "no such message")
	}
	return messages.ID(id), nil
}

// read reads the message of the address.
func (h Handlers) read(r *http.Request) (m message, err error) {
	id, err := number(r)
	if err == nil {
		m.MessageDetail, err = h.Messages.Get.Do(r.Context(), page.Actor(r), messages.One{ID: id})
	}
	return m, err
}

// html answers with the HTML of an e-mail as it was sent, for the frame on the page of the message.
func (h Handlers) html(rw http.ResponseWriter, r *http.Request) {
	m, err := h.read(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	page.Mail(rw, string(m.EmailHTML))
}

func (h Handlers) showOne(rw http.ResponseWriter, r *http.Request, refusal page.Refusal) {
	m, err := h.read(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v := oneView{Refusal: refusal, message: m, Why: why(m)}
	for _, c := range m.Changes {
		v.Changes = append(v.Changes, change{c})
	}
	v.Frame = h.Pages.Frame(r, fmt.Sprint("Message ", m.ID), "messages")
	v.Again = v.Admin && slices.Contains([]messages.State{messages.Sent, messages.Delivered, messages.Failed,
		messages.Cancelled, messages.Dropped}, m.State)
	h.Pages.Render(rw, r, refusal.Status, "message", v)
}

var purposes = map[messages.Purpose]string{
	messages.Primary:        "The plan pages this person in step %d.",
	messages.Copy:           "This person gets a copy of the page of step %d.",
	messages.Fallback:       "This person is a fallback: nobody of step %d could be reached.",
	messages.TrackingMsg:    "The tracking notification of the plan.",
	messages.Direct:         "A person asked for this page.",
	messages.Digest:         "A digest of several pages to one person.",
	messages.ResolvedNotice: "This person was paged: the incident is resolved.",
	messages.OwnerNotice:    "This person has acknowledged the incident, and there is news.",
	messages.StatusUpdate:   "This person subscribed to updates.",
}

// why returns why the message exists and what was changed about its person and mode.
func why(m message) []string {
	var out []string
	text := purposes[m.Purpose]
	switch {
	case m.NotificationID != nil:
		out = append(out, "The application "+m.Application+" sent a notification.")
	case m.Purpose.Kind() == messages.FollowUp:
		out = append(out, "Nobody had acknowledged the page by another mode: a later notification of the person's rule.")
	case text != "":
		out = append(out, strings.ReplaceAll(text, "%d", strconv.Itoa(m.Step)))
	}
	if m.Repeat > 0 {
		out = append(out, "It is repetition "+strconv.Itoa(m.Repeat)+".")
	}
	if m.Priority != "" {
		out = append(out, "The priority is "+string(m.Priority)+": the person's modes and the application decide the mode.")
	}
	for i := len(m.Changes) - 1; i >= 0; i-- {
		if c := m.Changes[i]; c.Type == "mode-change" || c.Type == "target-change" {
			out = append(out, c.Description)
		}
	}
	return out
}
