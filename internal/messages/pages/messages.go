// This file serves the search of messages, its export, and the page of one message.

package pages

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/internal/web/page"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// Handlers serves the pages. It is safe for concurrent use.
type Handlers struct{ Pages *page.Pages }

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
	pageSize  = 500 // of the API
)

// message is a message of the API.
type message struct {
	ID                                              int64
	State, Application, Target, Mode, Subject, Body string
	IncidentID                                      int64 `json:"incident_id"`
	NotificationID                                  int64 `json:"notification_id"`
	Plan, Priority, Destination                     string
	Step, Repeat                                    int
	CreatedAt                                       time.Time `json:"created_at"`
	SentAt                                          time.Time `json:"sent_at"`
	Purpose, Template, Batch                        string
	ModeChanged                                     bool   `json:"mode_changed"`
	EmailHTML                                       string `json:"email_html"`
	Attempts                                        []attempt
	Changes                                         []change
}

// attempt is one call of a vendor.
type attempt struct {
	Vendor, Account, Mode, Outcome, Detail, Receipt string
	InDoubt                                         bool      `json:"in_doubt"`
	StartedAt                                       time.Time `json:"started_at"`
	VendorID                                        string    `json:"vendor_message_id"`
}

// change is a change of a message.
type change struct {
	At                          time.Time
	Type, Old, New, Description string
}

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
	case "delivered", "sent":
		return "good"
	case "failed":
		return "bad"
	case "pending", "taken", "sending":
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
		return "Message " + strconv.FormatInt(m.ID, 10)
	case len(text) > longest:
		return string(text[:longest]) + "…"
	}
	return string(text)
}

// search are the filters of a search, in the names of the API.
type search struct {
	Given    map[string]string
	From, To string // as typed
	in       *time.Location
}

var filterNames = []string{
	"incident_id", "notification_id", "target", "mode", "application", "plan", "priority", "state", "purpose", "vendor", "batch", "subject", "body", "destination",
}

