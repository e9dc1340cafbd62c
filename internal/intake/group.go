package intake

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Grouping makes events of a rule alerts of one incident.
type Grouping struct {
	// GroupBy are labels. Events with equal values are a group.
	GroupBy []string `json:"group_by,omitempty" maxItems:"10" doc:"Labels. Events with equal values that come within group_seconds of the first are alerts of one incident."`
	// GroupSeconds is how long after the first event further ones become alerts of its incident; 0 = none do.
	GroupSeconds int `json:"group_seconds,omitempty" doc:"60 to 86400."`
}

// check returns an Invalid fault for a grouping that a rule cannot have.
func (g Grouping) check(recordOnly bool) error {
	switch {
	case g.GroupSeconds == 0 && len(g.GroupBy) == 0:
		return nil
	case recordOnly:
		return fault.New(fault.Invalid, "group_by: a rule that only records groups no events")
	case g.GroupSeconds == 0 || len(g.GroupBy) == 0:
		return fault.New(fault.Invalid, "group_by: give both group_by and group_seconds")
	case g.GroupSeconds < minCountTime || g.GroupSeconds > maxCountTime:
		return fault.Newf(fault.Invalid, "group_seconds: it must be between %d and %d", minCountTime, maxCountTime)
	}
	return checkLabels("group_by", g.GroupBy)
}

// Text describes the grouping; "" = there is none.
func (g Grouping) Text() string {
	if g.GroupSeconds == 0 {
		return ""
	}
	return "events with equal " + strings.Join(g.GroupBy, ", ") + " are alerts of one incident for " + incidents.Brief(g.lasts())
}

func (g Grouping) lasts() time.Duration { return time.Duration(g.GroupSeconds) * time.Second }

// group returns the group of an event that the rule matches; nil = the event has an incident of its own. That holds for
// an event without a key of its sender, without all labels, or whose sender groups alerts itself.
func (r Rule) group(e Event) *incidents.Group {
	if r.GroupSeconds == 0 || e.Key == "" || strings.HasPrefix(e.Key, GeneratedKey) || len(e.Alerts) > 0 || listsAlerts(e.Context) {
		return nil
	}
	key, name, found := r.labelsOf(e, r.GroupBy)
	if !found {
		return nil
	}
	return &incidents.Group{Key: key, Name: name, For: r.lasts(), Title: e.Title}
}

// listsAlerts reports whether a payload has a member that the context of a group uses.
func listsAlerts(payload json.RawMessage) bool {
	var given map[string]json.RawMessage
	_ = json.Unmarshal(payload, &given) // another value has no members
	for _, name := range []string{alertsMember, truncatedAlerts, "commonLabels", "commonAnnotations", "groupLabels"} {
		if _, has := given[name]; has {
			return true
		}
	}
	return false
}

// grouped is an event as an alert of a group. It implements incidents.GroupAlert.
type grouped struct {
	event    Event
	severity Severity
	context  json.RawMessage // of the event alone
}

// InGroup returns an event as an alert of a group. context is that of an incident of the event alone.
func InGroup(e Event, severity Severity, context json.RawMessage) incidents.GroupAlert {
	return grouped{e, severity, context}
}

// Title implements incidents.GroupAlert.
func (g grouped) Title() string { return cmp.Or(g.event.Title, g.event.Key) }

// listedAlert is an alert in a context, in the shape of Alertmanager's payload.
type listedAlert struct {
	Status       string            `json:"status"`
	Fingerprint  string            `json:"fingerprint"`
	Labels       map[string]string `json:"labels"`
	Annotations  map[string]string `json:"annotations"`
	StartsAt     time.Time         `json:"startsAt,omitzero"`
	GeneratorURL string            `json:"generatorURL,omitempty"`
}

// Context implements incidents.GroupAlert. It adds the members of Alertmanager's payload that describe a group, because
// templates, texts and silences know them.
func (g grouped) Context() (json.RawMessage, error) {
	a := listedAlert{Status: string(Firing), Fingerprint: g.event.Key, Labels: maps.Clone(g.event.Labels),
		Annotations: maps.Clone(g.event.Annotations), StartsAt: g.event.StartsAt}
	if a.Labels == nil {
		a.Labels = map[string]string{}
	}
	if a.Annotations == nil {
		a.Annotations = map[string]string{}
	}
	for _, add := range []struct {
		to          map[string]string
		name, value string
	}{{a.Labels, "severity", string(g.severity)}, {a.Annotations, "summary", g.Title()}, {a.Annotations, "description", g.event.Summary}} {
		if add.to[add.name] == "" && add.value != "" {
			add.to[add.name] = add.value
		}
	}
	if len(g.event.Links) > 0 {
		a.GeneratorURL = g.event.Links[0].URL
	}
	members := inOrder(Bounded(g.context))
	members = set(members, "commonLabels", nonNil(g.event.Labels))
	members = set(members, alertsMember, []listedAlert{a})
	return LimitedContext(object(members))
}

