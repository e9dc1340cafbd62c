package reviews

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/kit/markdown"
)

// How much of an incident the first text has.
const (
	shownEntries = 200
	shownAlerts  = 50
	maxLine      = 300 // characters of an entry
)

// told are the kinds of entries that the first text repeats. The others say what happened to single messages.
var told = map[incidents.EntryKind]bool{incidents.EntryOpened: true, incidents.EntryUpdated: true,
	incidents.EntryStep: true, incidents.EntryAdded: true, incidents.EntryFallback: true, incidents.EntryLate: true,
	incidents.EntryExhausted: true, incidents.EntryAcknowledged: true, incidents.EntryReopened: true,
	incidents.EntryResolved: true, incidents.EntrySnoozed: true, incidents.EntrySilenced: true,
	incidents.EntryMerged: true, incidents.EntryClosed: true, incidents.EntryComment: true, incidents.EntryStatus: true}

// First returns the first review of an incident: its facts and its timeline, and headings for what only people know.
// Texts of alerts and people are escaped, so that they are no Markdown.
func First(i incidents.Incident, entries []incidents.Entry, alerts []incidents.Alert) Content {
	var b strings.Builder
	b.WriteString("## Summary\n\nWhat happened, and what did users notice?\n\n## Facts\n\n")
	fact := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "- %s: %s\n", name, value)
		}
	}
	fact("Incident", fmt.Sprintf("%d, %s", i.ID, line(i.Title())))
	fact("Application and plan", line(i.Application)+", "+line(i.Plan))
	fact("Severity", i.Severity)
	fact("Opened", moment(i.CreatedAt))
	acknowledged, resolved := facts(i, entries)
	fact("Acknowledged", acknowledged)
	fact("Resolved", resolved)
	writeAlerts(&b, alerts)
	b.WriteString("\n## Timeline\n\nAll times are UTC.\n\n")
	writeTimeline(&b, entries)
	b.WriteString("\n## Causes\n\nWhy did it happen? Why was it not noticed earlier?\n\n" +
		"## What went well\n\n## What to change\n\nAdd the work as follow-ups.\n")
	text := b.String()
	if len(text) > MaxText {
		text = strings.ToValidUTF8(text[:MaxText], "")
	}
	return Content{Title: humanize.Shorten(strings.Join(strings.Fields(fmt.Sprintf("Incident %d: %s", i.ID, i.Title())), " "), maxTitle),
		Text: text, Tags: []string{}, FollowUps: []FollowUp{}, State: Draft}
}

// facts say after what time the incident was acknowledged first and resolved last, and by whom.
func facts(i incidents.Incident, entries []incidents.Entry) (acknowledged, resolved string) {
	for _, e := range entries {
		switch {
		case e.Kind == incidents.EntryAcknowledged && acknowledged == "":
			acknowledged = after(i, e)
		case e.Kind == incidents.EntryResolved && i.Resolved:
			resolved = after(i, e)
		}
	}
	if acknowledged == "" {
		acknowledged = "never"
	}
	if resolved == "" {
		resolved = "not yet"
	}
	return acknowledged, resolved
}

func after(i incidents.Incident, e incidents.Entry) string {
	text := "after " + humanize.Duration(max(0, e.At.Sub(i.CreatedAt)).Round(time.Second))
	if e.Actor != "" {
		text += ", by " + line(e.Actor)
	}
	return text
}

func writeAlerts(b *strings.Builder, alerts []incidents.Alert) {
	if len(alerts) == 0 {
		return
	}
	b.WriteString("- Alerts:\n")
	for k, a := range alerts {
		if k == shownAlerts {
			b.WriteString("  - more alerts, which the page of the incident shows\n")
			return
		}
		var labels map[string]string
		_ = json.Unmarshal(a.Labels, &labels) // without labels, the fingerprint names the alert
		name := labels["alertname"]
		if name == "" {
			name = a.Fingerprint
		}
		if host := labels["instance"]; host != "" {
			name += " on " + host
		}
		fmt.Fprintf(b, "  - %s\n", line(name))
	}
}

func writeTimeline(b *strings.Builder, entries []incidents.Entry) {
	written := 0
	for _, e := range entries {
		if !told[e.Kind] {
			continue
		}
		if written == shownEntries {
			b.WriteString("- more entries, which the page of the incident shows\n")
			return
		}
		written++
		text := line(e.Text)
		if e.Kind == incidents.EntryComment && e.Actor != "" {
			text = line(e.Actor) + " wrote: " + text
		}
		fmt.Fprintf(b, "- %s: %s\n", moment(e.At), text)
	}
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }

// line returns a text of an alert or a person as one line that is no Markdown.
func line(text string) string {
	return markdown.Escape(humanize.Shorten(strings.Join(strings.Fields(text), " "), maxLine))
}

// Markdown returns the review as one file.
func (r Review) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", markdown.Escape(r.Title))
	fmt.Fprintf(&b, "- Incident: %d\n- Application: %s\n- State: %s\n- Author: %s\n", r.Incident,
		markdown.Escape(r.Application), r.State, markdown.Escape(r.Author))
	fmt.Fprintf(&b, "- Changed: %s UTC by %s\n", moment(r.ChangedAt), markdown.Escape(r.ChangedBy))
	if len(r.Tags) > 0 {
		fmt.Fprintf(&b, "- Tags: %s\n", markdown.Escape(strings.Join(r.Tags, ", ")))
	}
	b.WriteString("\n" + strings.TrimSpace(r.Text) + "\n")
	if len(r.FollowUps) > 0 {
		b.WriteString("\n## Follow-ups\n\n")
		for _, f := range r.FollowUps {
			fmt.Fprintf(&b, "- [%s](<%s>)\n", markdown.Escape(f.Title), f.URL)
		}
	}
	return b.String()
}
