package incidents

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/filters"
)

// StateOpen is a filter for all states except StateResolved and StateClosed.
const StateOpen = "open"

// stateFilters are the conditions of the states, as Status defines them, and those of open incidents.
var stateFilters = map[string][]filters.Condition{
	string(StateEscalating): {is("active", true)},
	string(StateExhausted): append(paused(false), is("snoozed", false), is("acknowledged", false),
		is("silenced", false)),
	string(StateAcknowledged): append(paused(false), is("snoozed", false), is("acknowledged", true)),
	string(StateSnoozed):      append(paused(false), is("snoozed", true)),
	string(StateSilenced): append(paused(false), is("snoozed", false), is("acknowledged", false),
		is("silenced", true)),
	string(StateMerged):   paused(true),
	string(StateResolved): {is("resolved", true)},
	string(StateClosed):   {is("resolved", false), is("closed", true)},
	StateOpen:             {is("resolved", false), is("closed", false)},
}

// InState returns the conditions of incidents in a state, or of open ones; false if there is no such state.
func InState(name string) ([]filters.Condition, bool) {
	conditions, ok := stateFilters[name]
	return slices.Clone(conditions), ok
}

// paused returns the conditions of open incidents that do not escalate.
func paused(merged bool) []filters.Condition {
	return []filters.Condition{is("resolved", false), is("closed", false), is("active", false), is("merged", merged)}
}

func is(field string, value bool) filters.Condition {
	return filters.Condition{Field: field, Op: filters.Eq, Values: []any{value}}
}

// Fields of conditions that only incidents have.
const (
	// FieldLabel has two values: the name of a label and its value. See Labels.
	FieldLabel = "label"
	// FieldTeam has the name of a team, or NoTeam. See Incident.Team.
	FieldTeam = "team"
)

// NoTeam is the value of FieldTeam for incidents without a team.
const NoTeam = "-"

// HasText finds an incident by its number, "#12", or incidents by a text in their context, which has the title too, or
// in their dedup key.
func HasText(text string) filters.Condition {
	if number, is := strings.CutPrefix(text, "#"); is {
		if id, err := strconv.ParseInt(number, 10, 64); err == nil {
			return filters.Equal("id", id)
		}
	}
	var b bytes.Buffer // as the text is written in JSON
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a text can be encoded
	quoted := strings.TrimSpace(b.String())
	return filters.Condition{Field: "text", Op: filters.Contains, Values: []any{quoted[1 : len(quoted)-1]}}
}

// HasLabel finds incidents by a label, written as "name=value"; false if the text is not written so.
func HasLabel(text string) (filters.Condition, bool) {
	name, value, ok := strings.Cut(text, "=")
	return filters.Condition{Field: FieldLabel, Op: filters.Eq, Values: []any{name, value}}, ok && name != ""
}
