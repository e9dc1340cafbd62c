package messages

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/messages/jinja"
	"github.com/iris-oncall/iris/internal/messages/jinja/py"
	"github.com/iris-oncall/iris/internal/users"
)

const (
	maxPlainKeys  = 40  // context keys shown in the built-in text
	maxPlainValue = 300 // characters of each
)

// titleKeys are tried for a title when the application names no variable for it.
var titleKeys = []string{"title", "summary", "subject", "alertname", "name", "message", "description"}

// plainText is the built-in text of a message, for when there is no template or it failed: what happened, where it comes
// from, and the context in short. why is empty when no template was asked for.
func plainText(s *source, why string) draft {
	var d draft
	var sb strings.Builder
	failed := why != "" && !s.Plain
	if failed {
		sb.WriteString("Failed rendering message.\n\n")
	}
	if why != "" {
		d.problem = fmt.Sprintf("The message to %s went out in plain words: %s.", s.Target, strings.TrimSuffix(why, "."))
	}
	if s.outOfBand() {
		d.subject = s.prefixed(py.Mark(s.notice.Subject))
		sb.WriteString(s.notice.Body)
		if s.notice.Body == "" {
			sb.WriteString(s.notice.Subject)
		}
		contextLines(&sb, s.notice.Context)
		d.body = py.Mark(strings.TrimSpace(sb.String()))
		if failed {
			d.subject = s.prefixed("Iris failed to render your message")
		}
		return d
	}
	title := s.title()
	d.subject = fmt.Sprintf("%d %s", s.MessageID, strings.TrimSpace("["+s.application+"] "+title))
	if failed {
		d.subject = fmt.Sprintf("%d Iris failed to render your message", s.MessageID)
	}
	d.subject = py.Mark(d.subject)
	if title != "" {
		sb.WriteString(title + "\n\n")
	}
	line := func(name, value string) {
		if value != "" {
			sb.WriteString(name + ": " + value + "\n")
		}
	}
	line("Incident", fmt.Sprint(s.IncidentID))
	line("Application", s.application)
	line("Plan", s.plan.Name)
	line("Priority", string(s.Priority))
	if !s.incident.CreatedAt.IsZero() {
		line("Opened", s.incident.CreatedAt.UTC().Format(TimeLayout)+" UTC")
	}
	if s.Mode != users.SMS && s.Mode != users.Call {
		line("Message", fmt.Sprint(s.MessageID))
	}
	contextLines(&sb, s.incident.Context)
	d.body = py.Mark(strings.TrimSpace(sb.String()))
	return d
}

// title is what the incident calls itself; "" if it does not.
func (s *source) title() string {
	vars, err := jinja.DecodeVars(s.incident.Context)
	if err != nil {
		return ""
	}
	for _, key := range append([]string{s.incident.TitleVariable}, titleKeys...) {
		if text, ok := vars.Get(key); ok && key != "" && strings.TrimSpace(text) != "" && text != "None" {
			return cutRunes(oneLine(text), 200)
		}
	}
	return ""
}

func contextLines(sb *strings.Builder, context []byte) {
	vars, err := jinja.DecodeVars(context)
	if err != nil {
		return
	}
	n := 0
	vars.Each(func(name, text string) {
		if n++; n == 1 {
			sb.WriteString("\n")
		}
		switch {
		case n <= maxPlainKeys:
			sb.WriteString(cutRunes(oneLine(name), 100) + ": " + cutRunes(oneLine(text), maxPlainValue) + "\n")
		case n == maxPlainKeys+1:
			sb.WriteString("...\n")
		}
	})
}

// oneLine replaces line breaks and other control characters by spaces.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0x2028 || r == 0x2029 {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	return strings.TrimSpace(s)
}

// cutRunes shortens s to n characters, the last three of which are dots then.
func cutRunes(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	if n <= 3 {
		return s[:runeOffset(s, n)]
	}
	return s[:runeOffset(s, n-3)] + "..."
}

// runeOffset is where the n-th character of s begins.
func runeOffset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}
