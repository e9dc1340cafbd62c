package pages

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/humanize"
)

// Limits of what the page shows of a context. The JSON below has the rest.
const (
	maxLabels  = 40
	maxLinks   = 12
	maxText    = 600  // characters of a summary
	maxName    = 60   // characters of the name of a label or link
	maxValue   = 300  // characters of a label
	maxAddress = 2000 // bytes of a link
	maxMembers = 20   // members of the details of an event
	maxMember  = 2000 // characters of one of them, and of the description of an alert
)

// label is a named value of an alert.
type label struct{ Name, Value string }

// link is an address that an alert names. URL is http or https.
type link struct{ Text, URL string }

// facts are what the page shows of a context. Every text comes from the sender, who may be hostile.
type facts struct {
	Summary string
	Labels  []label
	More    int     // labels that are not shown
	Details []label // custom_details of PagerDuty's clients
	Cut     int     // details that are not shown
	Links   []link
}

// object is a JSON object whose members are read when they are needed.
type object map[string]json.RawMessage

func (o object) within(name string) object {
	var out object
	_ = json.Unmarshal(o[name], &out) // another type has no members
	return out
}

// text returns a text, number or flag as text; "" for other values.
func (o object) text(name string) string {
	raw := bytes.TrimSpace(o[name])
	if len(raw) == 0 || raw[0] == '{' || raw[0] == '[' || string(raw) == "null" {
		return ""
	}
	var s string
	if raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	return strings.TrimSpace(s)
}

