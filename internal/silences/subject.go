package silences

import (
	"encoding/json"
	"slices"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/matchers"
)

// Subject is what silences know of an incident. Its methods are not safe for concurrent use.
type Subject struct {
	ID            incidents.ID
	ApplicationID int64
	PlanID        int64
	Severity      string
	Context       json.RawMessage

	labels map[string]string // read from Context when they are needed
	mixed  []string          // labels that differ between the events of the incident
	unsure bool              // any label may differ
}

// label returns the value that matchers see; "" = absent, or not the same for all events of the incident.
func (s *Subject) label(name string) string {
	s.read()
	if slices.Contains(s.mixed, name) {
		return ""
	}
	return s.labels[name]
}

func (s *Subject) read() {
	if s.labels == nil {
		s.labels = incidents.Labels(s.Context, s.Severity)
		s.mixed, s.unsure = incidents.Mixed(s.Context)
	}
}

// decide reports whether matchers match the incident. They never do if they ask for a label that differs between the
// events of the incident: a silence hides no event that it does not match.
func (s *Subject) decide(m matchers.Matchers, b *matchers.Budget) matchers.Answer {
	s.read()
	if m.Ask(s.mixed) || s.unsure && len(m) > 0 {
		return matchers.No
	}
	return m.Decide(s.label, b)
}
