package silences

import (
	"encoding/json"

	"github.com/iris-oncall/iris/internal/incidents"
)

// Subject is what silences know of an incident. Its methods are not safe for concurrent use.
type Subject struct {
	ID            incidents.ID
	ApplicationID int64
	PlanID        int64
	Severity      string
	Context       json.RawMessage

	labels map[string]string // read from Context when they are needed
}

// label returns the value that matchers see. Labels come from the context: its members labels, commonLabels and
// groupLabels, then every member that is a text, such as title. severity is that of the incident if no label has the
// name.
func (s *Subject) label(name string) string {
	if s.labels == nil {
		s.labels = map[string]string{"severity": s.Severity}
		members := map[string]json.RawMessage{}
		_ = json.Unmarshal(s.Context, &members) // a context that is no object has no labels
		s.add(members)
		for _, group := range []string{"groupLabels", "commonLabels", "labels"} {
			inner := map[string]json.RawMessage{}
			_ = json.Unmarshal(members[group], &inner) // absent, or no object
			s.add(inner)
		}
	}
	return s.labels[name]
}

// add adds the members that are texts, numbers or truth values.
func (s *Subject) add(members map[string]json.RawMessage) {
	for name, raw := range members {
		var text string
		switch {
		case len(raw) == 0 || raw[0] == '{' || raw[0] == '[' || string(raw) == "null":
		case json.Unmarshal(raw, &text) == nil:
			s.labels[name] = text
		default:
			s.labels[name] = string(raw)
		}
	}
}
