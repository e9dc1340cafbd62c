package pages

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/humanize"
)

// maxGrouped is how many incidents are grouped at most: the newest ones.
const maxGrouped = 1000

// groupings are the ways to group the list. The first one shows each incident.
var groupings = []struct{ name, label string }{{"", "One by one"}, {"title", "By title"},
	{"application", "By application"}, {"team", "By team"}}

// grouping returns the way that a query names; "" = each incident is shown.
func grouping(v url.Values) string {
	for _, g := range groupings {
		if g.name == v.Get("group") {
			return g.name
		}
	}
	return ""
}

// groupView is a line for several incidents.
type groupView struct {
	Text     string
	Href     string // the list of its incidents
	Count    int
	Severity string // the highest
	States   []stateCount
	Newest   time.Time
}

// stateCount is how many incidents of a group are in a state.
type stateCount struct {
	State, Text string
	Count       int
}

// groupsOf groups incidents, which are ordered by time, the newest first. The largest group comes first. v is the query
// of the list.
func groupsOf(found []incidents.Incident, v url.Values, by string) []groupView {
	groups, states := map[string]*groupView{}, map[string]map[string]int{}
	for _, i := range found {
		key := i.Title()
		switch by {
		case "application":
			key = i.Application
		case "team":
			key = cmp.Or(i.Team, incidents.NoTeam)
		}
		g := groups[key]
		if g == nil {
			g = &groupView{Text: key, Newest: i.CreatedAt, Href: unfolded(v, by, key)}
			groups[key], states[key] = g, map[string]int{}
		}
		g.Count++
		states[key][string(i.State())]++
		if severityRank(i.Severity) < severityRank(g.Severity) {
			g.Severity = i.Severity
		}
	}
	out := make([]groupView, 0, len(groups))
	for key, g := range groups {
		for _, state := range slices.Sorted(maps.Keys(states[key])) {
			g.States = append(g.States, stateCount{state, stateWord(state), states[key][state]})
		}
		if by == "team" && key == incidents.NoTeam {
			g.Text = "no team"
		}
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b groupView) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), b.Newest.Compare(a.Newest), strings.Compare(a.Text, b.Text))
	})
	return out
}

// unfolded returns the address of the list of one group.
func unfolded(v url.Values, by, key string) string {
	q := maps.Clone(v)
	q.Del("group")
	if by == "application" {
		key = `"` + key + `"`
	}
	return listPath(q, by, key)
}

// severityRank orders severities, the highest first. An unknown one comes last.
func severityRank(severity string) int {
	if i := slices.Index(incidents.Severities, severity); i >= 0 {
		return i
	}
	return len(incidents.Severities)
}

func stateWord(state string) string {
	if state == string(incidents.StateExhausted) {
		return "nobody acknowledged"
	}
	return state
}

const (
	maxRowLabels   = 3  // labels that a row of the list shows
	maxRowLabel    = 40 // characters of one
	maxLabelFilter = 200
)

// labelsFirst are the labels that a row shows before others.
var labelsFirst = []string{"service", "cluster", "env", "environment", "namespace", "host", "instance", "region"}

// labelsElsewhere are the labels that a row shows in another way, or that are no short words.
var labelsElsewhere = []string{"alertname", "title", "summary", "severity", "description", "message", "subject",
	"status", "text", "name", "receiver", "source", "version", "groupKey"}

// labelChips returns the labels of a row, each with the address of the list with this label in the filter.
func labelChips(i incidents.Incident, v url.Values, f filter) (out []chip) {
	labels := incidents.Labels(i.Context, i.Severity)
	delete(labels, i.TitleVariable)
	rest := slices.DeleteFunc(slices.Sorted(maps.Keys(labels)), func(name string) bool {
		return slices.Contains(labelsFirst, name) || slices.Contains(labelsElsewhere, name)
	})
	for _, name := range slices.Concat(labelsFirst, rest) {
		value := labels[name]
		text := name + "=" + value
		if value == "" || name == "" || strings.Contains(name, "=") || strings.Contains(value, "://") ||
			utf8.RuneCountInString(text) > maxLabelFilter || slices.Contains(f.Labels, text) {
			continue
		}
		if out = append(out, chip{humanize.Shorten(name, maxRowLabel), humanize.Shorten(value, maxRowLabel),
			withLabel(v, f, text)}); len(out) == maxRowLabels {
			break
		}
	}
	return out
}

// withLabel returns the address of the list with a further label in the filter.
func withLabel(v url.Values, f filter, label string) string {
	q := maps.Clone(v)
	q.Del("after")
	return listPath(q, "label", append(slices.Clone(f.Labels), label)...)
}