// read reads a search. The query of the API has the filters without a page.
func read(r *http.Request) (s search, query url.Values, wrong page.Refusal) {
	s, query = search{Given: map[string]string{}, in: page.Zone(r)}, url.Values{}
	given := r.URL.Query()
	for _, name := range filterNames {
		if value := page.Storable(strings.TrimSpace(given.Get(name))); value != "" {
			s.Given[name] = value
			query.Set(name, value)
		}
	}
	s.From, s.To = given.Get("from"), given.Get("to")
	for _, at := range []struct{ name, text, parameter string }{{"from", s.From, "created_after"}, {"to", s.To, "created_before"}} {
		if at.text == "" {
			continue
		}
		instant, err := time.ParseInLocation(typed, at.text, s.in)
		if err != nil {
			wrong = page.Refusal{Status: http.StatusBadRequest, Field: at.name, Text: at.name +
				" must be a time, such as 2026-11-22T09:30."}
			continue
		}
		query.Set(at.parameter, instant.UTC().Format(time.RFC3339))
	}
	return s, query, wrong
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
	s, query, wrong := read(r)
	v := listView{search: s, Chosen: len(s.own()) > 0, Refusal: wrong, ZoneName: s.in.String(),
		Destinations: wire.Actor(r.Context()).Sight(nil).SearchesDestinations(),
		Modes:        page.OptionsOr("any mode", users.Modes...), Priorities: page.OptionsOr("any priority",
			users.Priorities...),
		States: page.OptionsOr("any state", "pending", "taken", "sending", "sent", "delivered", "failed",
			"cancelled", "aggregated", "dropped"),
		Purposes: page.OptionsOr("any purpose", "primary", "copy", "fallback", "tracking", "direct", "digest",
			"resolved-notice", "owner-notice")}
	status := http.StatusOK
	if wrong.Text == "" {
		query.Set("limit", strconv.Itoa(page.ListLength))
		if cursor := r.URL.Query().Get("cursor"); cursor != "" {
			query.Set("cursor", cursor)
		}
		var found page.Listed[message]
		if err := h.Pages.API(r).Get("/v1/messages?"+query.Encode(), &found); err != nil {
			refusal, ok := h.Pages.Refused(rw, r, err)
			if !ok {
				return
			}
			v.Refusal = refusal
		}
		v.Rows = found.Items
		own := s.own()
		v.Export = address + "/export?" + own.Encode()
		if found.Next != "" {
			own.Set("cursor", found.Next)
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
	_, query, wrong := read(r)
	if wrong.Text != "" {
		h.Pages.Problem(rw, r, h.Pages.Frame(r, "Invalid request", "messages"), wrong.Status, wrong.Text)
		return
	}
	query.Set("limit", strconv.Itoa(pageSize))
	end, api, rows := time.Now().Add(exportFor), h.Pages.API(r), 0
	var out page.CSV
	for begun := false; ; {
		var found page.Listed[message]
		if err := api.Get("/v1/messages?"+query.Encode(), &found); err != nil && begun {
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
			out.Row(m.row()...)
		}
		rows += len(found.Items)
		switch {
		case found.Next == "":
		case rows >= exported || time.Now().After(end):
			out.Row("More messages match. Narrow the search, for example by time.")
			found.Next = ""
		}
		if err := out.Flush(); err != nil {
			panic(http.ErrAbortHandler) // the reader has gone
		}
		if found.Next == "" {
			return
		}
		query.Set("cursor", found.Next)
	}
}

func (m message) row() []string {
	number := func(n int64) string {
		if n == 0 {
			return ""
		}
		return strconv.FormatInt(n, 10)
	}
	at := func(t time.Time) string {
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(time.RFC3339)
	}
	return []string{number(m.ID), at(m.CreatedAt), at(m.SentAt), m.State, m.Mode, m.Target, m.Destination,
		m.Application, m.Plan, m.Priority,
		number(m.IncidentID), number(m.NotificationID), m.Subject, m.Body}
}

type oneView struct {
	page.Frame
	message
	Why     []string // why this person gets it, and why by this mode
	Again   bool     // the reader may send it again
	Refusal page.Refusal
}

func (h Handlers) one(rw http.ResponseWriter, r *http.Request) {
	h.showOne(rw, r, page.Refusal{Status: http.StatusOK})
}

// resend sends a message again and shows the new one.
func (h Handlers) resend(rw http.ResponseWriter, r *http.Request) {
	var made message
	err := h.Pages.API(r).Send(http.MethodPost, page.Path("/v1/messages/%s/resend", wire.Param(r, "message")), nil,
		&made)
	h.Pages.Finish(rw, r, "The message is sent again, as this message.", page.Path(address+"/%s", made.ID), err,
		func(refusal page.Refusal) { h.showOne(rw, r, refusal) })
}

// read reads the message of the address.
func (h Handlers) read(r *http.Request) (m message, err error) {
	id, err := strconv.ParseInt(wire.Param(r, "message"), 10, 64)
	if err != nil {
		return m, fault.New(fault.NotFound, "no such message")
	}
	return m, h.Pages.API(r).Get(page.Path("/v1/messages/%s", id), &m)
}

// html answers with the HTML of an e-mail as it was sent, for the frame on the page of the message.
func (h Handlers) html(rw http.ResponseWriter, r *http.Request) {
	m, err := h.read(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	page.Mail(rw, m.EmailHTML)
}

func (h Handlers) showOne(rw http.ResponseWriter, r *http.Request, refusal page.Refusal) {
	m, err := h.read(r)
	if err != nil {
		h.Pages.Fail(rw, r, err)
		return
	}
	v := oneView{Refusal: refusal, message: m, Why: why(m)}
	v.Frame = h.Pages.Frame(r, "Message "+strconv.FormatInt(v.ID, 10), "messages")
	v.Again = v.Admin && slices.Contains([]string{"sent", "delivered", "failed", "cancelled", "dropped"}, v.State)
	h.Pages.Render(rw, r, refusal.Status, "message", v)
}

var purposes = map[string]string{
	"primary":         "The plan pages this person in step %d.",
	"copy":            "This person gets a copy of the page of step %d.",
	"fallback":        "This person is a fallback: nobody of step %d could be reached.",
	"tracking":        "The tracking notification of the plan.",
	"direct":          "A person asked for this page.",
	"digest":          "A digest of several pages to one person.",
	"resolved-notice": "This person was paged: the incident is resolved.",
	"owner-notice":    "This person has acknowledged the incident, and there is news.",
}

// why returns why the message exists and what was changed about its person and mode.
func why(m message) []string {
	var out []string
	text := purposes[m.Purpose]
	switch {
	case m.NotificationID != 0:
		out = append(out, "The application "+m.Application+" sent a notification.")
	case strings.HasPrefix(m.Purpose, "follow-up"):
		out = append(out, "Nobody had acknowledged the page by another mode: a later notification of the person's rule.")
	case text != "":
		out = append(out, strings.ReplaceAll(text, "%d", strconv.Itoa(m.Step)))
	}
	if m.Repeat > 0 {
		out = append(out, "It is repetition "+strconv.Itoa(m.Repeat)+".")
	}
	if m.Priority != "" {
		out = append(out, "The priority is "+m.Priority+": the person's modes and the application decide the mode.")
	}
	for i := len(m.Changes) - 1; i >= 0; i-- {
		if c := m.Changes[i]; c.Type == "mode-change" || c.Type == "target-change" {
			out = append(out, c.Description)
		}
	}
	return out
}
