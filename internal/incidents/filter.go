package incidents

import (
	"slices"

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
