package intake

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/kit/matchers"
)

// Threshold holds events of a rule back until several have come.
type Threshold struct {
	// AfterEvents is the number of the event in AfterSeconds that opens an incident; 0 = the first.
	AfterEvents  int `json:"after_events,omitempty" doc:"An incident opens with this event in after_seconds. Earlier ones are held back: 2 to 100."`
	AfterSeconds int `json:"after_seconds,omitempty" doc:"60 to 86400."`
	// CountBy are labels. Events with equal values are counted together. Without labels, those with the same key are.
	CountBy []string `json:"count_by,omitempty" maxItems:"10" doc:"Labels. Events with equal values are counted together. Without labels, those with the same key are."`
}

const (
	maxCountLabels = 10    // also of a group
	minCountTime   = 60    // seconds
	maxCountTime   = 86400 // seconds
	maxAfterEvents = 100
	maxNamedValue  = 100 // characters of a label in texts
)

// check returns an Invalid fault for a threshold that a rule cannot have.
func (t Threshold) check(recordOnly bool) error {
	none := t.AfterEvents == 0 && t.AfterSeconds == 0 && len(t.CountBy) == 0
	switch {
	case none:
		return nil
	case recordOnly:
		return fault.New(fault.Invalid, "after_events: a rule that only records counts no events")
	case t.AfterEvents == 0 || t.AfterSeconds == 0:
		return fault.New(fault.Invalid, "after_events: give both after_events and after_seconds")
	case t.AfterEvents < 2 || t.AfterEvents > maxAfterEvents:
		return fault.Newf(fault.Invalid, "after_events: it must be between 2 and %d", maxAfterEvents)
	case t.AfterSeconds < minCountTime || t.AfterSeconds > maxCountTime:
		return fault.Newf(fault.Invalid, "after_seconds: it must be between %d and %d", minCountTime, maxCountTime)
	}
	return checkLabels("count_by", t.CountBy)
}

// checkLabels returns an Invalid fault for names of labels that a rule cannot have.
func checkLabels(field string, names []string) error {
	switch {
	case len(names) > maxCountLabels:
		return fault.Newf(fault.Invalid, "%s: a rule has at most %d labels", field, maxCountLabels)
	case slices.Contains(names, ""):
		return fault.Newf(fault.Invalid, "%s: a label is empty", field)
	}
	return nil
}

// labelsOf returns a key that is equal for events that the rule matches and that have equal values of the labels, and the
// labels for people. found is false for an event that has none of them.
func (r Rule) labelsOf(e Event, names []string) (key, text string, found bool) {
	parts, named := []string{r.Match, r.Plan}, []string{}
	for _, name := range names {
		value := label(e, name)
		parts, named = append(parts, name, value), append(named, matchers.Equal(name, humanize.Shorten(value, maxNamedValue)))
		found = found || value != ""
	}
	raw, _ := json.Marshal(parts) // texts are always valid
	return string(raw), strings.Join(named, ", "), found
}

// threshold returns how an event that the rule matches is counted; nil = it is not. Rules that differ in their matchers
// or plan count for themselves. An event without a key, and without all labels, opens an incident.
func (r Rule) threshold(e Event) *incidents.Threshold {
	if r.AfterEvents == 0 {
		return nil
	}
	key, name, counts := r.labelsOf(e, r.CountBy)
	if len(r.CountBy) == 0 {
		raw, _ := json.Marshal([]string{r.Match, r.Plan, "", e.Key}) // texts are always valid
		key, name, counts = string(raw), "this alert", e.Key != ""
	}
	if !counts {
		return nil
	}
	return &incidents.Threshold{Key: key, Name: name, Events: r.AfterEvents, In: r.in(), Title: e.Title}
}

func (t Threshold) in() time.Duration { return time.Duration(t.AfterSeconds) * time.Second }

// Text describes the threshold; "" = there is none.
func (t Threshold) Text() string {
	if t.AfterEvents == 0 {
		return ""
	}
	of := "with the same key"
	if len(t.CountBy) > 0 {
		of = "with equal " + strings.Join(t.CountBy, ", ")
	}
	return fmt.Sprintf("opens an incident with event %d in %s, counted for events %s", t.AfterEvents, incidents.Brief(t.in()), of)
}
