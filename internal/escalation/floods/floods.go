package floods

import (
	"fmt"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// Message is a new message that is not stored yet.
type Message struct {
	messages.New
	Bucket      int
	At          time.Time               // when the message was decided; zero = unknown
	Application string                  // name, for texts; "" = unknown
	Opener      string                  // who opened the incident of the application iris; "" = the application
	Aggregation *escalation.Aggregation // of the message's plan; nil = it does not aggregate
	QuietUntil  time.Time               // when a message is sent that a quiet-time limit holds; zero = no limit holds it
}

// change adds a line to the audit log of the message.
func (m *Message) change(c messages.Change) { m.Changes = append(slices.Clip(m.Changes), c) }

// setMode changes the mode and records the reason in the audit log of the message. It returns the old mode.
func (m *Message) setMode(mode users.Mode, why string) (old users.Mode) {
	old, m.Mode = m.Mode, mode
	m.change(messages.Change{Type: "mode-change", Old: string(old), New: string(mode), Description: why})
	return old
}

// Entry is a line for the timeline of an incident.
type Entry struct {
	Incident incidents.ID
	incidents.Entry
}

// limited returns a timeline line about messages that a quota or rule changed.
func limited(incident incidents.ID, at time.Time, format string, args ...any) Entry {
	return Entry{incident, incidents.Entry{At: at, Kind: incidents.EntryLimited, Text: fmt.Sprintf(format, args...)}}
}

// Decision is a decision about messages, for the metric iris_floods_total.
type Decision string

// The decisions.
const (
	Held          Decision = "held"
	HeldQuiet     Decision = "held_quiet"
	Digest        Decision = "digest"
	Released      Decision = "released"
	Reprioritised Decision = "reprioritised"
	QuotaSoft     Decision = "quota_soft"
	QuotaHard     Decision = "quota_hard"
	QuotaIncident Decision = "quota_incident"
	QuotaWaiting  Decision = "quota_waiting"
)

// Tally counts decisions.
type Tally map[Decision]int
