package incidents

import (
	"encoding/json"
	"slices"
)

// LabelGroups are the members of a context that have labels. A label of a later one replaces that of an earlier one.
var LabelGroups = []string{"groupLabels", "commonLabels", "labels"}

// Labels returns the labels of an incident: the members of LabelGroups, and every member of the context that is a text,
// a number or a truth value, such as title. severity is that of the incident, unless a label has the name.
func Labels(context json.RawMessage, severity string) map[string]string {
	labels := map[string]string{"severity": severity}
	add := func(members map[string]json.RawMessage) {
		for name, raw := range members {
			var text string
			switch {
			case len(raw) == 0 || raw[0] == '{' || raw[0] == '[' || string(raw) == "null":
			case json.Unmarshal(raw, &text) == nil:
				labels[name] = text
			default:
				labels[name] = string(raw)
			}
		}
	}
	members := map[string]json.RawMessage{}
	_ = json.Unmarshal(context, &members) // a context that is no object has no labels
	add(members)
	for _, group := range LabelGroups {
		inner := map[string]json.RawMessage{}
		_ = json.Unmarshal(members[group], &inner) // absent, or no object
		add(inner)
	}
	return labels
}

// MixedLabels is the member of a context that names the labels which differ between the events of the incident.
const MixedLabels = "mixed_labels"

// AllLabels stands in MixedLabels for any label, when there are too many names.
const AllLabels = "*"

// Mixed returns the names of the labels that differ between the events of an incident. all means that any label may
// differ: the names had no room in the context.
func Mixed(context json.RawMessage) (names []string, all bool) {
	var members struct {
		Mixed []string `json:"mixed_labels"`
		Cut   []string `json:"truncatedMembers"`
	}
	_ = json.Unmarshal(context, &members) // another context has no mixed labels
	return members.Mixed, slices.Contains(members.Mixed, AllLabels) || slices.Contains(members.Cut, MixedLabels)
}
