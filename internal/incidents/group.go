package incidents

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// MaxGroupAlerts is how many events become alerts of one incident. The next event of the group opens the next incident.
const MaxGroupAlerts = 1000

// maxJoinLines is how many events of a group have a line of the timeline. All are alerts of the incident.
const maxJoinLines = 50

// Group is what a rule of an integration says about events that are alerts of one incident, although each has a key of
// its own.
type Group struct {
	Key   string        // equal for the events of the group, within the integration
	Name  string        // of the group, for people: cluster="prod"
	For   time.Duration // events that come so soon after the first are alerts of its incident
	Title string        // of this event
	First string        // the key of the event that opens the incident; "" = the event opens none
}

// IncidentKey is the dedup key of the incident of a group that is opened at an instant. Events have other keys.
func (g Group) IncidentKey(at time.Time) string {
	sum := sha256.Sum256([]byte(g.Key))
	return "group " + at.UTC().Format("2006-01-02T15:04:05.000000Z") + " " + hex.EncodeToString(sum[:8])
}

// GroupAlert is an event as an alert of an incident of several events. It is pure.
type GroupAlert interface {
	// Title describes the event for people.
	Title() string
	// Context is the context of an incident whose only alert is the event.
	Context() (json.RawMessage, error)
	// Join returns the context of an incident to which the event is added, or in which it replaces its earlier delivery.
	Join(before json.RawMessage) (json.RawMessage, error)
	// End returns the context of an incident in which the event no longer fires.
	End(before json.RawMessage) json.RawMessage
}

// GroupedEvent is an event of an incident of several events.
type GroupedEvent struct {
	Integration int64
	Key         string // of the event
	Alert       GroupAlert
}

// Joins reports whether an event becomes an alert of an incident of the group. Only an incident that a person or the plan
// takes care of takes further events: they page nobody while it is silenced, snoozed, merged, or acknowledged by its source.
func (g Group) Joins(s Status, bySource bool, alerts int) bool {
	switch s.State() {
	case StateEscalating, StateExhausted:
	case StateAcknowledged:
		if bySource {
			return false
		}
	default:
		return false
	}
	return !s.Silenced && alerts < MaxGroupAlerts
}

// OpenText is what the timeline says about the first event of a group.
func (g Group) OpenText() string {
	return fmt.Sprintf("further events with %s in the next %s become alerts of this incident", g.Name, Brief(g.For))
}

// JoinText is what the timeline says about a further event of a group; "" = nothing, because there are many.
func (g Group) JoinText(alerts int) string {
	switch {
	case alerts > maxJoinLines:
		return ""
	case alerts == maxJoinLines:
		return "further events with " + g.Name + " are listed as alerts only"
	}
	return fmt.Sprintf("a further event with %s is alert %d: %s", g.Name, alerts, g.Title)
}

// PreviewText says for people what an event of the group does; incident 0 = none takes it.
func (g Group) PreviewText(incident ID) string {
	if incident == 0 {
		return g.OpenText()
	}
	return fmt.Sprintf("the event becomes an alert of incident %d, because the rule groups events with %s for %s", incident, g.Name,
		Brief(g.For))
}

// GroupProgress is how many alerts of an incident there are, how many fire, and how many of these their source did not
// acknowledge.
type GroupProgress struct{ Alerts, Firing, Unacknowledged int }

// EndText is what the timeline says when the source resolves or acknowledges an alert while others fire.
func (p GroupProgress) EndText(what, alert string) string {
	return fmt.Sprintf("alert %s was %s at its source; %d of %d alerts fire", alert, what, p.Firing, p.Alerts)
}
