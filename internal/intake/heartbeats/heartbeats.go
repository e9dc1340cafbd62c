// Package heartbeats defines what a heartbeat is: a signal that a program sends regularly, and whose absence opens an
// incident. It decides when a heartbeat is missed and what to do then. The edges, the monitor and storage use it. It
// knows no storage and no transport.
package heartbeats

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/etag"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// ID is the number of a heartbeat.
type ID int64

// DefaultName is the name of the heartbeat that a ping without a name is for.
const DefaultName = "default"

// MaxEvery is the longest interval. MaxPerIntegration is how many heartbeats an integration has at most.
const (
	MaxEvery          = 366 * 24 * time.Hour
	MaxPerIntegration = 1000
	maxName           = 200    // characters
	maxDescription    = 10_000 // characters
)

// Outage is the time without any process that receives pings after which the reception counts as interrupted.
const Outage = 5 * time.Second

// Types returns the types of integrations that have heartbeats.
func Types() []string { return []string{intake.Heartbeat, intake.Opsgenie} }

// CheckType returns a Conflict fault for an integration of a type without heartbeats.
func CheckType(of intake.Integration) error {
	if slices.Contains(Types(), of.Type) {
		return nil
	}
	return fault.Newf(fault.Conflict, "the integration %s has the type %s, which has no heartbeats", of.Name, of.Type)
}

// Content is the part of a heartbeat that people edit. Every and Grace are whole seconds.
type Content struct {
	Name        string // unique in its integration; never changes
	Description string
	Every       time.Duration // expected interval between two pings
	Grace       time.Duration // how much later a ping may come
	Plan        string        // "" = routed by the integration
	Severity    intake.Severity
	Enabled     bool
}

// Heartbeat is a heartbeat and its state. Times are those of the database.
type Heartbeat struct {
	ID            ID
	IntegrationID intake.ID
	Integration   string // name
	Content
	CreatedBy  string
	CreatedAt  time.Time
	Since      time.Time // no interval begins earlier: when it was created or switched on
	LastPingAt time.Time // zero = never
	MissedAt   time.Time // when it was found to be missed; zero = it is not missed
	Reported   bool      // the miss was reported as an event
	Incident   int64     // that the report opened; 0 = none
	CheckAt    time.Time // no decision is needed before, unless it is missed

	StartedAt time.Time     // of the oldest run that is expected to end; zero = there is none
	LastRun   time.Duration // how long the run took that ended last; 0 = none has ended
	Failure   string        // why it is missed, if not for a missing ping
}

// Reception says when pings could be received. Outages do not count against heartbeats.
type Reception struct {
	LastAt time.Time // the latest instant
	Since  time.Time // the end of the latest outage
}

// Pinged says what a call found. It was stored if the integration has the wanted type and is switched on.
type Pinged struct {
	Integration intake.Integration // has only a number, a name, a type and Enabled; number 0 = no integration has the token
	Token       int64              // the number of the token
	Heartbeat   ID                 // 0 = the integration has no heartbeat of that name
}

// State is what people see of a heartbeat.
type State string

// The states.
const (
	Waiting State = "waiting" // it was never called: its first interval begins with its first ping or start
	Alive   State = "alive"
	Missed  State = "missed"
	Off     State = "off"
)

// State returns the state of the heartbeat.
func (h Heartbeat) State() State {
	switch {
	case !h.Enabled:
		return Off
	case !h.MissedAt.IsZero():
		return Missed
	case h.waitsSince().IsZero():
		return Waiting
	}
	return Alive
}

// Deadline returns when the heartbeat is missed without a further ping. Zero = never: it was neither pinged nor started,
// or is switched off. A run must end within interval and grace too. After an outage of the reception the heartbeat has its whole interval again.
func (h Heartbeat) Deadline(r Reception) time.Time {
	since := h.waitsSince()
	if !h.Enabled || since.IsZero() {
		return time.Time{}
	}
	begin := slices.MaxFunc([]time.Time{since, h.Since, r.Since}, time.Time.Compare)
	return begin.Add(h.Every + h.Grace)
}

// maxWait is the longest time to the next check, so that a program of an older release may change a heartbeat without a
// check.
const maxWait = time.Hour

// NextCheck returns when a heartbeat that needs no decision now and is not missed is checked again. It is not after any
// deadline that pings or changes of the heartbeat may lead to, except a shorter interval.
func (h Heartbeat) NextCheck(r Reception) time.Time {
	next := h.Deadline(r)
	if next.IsZero() {
		next = r.LastAt.Add(h.Every + h.Grace)
	}
	if latest := r.LastAt.Add(maxWait); next.After(latest) {
		return latest
	}
	return next
}

