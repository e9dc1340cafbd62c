package silences

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/matchers"
)

// Suggest returns matchers for incidents like one with this context: its labels, or its title if it has none; "" if it
// has neither.
func Suggest(context json.RawMessage) string {
	whole := Subject{Context: context}
	members := map[string]json.RawMessage{}
	_ = json.Unmarshal(context, &members) // a context that is no object has no labels
	for _, group := range []string{"commonLabels", "labels", "groupLabels"} {
		labels := map[string]json.RawMessage{}
		_ = json.Unmarshal(members[group], &labels) // absent, or no object
		if s := whole.equal(slices.Sorted(maps.Keys(labels))); s != "" {
			return s
		}
	}
	return whole.equal([]string{"title"})
}

// equal returns matchers for the values of labels. Labels without a value, and those that matchers cannot name, are
// left out.
func (s *Subject) equal(names []string) string {
	var out []string
	size := 0
	for _, name := range names {
		one := matchers.Equal(name, s.label(name))
		if parsed, err := matchers.Parse(one); s.label(name) == "" || err != nil || len(parsed) != 1 || size+len(one) > maxMatch/2 {
			continue
		}
		out, size = append(out, one), size+len(one)
		if len(out) == maxSuggested {
			break
		}
	}
	return strings.Join(out, ", ")
}
