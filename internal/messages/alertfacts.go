package messages

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/kit/matchers"
)

// Limits of the built-in rendering.
const (
	maxFacts      = 12  // labels
	maxFactValue  = 200 // characters of each
	maxAlertLines = 10
	maxLinks      = 6
	maxDetail     = 600 // characters of the summary
)

// alertFacts are the facts that contexts of all sources have, for the built-in rendering.
type alertFacts struct {
	title         string
	severity      string
	summary       string   // "" = the title says it all
	status, owner string   // owner: who acknowledged, else the label of that name
	count         int      // alerts of the group; 0 = it is no group
	alerts        []string // a line for each of the first alerts
	labels        [][2]string
	links         [][2]string
}

// alertGroup is the part of Alertmanager's and Grafana's payload that the built-in rendering shows.
type alertGroup struct {
	GroupLabels, CommonLabels, CommonAnnotations map[string]string
	TruncatedAlerts                              int
	ExternalURL                                  string
	Alerts                                       []groupAlert
}

type groupAlert struct {
	Status                                           string
	Labels, Annotations                              map[string]string
	GeneratorURL, PanelURL, DashboardURL, SilenceURL string
}

// eventMembers are the members that the contexts of incidents from integrations have in addition to the payload.
type eventMembers struct {
	Integration, Summary string
	Labels               map[string]string
	Links                []struct{ URL, Href, Text string } // href: links that the payload of PagerDuty's clients has
}

// ordinary are members of contexts that have no information for people, or are shown elsewhere.
var ordinary = []string{"version", "groupKey", "receiver", "status", "state", "severity", "priority", "orgId", "orgID",
	"truncatedAlerts", "externalURL",
	"title", "alertname", "iris_plan", "ruleId", "panelId", "dashboardId", "imageUrl", "tags", "fingerprint"}

// title is the incident's title, as lists and pages show it.
func (s *source) title() string {
	i := incidents.Incident{Context: s.incident.Context, TitleVariable: s.incident.TitleVariable, Plan: s.plan.Name,
		Application: s.application}
	return i.Title()
}

func factsOf(s *source) alertFacts {
	f := alertFacts{title: s.title()}
	members := scalars(s.incident.Context)
	var group alertGroup
	_ = json.Unmarshal(s.incident.Context, &group) // other shapes leave it empty
	f.severity = member(members, "severity", "priority", "level")
	f.status = member(members, "status", "state")
	if f.count = len(group.Alerts); f.count > 0 {
		f.count += max(0, group.TruncatedAlerts)
		f.ofGroup(group)
	}
	if !f.ofEvent(s.incident.Context) {
		f.others(members)
	}
	f.owner = cmp.Or(s.incident.Owner, f.owner)
	if f.summary = cutRunes(strings.TrimSpace(f.summary), maxDetail); strings.Contains(f.title, f.summary) {
		f.summary = ""
	}
	return f
}

// ofEvent takes the facts that package intake found. It returns false for incidents that are not from an integration.
func (f *alertFacts) ofEvent(context []byte) bool {
	var e eventMembers
	_ = json.Unmarshal(context, &e) // members of other types stay empty
	if e.Integration == "" || e.Labels == nil && e.Links == nil {
		return false
	}
	f.summary = cmp.Or(f.summary, e.Summary)
	if f.count == 0 {
		f.labelsOf(e.Labels)
	}
	for _, l := range e.Links {
		f.link(cmp.Or(l.Text, "link"), cmp.Or(l.URL, l.Href))
	}
	return true
}

// others takes the members of any other context.
func (f *alertFacts) others(members [][2]string) {
	for _, m := range members {
		switch {
		case strings.HasPrefix(m[1], "http://") || strings.HasPrefix(m[1], "https://"):
			f.link(m[0], m[1])
		case f.count == 0 && !slices.Contains(ordinary, m[0]) && m[1] != f.title:
			f.label(m[0], m[1])
		}
	}
}

func (f *alertFacts) ofGroup(g alertGroup) {
	slices.SortStableFunc(g.Alerts, func(a, b groupAlert) int { return resolvedLast(a) - resolvedLast(b) })
	first := g.Alerts[0]
	labels := g.CommonLabels
	if len(labels) == 0 {
		labels = g.GroupLabels
	}
	if len(labels) == 0 {
		labels = first.Labels
	}
	for _, from := range []map[string]string{g.CommonLabels, first.Labels} {
		f.severity = cmp.Or(f.severity, from["severity"], from["priority"], from["level"])
	}
	f.labelsOf(labels)
	f.summary = cmp.Or(g.CommonAnnotations["description"], g.CommonAnnotations["message"])
	if f.count > 1 {
		f.alertLines(g)
	} else {
		f.summary = cmp.Or(f.summary, first.Annotations["description"], first.Annotations["message"])
	}
	for _, from := range []map[string]string{g.CommonAnnotations, first.Annotations} {
		f.link("runbook", from["runbook_url"])
		f.link("dashboard", from["dashboard_url"])
	}
	f.link("panel", first.PanelURL)
	f.link("dashboard", first.DashboardURL)
	f.link("source", first.GeneratorURL)
	f.link("silence", cmp.Or(first.SilenceURL, g.silenceURL()))
}