// Action is what to do about a heartbeat.
type Action int

// The actions.
const (
	Nothing Action = iota
	Miss           // mark it as missed, then report it
	Report         // it is marked as missed: report it
	Resolve        // resolve its incident, then remove the mark
)

// Decide returns what to do about a heartbeat. It compares deadlines with the latest instant at which pings could be
// received, not with the present, so that an outage in progress makes no heartbeat missed.
func Decide(h Heartbeat, r Reception) Action {
	if !h.MissedAt.IsZero() {
		switch {
		case !h.Enabled || h.LastPingAt.After(h.MissedAt):
			return Resolve
		case !h.Reported:
			return Report
		}
		return Nothing
	}
	if at := h.Deadline(r); !at.IsZero() && !at.After(r.LastAt) {
		return Miss
	}
	return Nothing
}

// maxQuoted is how many bytes of a text are in the summary of an event. Its context has the whole text.
const maxQuoted = 500

// Event returns the event that reports the heartbeat with a status. text is the last text of the program.
func (h Heartbeat) Event(status intake.Status, text Text) intake.Event {
	about := map[string]any{
		"name": h.Name, "description": h.Description, "every_seconds": int64(h.Every.Seconds()), "grace_seconds": int64(h.Grace.Seconds()),
	}
	title, summary := "missed", fmt.Sprintf("No ping since %s; one is expected every %s.", moment(h.LastPingAt), span(h.Every))
	if h.Failure != "" {
		title, summary, about["failure"] = "failed", strings.ToUpper(h.Failure[:1])+h.Failure[1:]+".", h.Failure
	}
	if !h.LastPingAt.IsZero() {
		about["last_ping_at"] = h.LastPingAt.UTC().Truncate(time.Second).Format(time.RFC3339)
	}
	if text.Body != "" && text.At.Equal(h.MissedAt) { // it came with the failure; earlier ones are for owners only
		about["text"], about["text_at"] = text.Body, text.At.UTC().Truncate(time.Second).Format(time.RFC3339)
		summary += " " + Cut(text.Body, maxQuoted)
	}
	context, _ := json.Marshal(map[string]any{"heartbeat": about}) // plain values can always be encoded
	e := intake.Event{
		Status: status, Key: fmt.Sprintf("heartbeat/%d", h.ID), Title: "Heartbeat " + h.Name + " " + title, Severity: h.Severity,
		Summary: strings.TrimSpace(summary + " " + h.Description),
		Labels:  map[string]string{"heartbeat": h.Name}, StartsAt: h.MissedAt, Context: context,
	}
	if status == intake.Resolved {
		e.EndsAt = h.LastPingAt
	}
	return e
}

// span formats an interval without zero units: 1h30m, not 1h30m0s.
func span(d time.Duration) string {
	text := strings.TrimSuffix(d.String(), "0s")
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// From returns the integration as the events of the heartbeat use it: with the plan of the heartbeat if it has one.
func (h Heartbeat) From(i intake.Integration) intake.Integration {
	if h.Plan != "" {
		i.DefaultPlan, i.Rules = h.Plan, nil
	}
	return i
}

// Tag identifies the state of the content, for edits under If-Match.
func (c Content) Tag() string { return etag.Of(c) }

// Check trims the texts. It returns an Invalid fault with all wrong fields. Plans are checked elsewhere.
func (c *Content) Check() error {
	c.Name, c.Description = strings.TrimSpace(c.Name), strings.TrimSpace(c.Description)
	most, whole := int64(MaxEvery/time.Second), func(d time.Duration) bool { return d == d.Truncate(time.Second) }
	var wrong fault.Wrong
	wrong.If(c.Name == "" || c.Name == "\uFFFD" || utf8.RuneCountInString(c.Name) > maxName ||
		strings.ContainsAny(c.Name, "/\x00"), "name", "name must have 1 to %d characters without a slash", maxName)
	wrong.If(utf8.RuneCountInString(c.Description) > maxDescription, "description",
		"description has more than %d characters", maxDescription)
	wrong.If(c.Every < time.Second || c.Every > MaxEvery || !whole(c.Every), "every_seconds",
		"every_seconds must be 1 to %d", most)
	wrong.If(c.Grace < 0 || c.Grace > MaxEvery || !whole(c.Grace), "grace_seconds",
		"grace_seconds must be 0 to %d", most)
	wrong.If(c.Severity != "" && !intake.KnownSeverity(c.Severity), "severity",
		"severity must be critical, error, warning or info")
	return wrong.Err()
}
