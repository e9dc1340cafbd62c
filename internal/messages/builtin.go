package messages

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/kit/humanize"
	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/jinja"
)

// builtIn renders the facts of an incident or notification for a message without a usable template. why is the reason
// for the timeline; "" = no template was requested.
func builtIn(s *source, why string) rendered {
	var d rendered
	if s.outOfBand() {
		d = builtInNotice(s)
	} else {
		d = builtInIncident(s)
	}
	if why != "" {
		d.problem = fmt.Sprintf("The message to %s went out as plain text: %s.", s.Target, strings.TrimSuffix(why, "."))
	}
	return d
}

// builtInNotice renders a notification whose template cannot be used.
func builtInNotice(s *source) rendered {
	lines := []string{s.notice.Body}
	if s.notice.Body == "" {
		lines[0] = s.notice.Subject
	}
	for n, m := range scalars(s.notice.Context) {
		if n == 0 {
			lines = append(lines, "")
		}
		if n == maxFacts {
			break
		}
		lines = append(lines, cutRunes(oneLine(m[0]), 60)+": "+cutRunes(oneLine(m[1]), maxFactValue))
	}
	return rendered{subject: s.prefixed(jinja.Mark(s.notice.Subject)),
		body: jinja.Mark(strings.TrimSpace(strings.Join(lines, "\n")))}
}

func builtInIncident(s *source) rendered {
	f := factsOf(s)
	from := ""
	if s.application != "" {
		from = "[" + s.application + "] "
	}
	headline, id := f.headline(), fmt.Sprint(s.MessageID)+" "
	switch s.Purpose {
	case ResolvedNotice:
		headline, id, f.status = "Resolved: "+headline, "", "resolved"
	case OwnerNotice:
		headline, id = "News: "+headline, ""
	}
	d := rendered{subject: jinja.Mark(id + from + headline)}
	switch s.Mode {
	case users.SMS:
		d.segment = from + headline
	case users.Call:
		d.subject = jinja.Mark(from + headline)
		d.body = jinja.Mark(strings.TrimSpace(f.status + ". " + cutRunes(oneLine(f.summary), maxFactValue)))
	case users.Slack:
		d.body = f.text(s, slackLayout)
	case users.Email:
		d.body, d.html = f.text(s, textLayout), f.html(s)
	default:
		d.body = f.text(s, textLayout)
	}
	return d
}

// happened is the first sentence of a notice: the entry on the timeline that caused it, and for a resolve, how long the
// incident lasted.
func (s *source) happened(entry Change) string {
	text := cutRunes(oneLine(entry.Description), maxDetour)
	if s.Purpose == ResolvedNotice && !s.incident.CreatedAt.IsZero() && entry.At.After(s.incident.CreatedAt) {
		text += ", " + humanize.Duration(entry.At.Sub(s.incident.CreatedAt)) + " after it was opened"
	}
	return humanize.Sentence(text)
}

// layout is the markup of the built-in text's parts.
type layout struct {
	title func(string) string
	name  func(string) string
	link  func(name, address string) string
}

var (
	textLayout = layout{
		title: jinja.Mark,
		name:  func(name string) string { return jinja.Mark(name + ": ") },
		link:  func(name, address string) string { return jinja.Mark(name + ": " + address) },
	}
	slackLayout = layout{
		title: func(title string) string { return "*" + jinja.Mark(strings.ReplaceAll(title, "*", "")) + "*" },
		name:  func(name string) string { return "*" + jinja.Mark(name) + ":* " },
		link:  func(name, address string) string { return "<" + jinja.Mark(address) + "|" + jinja.Mark(name) + ">" },
	}
)

// state is the sender's name for the state of the alerts, and how many alerts there are.
func (f *alertFacts) state() string {
	parts := []string{}
	if f.status != "" {
		parts = append(parts, cutRunes(oneLine(f.status), 30))
	}
	if f.count > 0 {
		parts = append(parts, humanize.Count(f.count, "alert", "alerts"))
	}
	return strings.Join(parts, ", ")
}

// about returns the names and values that describe the incident itself.
func (s *source) about() [][2]string {
	lines := [][2]string{{"Incident", fmt.Sprint(s.IncidentID)}, {"Application", s.application}, {"Plan", s.plan.Name},
		{"Priority", string(s.Priority)}}
	if !s.incident.CreatedAt.IsZero() {
		lines = append(lines, [2]string{"Opened", s.incident.CreatedAt.UTC().Format(timeLayout) + " UTC"})
	}
	return append(lines, [2]string{"Message", fmt.Sprint(s.MessageID)})
}

func (f *alertFacts) text(s *source, l layout) string {
	var sb strings.Builder
	line := func(name, value string) {
		if value != "" {
			sb.WriteString(l.name(name) + jinja.Mark(value) + "\n")
		}
	}
	sb.WriteString(l.title(f.title) + "\n\n")
	if f.summary != "" {
		sb.WriteString(jinja.Mark(f.summary) + "\n\n")
	}
	line("Severity", f.severity)
	line("State", f.state())
	line("Owner", f.owner)
	for _, alert := range f.alerts {
		sb.WriteString(jinja.Mark("- "+alert) + "\n")
	}
	for _, label := range f.labels {
		line(label[0], label[1])
	}
	for _, link := range f.links {
		sb.WriteString(l.link(link[0], link[1]) + "\n")
	}
	sb.WriteString("\n")
	for _, about := range s.about() {
		line(about[0], about[1])
	}
	return strings.TrimSpace(sb.String())
}

func (f *alertFacts) html(s *source) string {
	var sb strings.Builder
	sb.WriteString("<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"></head><body>\n<h2>" + jinja.Mark(f.title) +
		"</h2>\n")
	if s.Note != "" {
		sb.WriteString("<p>" + jinja.Mark(s.Note) + "</p>\n")
	}
	if f.summary != "" {
		sb.WriteString("<p>" + jinja.Mark(f.summary) + "</p>\n")
	}
	sb.WriteString("<table>\n")
	row := func(name, value string) {
		if value != "" {
			sb.WriteString("<tr><td><b>" + jinja.Mark(name) + "</b></td><td>" + value + "</td></tr>\n")
		}
	}
	row("Severity", jinja.Mark(f.severity))
	row("State", jinja.Mark(f.state()))
	row("Owner", jinja.Mark(f.owner))
	for _, label := range f.labels {
		row(label[0], jinja.Mark(label[1]))
	}
	for _, link := range f.links {
		row(link[0], `<a href="`+jinja.Mark(link[1])+`">`+jinja.Mark(link[1])+"</a>")
	}
	for _, about := range s.about() {
		row(about[0], jinja.Mark(about[1]))
	}
	sb.WriteString("</table>\n")
	if len(f.alerts) > 0 {
		sb.WriteString("<ul>\n")
		for _, alert := range f.alerts {
			sb.WriteString("<li>" + jinja.Mark(alert) + "</li>\n")
		}
		sb.WriteString("</ul>\n")
	}
	sb.WriteString("</body></html>\n")
	return sb.String()
}

// oneSegment cuts text to one SMS segment, with the reply that acknowledges, and with the acknowledgement link if it
// fits.
func oneSegment(s *source, text string) string {
	text = strings.ReplaceAll(text, "…", "...")
	room := Room(text)
	footer := ""
	if s.AckURL != "" {
		footer = fmt.Sprintf("\nReply \"%d ack\"", s.MessageID)
		if link := "\n" + s.AckURL; utf8.RuneCountInString(text+footer+link) <= room {
			footer += link
		}
	}
	return cutRunes(text, max(room-utf8.RuneCountInString(footer), 20)) + footer
}