func nonNil(labels map[string]string) map[string]string {
	if labels == nil {
		return map[string]string{}
	}
	return labels
}

// Join implements incidents.GroupAlert. The result has the members that are equal for all events, and the names of the
// labels that are not. A silence that asks for one of these does not match, so one that matches hides no event that it
// does not match.
func (g grouped) Join(before json.RawMessage) (json.RawMessage, error) {
	mine, err := g.Context()
	if err != nil {
		return nil, err
	}
	added := map[string]json.RawMessage{}
	if err := json.Unmarshal(mine, &added); err != nil {
		return nil, err
	}
	var kept []member
	for _, m := range compactMembers(before) {
		other, both := added[m.name]
		switch m.name {
		case alertsMember:
			m.value = withAlert(m.value, other)
		case truncatedAlerts, incidents.MixedLabels:
		case "severity":
			if Worse(Severity(textOf(other)), Severity(textOf(m.value))) {
				m.value = other
			}
		case "labels", "commonLabels":
			m.value = inBoth(m.value, other)
		default:
			if !both || !bytes.Equal(m.value, other) {
				continue
			}
		}
		kept = append(kept, m)
	}
	if find(kept, alertsMember) < 0 { // the context was too large for it
		kept = append(kept, member{alertsMember, added[alertsMember]})
	}
	kept = set(kept, incidents.MixedLabels, mixedLabels(before, mine))
	return LimitedContext(object(kept))
}

// maxMixed bounds the names of mixed labels, in bytes.
const maxMixed = 4 << 10

// mixedLabels returns the names of labels that differ between the events of a context, or between it and a further event.
func mixedLabels(before, added json.RawMessage) []string {
	mixed := map[string]bool{}
	known, all := incidents.Mixed(before)
	for _, name := range known {
		mixed[name] = true
	}
	one, two := incidents.Labels(before, ""), incidents.Labels(added, "")
	for _, labels := range []map[string]string{one, two} {
		for name := range labels {
			_, first := one[name]
			_, second := two[name]
			if first != second || one[name] != two[name] {
				mixed[name] = true
			}
		}
	}
	names := slices.Sorted(maps.Keys(mixed))
	if all || len(strings.Join(names, " ")) > maxMixed {
		return []string{incidents.AllLabels}
	}
	return names
}

// End implements incidents.GroupAlert.
func (g grouped) End(before json.RawMessage) json.RawMessage {
	members := compactMembers(before)
	at := find(members, alertsMember)
	if at < 0 {
		return before
	}
	var alerts []json.RawMessage
	_ = json.Unmarshal(members[at].value, &alerts) // no list has no alerts
	for k, raw := range alerts {
		var a listedAlert
		if json.Unmarshal(raw, &a) == nil && a.Fingerprint == g.event.Key {
			a.Status = string(Resolved)
			alerts[k] = marshal(a)
		}
	}
	return object(set(members, alertsMember, alerts))
}

// compactMembers returns the members of a stored context.
func compactMembers(context json.RawMessage) []member {
	var compact bytes.Buffer
	_ = json.Compact(&compact, context) // stored contexts are valid
	return inOrder(compact.Bytes())
}

// withAlert adds the alert of a list of one, in the place of an earlier delivery of it.
func withAlert(list, one json.RawMessage) json.RawMessage {
	var alerts, added []json.RawMessage
	_, _ = json.Unmarshal(list, &alerts), json.Unmarshal(one, &added) // no list has no alerts
	for _, raw := range added {
		at := -1
		for k, known := range alerts {
			if fingerprintOf(known) == fingerprintOf(raw) {
				at = k
			}
		}
		if at >= 0 {
			alerts[at] = raw
			continue
		}
		alerts = append(alerts, raw)
	}
	return marshal(alerts)
}

func fingerprintOf(alert json.RawMessage) string {
	var a struct{ Fingerprint string }
	_ = json.Unmarshal(alert, &a) // another value has none
	return a.Fingerprint
}

// inBoth returns the members of an object that another one has with the same value.
func inBoth(a, b json.RawMessage) json.RawMessage {
	one, two := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	_, _ = json.Unmarshal(a, &one), json.Unmarshal(b, &two) // another value has no members
	maps.DeleteFunc(one, func(name string, value json.RawMessage) bool { return !bytes.Equal(value, two[name]) })
	return marshal(one)
}

func textOf(raw json.RawMessage) (text string) {
	_ = json.Unmarshal(raw, &text) // another value is no text
	return text
}