func (o object) names() []string {
	names := make([]string, 0, len(o))
	for name := range o {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// readFacts reads a context: that of an integration, of an Alertmanager group, or flat values of an application.
func readFacts(raw json.RawMessage, title string) facts {
	var c object
	_ = json.Unmarshal(raw, &c)
	var alerts []object
	_ = json.Unmarshal(c["alerts"], &alerts)
	first := object{}
	if len(alerts) > 0 {
		first = alerts[0]
	}
	labels := firstObject(c.within("labels"), c.within("commonLabels"), first.within("labels"))
	notes := []object{c.within("annotations"), c.within("commonAnnotations")}
	if len(alerts) == 1 {
		notes = append(notes, first.within("annotations"))
	}
	var f facts
	f.listedLinks(c["links"], "url", "href")
	for _, o := range notes {
		f.linksOf(o)
	}
	f.linksOf(first)
	if labels == nil && alerts == nil {
		labels = c
	}
	f.linksOf(c)
	f.listedImages(c["images"])
	f.label(labels)
	f.Summary = summary(title, append([]object{c}, notes...))
	f.details(firstObject(c.within("payload").within("custom_details"), c.within("details"))) // v2, v1
	slices.SortStableFunc(f.Links, func(a, b link) int { return cmp.Compare(rank(a), rank(b)) })
	f.Links = f.Links[:min(len(f.Links), maxLinks)]
	return f
}

func firstObject(all ...object) object {
	for _, o := range all {
		if len(o) > 0 {
			return o
		}
	}
	return nil
}

// known lists the members that the page shows elsewhere.
var known = []string{"title", "summary", "severity", "integration", "description", "message", "links", "images",
	"labels"}

func (f *facts) label(o object) {
	for _, name := range o.names() {
		value := o.text(name)
		if value == "" || address(value) != "" || slices.Contains(known, name) {
			continue
		}
		if len(f.Labels) == maxLabels {
			f.More++
			continue
		}
		f.Labels = append(f.Labels, label{humanize.Shorten(name, maxName), humanize.Shorten(value, maxValue)})
	}
}

// details adds the members of o in any shape. Addresses become links.
func (f *facts) details(o object) {
	f.linksOf(o)
	for _, name := range o.names() {
		value := cmp.Or(o.text(name), nested(o[name]))
		if value == "" || value == f.Summary || address(value) != "" {
			continue
		}
		if len(f.Details) == maxMembers {
			f.Cut++
			continue
		}
		f.Details = append(f.Details, label{humanize.Shorten(name, maxName), humanize.Shorten(value, maxMember)})
	}
}

// nested returns a list or object that is not empty as JSON without spaces; "" for other values.
func nested(raw json.RawMessage) string {
	var b bytes.Buffer
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '{' && raw[0] != '[' || json.Compact(&b, raw) != nil {
		return ""
	}
	if text := b.String(); text != "{}" && text != "[]" {
		return text
	}
	return ""
}

// linksOf adds the members of o that are addresses.
func (f *facts) linksOf(o object) {
	for _, name := range o.names() {
		f.link(words(name), o.text(name))
	}
}

func (f *facts) link(text, value string) {
	to := address(value)
	if to == "" || slices.ContainsFunc(f.Links, func(l link) bool { return l.URL == to }) {
		return
	}
	f.Links = append(f.Links, link{humanize.Shorten(cmp.Or(text, to), maxName), to})
}

func (f *facts) listedLinks(raw json.RawMessage, names ...string) {
	var all []object
	_ = json.Unmarshal(raw, &all)
	for _, l := range all {
		for _, name := range names {
			f.link(l.text("text"), l.text(name))
		}
	}
}

// listedImages adds the pictures as links: the browser of a reader must not fetch what a sender names.
func (f *facts) listedImages(raw json.RawMessage) {
	var all []object
	_ = json.Unmarshal(raw, &all)
	for _, i := range all {
		f.link("Picture: "+cmp.Or(i.text("alt"), "without a name"), cmp.Or(i.text("url"), i.text("src")))
	}
}

// address returns a text that is an absolute http or https address; "" for other texts.
func address(s string) string {
	if !strings.HasPrefix(s, "http://") && !strings.HasPrefix(s, "https://") || len(s) > maxAddress || strings.ContainsAny(s, " \t\r\n") {
		return ""
	}
	if u, err := url.Parse(s); err != nil || u.Host == "" {
		return ""
	}
	return s
}

// words turns the name of a member into a label: "runbook_url" and "runbookURL" become "Runbook".
func words(name string) string {
	name = strings.Trim(strings.NewReplacer("_", " ", "-", " ", "URL", "", "Url", "").Replace(name), " ")
	for _, end := range []string{" url", " link", " uri"} {
		name = strings.TrimSuffix(name, end)
	}
	switch name {
	case "", "url", "link":
		return "Link"
	case "generator":
		return "Source"
	case "external":
		return "Alertmanager"
	}
	r := []rune(name)
	r[0] = unicode.ToUpper(r[0])
	return string(r)
}

// rank orders links, the most useful first.
func rank(l link) int {
	text := strings.ToLower(l.Text)
	for i, word := range []string{"runbook", "playbook", "dashboard", "panel", "source"} {
		if strings.Contains(text, word) {
			return i
		}
	}
	return 9
}

// summary returns the first text that says more than the title.
func summary(title string, in []object) string {
	for _, name := range []string{"description", "summary", "message", "text"} {
		for _, o := range in {
			s := o.text(name)
			if s != "" && address(s) == "" && !strings.HasPrefix(strings.Join(strings.Fields(s), " "), strings.TrimSuffix(title, "…")) {
				return humanize.Shorten(s, maxText)
			}
		}
	}
	return ""
}

// alertView is one alert of a group.
type alertView struct {
	Firing bool
	Text   string
	Detail string  // the description, if Text is not the whole of it
	Labels []label // that the alerts of the group do not share
}

// maxAlerts is how many alerts of a group the page shows.
const maxAlerts = 100

// alertsView is the list of the alerts of a group.
type alertsView struct {
	First, Rest     []alertView
	Count, Resolved int // all that were read, and how many of them are resolved
	Cut             bool
}

// shownAlerts is how many alerts are not folded.
const shownAlerts = 5

// viewAlerts returns firing alerts first. It returns nothing for a single alert, because the facts show it already.
func viewAlerts(all []incidents.Alert) alertsView {
	v := alertsView{Cut: len(all) > maxAlerts}
	all = all[:min(len(all), maxAlerts)]
	v.Count = len(all)
	if v.Count < 2 {
		return alertsView{}
	}
	slices.SortStableFunc(all, func(a, b incidents.Alert) int {
		return cmp.Or(cmp.Compare(order(a), order(b)), b.StartsAt.Compare(a.StartsAt))
	})
	labels := make([]object, len(all))
	shared := map[label]int{}
	for i, a := range all {
		_ = json.Unmarshal(a.Labels, &labels[i])
		for name := range labels[i] {
			shared[label{name, labels[i].text(name)}]++
		}
	}
	for i, a := range all {
		var notes object
		_ = json.Unmarshal(a.Annotations, &notes)
		row := alertView{Firing: a.Firing,
			Text: humanize.Shorten(cmp.Or(notes.text("summary"), notes.text("title"), notes.text("description"),
				labels[i].text("alertname")), maxValue)}
		if about := cmp.Or(notes.text("description"), notes.text("message")); about != row.Text {
			row.Detail = humanize.Shorten(about, maxMember)
		}
		for _, name := range labels[i].names() {
			value := labels[i].text(name)
			if shared[label{name, value}] < len(all) && len(row.Labels) < maxAlertLabels {
				row.Labels = append(row.Labels, label{humanize.Shorten(name, maxName),
					humanize.Shorten(value, maxAlertLabel)})
			}
		}
		if !a.Firing {
			v.Resolved++
		}
		if i < shownAlerts {
			v.First = append(v.First, row)
		} else {
			v.Rest = append(v.Rest, row)
		}
	}
	return v
}

// Limits of the labels of one alert of a group.
const (
	maxAlertLabels = 8
	maxAlertLabel  = 120
)

func order(a incidents.Alert) int {
	if a.Firing {
		return 0
	}
	return 1
}