// resolvedLast orders the alerts of a group: those that fire first.
func resolvedLast(a groupAlert) int {
	if a.Status == "resolved" {
		return 1
	}
	return 0
}

// silenceURL returns the page of Alertmanager that silences the group; "" = its address or the labels are unknown.
func (g alertGroup) silenceURL() string {
	if g.ExternalURL == "" || len(g.CommonLabels) == 0 {
		return ""
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(g.CommonLabels)) {
		all = append(all, matchers.Equal(name, g.CommonLabels[name]))
	}
	return strings.TrimRight(g.ExternalURL, "/") + "/#/silences/new?filter=" +
		url.PathEscape("{"+strings.Join(all, ",")+"}")
}

func (f *alertFacts) alertLines(g alertGroup) {
	for _, a := range g.Alerts[:min(len(g.Alerts), maxAlertLines)] {
		text := cmp.Or(a.Annotations["summary"], a.Annotations["title"], a.Annotations["description"],
			a.Labels["alertname"])
		if where := a.Labels["instance"]; where != "" && !strings.Contains(text, where) {
			text = strings.TrimSpace(text + " on " + where)
		}
		text = cmp.Or(text, "an alert without a name")
		if a.Status != "" && a.Status != f.status {
			text += ": " + a.Status
		}
		f.alerts = append(f.alerts, cutRunes(oneLine(text), maxFactValue))
	}
	if more := f.count - len(f.alerts); more > 0 {
		f.alerts = append(f.alerts, "and "+humanize.Count(more, "more alert", "more alerts"))
	}
}

func (f *alertFacts) labelsOf(labels map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		if !slices.Contains(ordinary, name) {
			f.label(name, labels[name])
		}
	}
}

func (f *alertFacts) label(name, value string) {
	value = cutRunes(oneLine(value), maxFactValue)
	if name == "owner" {
		f.owner = value
	} else if value != "" && len(f.labels) < maxFacts {
		f.labels = append(f.labels, [2]string{cutRunes(oneLine(name), 60), value})
	}
}

func (f *alertFacts) link(name, address string) {
	known := func(l [2]string) bool { return l[1] == address }
	if !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") || len(address) > 500 || strings.ContainsAny(address, " \n<>\"") ||
		len(f.links) >= maxLinks || slices.ContainsFunc(f.links, known) {
		return
	}
	f.links = append(f.links, [2]string{cutRunes(oneLine(name), 60), address})
}

// headline is the title with the severity before it and the number of alerts after it.
func (f *alertFacts) headline() string {
	text := f.title
	if f.severity != "" && !strings.Contains(strings.ToLower(text), strings.ToLower(f.severity)) {
		text = cutRunes(oneLine(f.severity), 30) + ": " + text
	}
	if f.count > 1 && !strings.Contains(text, " more)") {
		text += " (" + humanize.Count(f.count, "alert", "alerts") + ")"
	}
	return text
}

func member(members [][2]string, names ...string) string {
	for _, name := range names {
		for _, m := range members {
			if m[0] == name {
				return m[1]
			}
		}
	}
	return ""
}

// scalars returns the texts, numbers and booleans of a JSON object, and of its objects one level down, in the sender's
// order.
func scalars(context []byte) [][2]string { return scalarsIn(context, "", 2) }

func scalarsIn(object []byte, prefix string, depth int) (out [][2]string) {
	dec := json.NewDecoder(bytes.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for dec.More() {
		key, err := dec.Token()
		var raw json.RawMessage
		if err != nil || dec.Decode(&raw) != nil {
			return out
		}
		name, _ := key.(string)
		var text string
		switch {
		case raw[0] == '"':
			_ = json.Unmarshal(raw, &text)
		case raw[0] == '{' && depth > 1:
			out = append(out, scalarsIn(raw, prefix+name+".", depth-1)...)
		case raw[0] != '{' && raw[0] != '[' && raw[0] != 'n':
			text = string(raw)
		}
		if text != "" {
			out = append(out, [2]string{prefix + name, text})
		}
	}
	return out
}
