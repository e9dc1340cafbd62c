package messages

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/users"
	"github.com/iris-oncall/iris/jinja"
)

// In a rendered text, data is marked (jinja.Mark) and template source is not. The functions here replace the marks by
// the escapes of one markup. A text without marks is source only, or belongs to an application whose data is markup.

// SlackText is a message in Slack's own markup, in which the alert's text is escaped.
type SlackText struct {
	Subject string
	Body    string
	// Custom: Body begins with a JSON object of Slack's parts (text, blocks, attachments), because the template's
	// source does.
	Custom bool
}

// marks returns how data is marked in a part of the message's template: not at all in modes without markup, and for
// applications whose contexts contain markup on purpose.
func (s *source) marks(part string) jinja.Marks {
	switch {
	case s.markup():
		return jinja.NoMarks
	case part == partHTML:
		return jinja.MarksHTML
	case s.Mode == users.Slack || s.Mode == users.Email:
		return jinja.MarksText
	}
	return jinja.NoMarks
}

// markup reports whether the application's contexts contain markup on purpose.
func (s *source) markup() bool {
	if s.outOfBand() {
		return s.notice.Markup
	}
	return s.incident.Markup
}

// data marks text that is not the source of a template.
func (s *source) data(text string) string {
	if s.markup() {
		return text
	}
	return jinja.Mark(text)
}

var slackEscapes = map[byte]string{'&': "&amp;", '<': "&lt;", '>': "&gt;"}

// EscapeSlack escapes text for Slack's markup.
func EscapeSlack(text string) string { return slackMarkup(jinja.Mark(text)) }

func slackMarkup(marked string) string {
	return jinja.Unmark(marked, func(c byte) string {
		if escaped, ok := slackEscapes[c]; ok {
			return escaped
		}
		return string(rune(c))
	})
}

func htmlMarkup(marked string) string {
	return jinja.Unmark(marked, func(c byte) string { return html.EscapeString(string(rune(c))) })
}

// slackText is the message in Slack's markup; footer is how to acknowledge it.
func (s *source) slackText(d rendered, body, footer string) SlackText {
	w := SlackText{Subject: slackMarkup(cutRunes(oneLine(d.subject), maxSubject)), Custom: d.custom}
	w.Body = slackMarkup(withFooter(body, jinja.Mark(footer), MaxBody))
	if s.markup() {
		w.Custom = strings.HasPrefix(strings.TrimSpace(body), "{")
	}
	return w
}

// slackLiteral are the members of Slack's parts that Slack does not show as text. Their data is not escaped.
var slackLiteral = []string{"url", "image_url", "thumb_url", "title_link", "author_link", "author_icon", "footer_icon",
	"from_url",
	"original_url", "value", "action_id", "block_id", "callback_id", "color"}

// slackObject reads a printed text whose source begins a JSON object. It returns the object with its data escaped for
// Slack, followed by the rest. ok is false if there is no object: then it is text.
func slackObject(marked string) (out string, ok bool) {
	object, rest, ok := cutObject(marked)
	if !ok {
		return "", false
	}
	dec := json.NewDecoder(strings.NewReader(object))
	dec.UseNumber()
	var v map[string]any
	if err := dec.Decode(&v); err != nil {
		return "", false
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(slackValue(v, "")); err != nil {
		return "", false
	}
	return strings.TrimSpace(buf.String()) + rest, true
}

func slackValue(v any, key string) any {
	switch x := v.(type) {
	case string:
		if slices.Contains(slackLiteral, key) {
			return jinja.Raw(x)
		}
		return slackMarkup(x)
	case []any:
		for i := range x {
			x[i] = slackValue(x[i], key)
		}
	case map[string]any:
		out := make(map[string]any, len(x))
		for k, member := range x {
			k = jinja.Raw(k)
			out[k] = slackValue(member, k)
		}
		return out
	}
	return v
}

// cutObject splits text after the JSON object that it begins with. Control characters in strings become escapes. Data
// outside of strings may be a number or a word.
func cutObject(marked string) (object, rest string, ok bool) {
	marked = strings.TrimSpace(marked)
	if !strings.HasPrefix(marked, "{") {
		return "", "", false
	}
	var sb strings.Builder
	depth, inString, escaped := 0, false, false
	for i, r := range marked {
		isMark := jinja.Raw(string(r)) != string(r)
		switch {
		case inString && r < ' ':
			_, _ = sb.WriteString(`\u00` + string("0123456789abcdef"[r>>4]) + string("0123456789abcdef"[r&15]))
			escaped = false
			continue
		case inString:
			inString = escaped || r != '"'
			escaped = !escaped && r == '\\'
		case isMark:
			if c := jinja.Raw(string(r)); strings.Contains("+-.", c) {
				sb.WriteString(c)
				continue
			}
			return "", "", false
		case r == '"':
			inString = true
		case r == '{' || r == '[':
			depth++
		case r == '}' || r == ']':
			depth--
		}
		sb.WriteRune(r)
		if depth == 0 {
			return sb.String(), marked[i+len(string(r)):], true
		}
	}
	return "", "", false
}

// markedURL matches a URL in marked text, whose punctuation is marked or not.
var markedURL = regexp.MustCompile(`\bhttps?[:\x{F003A}][/\x{F002F}]{2}[0-9A-Za-z\x{F0021}\x{F0023}-\x{F0026}\x{F002B}-\x{F002F}\x{F003A}\x{F003B}\x{F003D}\x{F003F}\x{F0040}\x{F005F}\x{F007E}.:/?#@&=+_~%,;!$-]+`)

// encodedMark matches a marked character in a URL that Markdown percent-encoded.
var encodedMark = regexp.MustCompile(`%F3%B0%8[01]%[89AB][0-9A-F]`)

// decodeMark returns the percent-encoding of the character without its mark.
func decodeMark(encoded string) string {
	marked, err := url.PathUnescape(encoded)
	if err != nil {
		return encoded
	}
	return fmt.Sprintf("%%%02X", jinja.Raw(marked)[0])
}

// linked removes the marks in URLs, so that the Markdown converter makes links of them.
func linked(marked string) string {
	if !strings.Contains(marked, "http") {
		return marked // the expression begins with \b, so it would be tried at every letter
	}
	return markedURL.ReplaceAllStringFunc(marked, jinja.Raw)
}
