package matchers

import (
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// utf8Grammar reads matchers as Alertmanager's package matcher/parse does: names and values are in double quotes with
// Go's escapes, or have none of the reserved characters. One comma may follow the last matcher.
func utf8Grammar(s string) (Matchers, error) {
	var out Matchers
	rest := strings.TrimLeftFunc(s, unicode.IsSpace)
	rest, braces := strings.CutPrefix(rest, "{")
	for {
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		if rest == "" || rest[0] == '}' {
			break
		}
		var name, op, value string
		var err error
		if name, rest, err = word(rest); err != nil {
			return nil, err
		}
		if op, rest = operator(rest); op == "" {
			return nil, fault.Invalidf("match", `%.60q must begin with a label and =, !=, =~ or !~`, name+rest)
		}
		if value, rest, err = word(rest); err != nil {
			return nil, err
		}
		if out, err = out.with(name, op, value); err != nil {
			return nil, err
		}
		next, comma := strings.CutPrefix(rest, ",")
		if !comma && rest != "" && rest[0] != '}' {
			return nil, fault.Invalidf("match", "a comma is missing before %.60s; values with other characters need quotes", rest)
		}
		rest = next
	}
	rest, closed := strings.CutPrefix(rest, "}")
	if braces != closed {
		return nil, fault.Invalidf("match", "only one of the braces { and } is there: write both or none")
	}
	if rest = strings.TrimSpace(rest); rest != "" {
		return nil, fault.Invalidf("match", "nothing may follow the closing brace: %.60q", rest)
	}
	return out, nil
}

// word reads a name or a value, and returns what follows after white space.
func word(s string) (text, rest string, err error) {
	s = strings.TrimLeftFunc(s, unicode.IsSpace)
	if strings.HasPrefix(s, `"`) {
		quoted, err := strconv.QuotedPrefix(s)
		if err == nil {
			text, err = strconv.Unquote(quoted)
		}
		if err != nil || !utf8.ValidString(text) {
			return "", "", fault.Invalidf("match", "the quotes or escapes of %.60s are wrong", s)
		}
		rest = s[len(quoted):]
	} else {
		end := strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("{}!=~,\\\"'`", r) })
		if end < 0 {
			end = len(s)
		}
		if strings.HasPrefix(s, "=") {
			return "", "", fault.Invalidf("match", "a second operator stands before %.60s: write one of =, !=, =~ and !~", s[1:])
		}
		if end == 0 {
			return "", "", fault.Invalidf("match", `a label or a value is missing before %.60q: write label="value"`, s)
		}
		text, rest = s[:end], s[end:]
	}
	return text, strings.TrimLeftFunc(rest, unicode.IsSpace), nil
}

// operator reads an operator, and returns what follows; "" = there is none.
func operator(s string) (op, rest string) {
	for _, op := range []string{"=~", "!=", "!~", "="} {
		if rest, ok := strings.CutPrefix(s, op); ok {
			return op, rest
		}
	}
	return "", s
}

var classicName = regexp.MustCompile(`^\s*([a-zA-Z_:][a-zA-Z0-9_:]*)\s*(=~|=|!=|!~)\s*((?s).*?)\s*$`)

// classic reads matchers as Alertmanager's package pkg/labels does: values need no quotes, and a backslash before any
// character but ", \ and n is a backslash.
func classic(s string) (Matchers, error) {
	s = string([]rune(s)) // bytes that are no UTF-8 become U+FFFD
	var out Matchers
	for _, part := range list(strings.TrimSuffix(strings.TrimPrefix(s, "{"), "}")) {
		m := classicName.FindStringSubmatch(part)
		if m == nil {
			return nil, fault.Invalidf("match", `%.60q must begin with a label and =, !=, =~ or !~`, part)
		}
		value, ok := unescape(m[3])
		if !ok {
			return nil, fault.Invalidf("match", `the value %.60s of %.60s has a quote inside: write \" inside quotes`, m[3], m[1])
		}
		var err error
		if out, err = out.with(m[1], m[2], value); err != nil {
			return nil, err
		}
	}
	return out, nil
}

var earlierHead = regexp.MustCompile(`^\s*([A-Za-z_][A-Za-z0-9_.:-]*|"(?:[^"\\]|\\.)+")\s*(=~|!~|!=|=)\s*`)

// earlier reads matchers as Iris did before it followed Alertmanager exactly: values without quotes end at a comma, and
// values in quotes have Go's escapes.
func earlier(s string) (Matchers, error) {
	rest := strings.TrimSpace(s)
	if strings.HasPrefix(rest, "{") && strings.HasSuffix(rest, "}") {
		rest = strings.TrimSpace(rest[1 : len(rest)-1])
	}
	var out Matchers
	for rest != "" {
		head := earlierHead.FindStringSubmatch(rest)
		if head == nil {
			return nil, fault.Invalidf("match", `%.60q must begin with a label and =, !=, =~ or !~`, rest)
		}
		label, text := head[1], rest[len(head[0]):]
		var value, after string
		var err error
		if label[0] == '"' {
			label, err = strconv.Unquote(label)
		}
		if strings.HasPrefix(text, `"`) && err == nil {
			value, after, err = word(text)
		} else if comma := strings.IndexByte(text, ','); comma >= 0 {
			value, after = strings.TrimSpace(text[:comma]), text[comma:]
		} else {
			value = strings.TrimSpace(text)
		}
		if err == nil && after != "" && after[0] != ',' {
			err = fault.Invalidf("match", "a comma is missing before %.60q", after)
		}
		if err == nil {
			out, err = out.with(label, head[2], value)
		}
		if err != nil {
			return nil, err
		}
		rest = strings.TrimSpace(strings.TrimPrefix(after, ","))
	}
	return out, nil
}

// list splits at commas that are outside quotes. A last part of white space is left out.
func list(s string) (parts []string) {
	start, inside, escaped := 0, false, false
	for i, r := range s {
		switch r {
		case ',':
			if !inside {
				parts, start = append(parts, s[start:i]), i+1
			}
		case '"':
			if !escaped {
				inside = !inside
			}
			escaped = false
		case '\\':
			escaped = !escaped
		default:
			escaped = false
		}
	}
	if last := s[start:]; strings.TrimSpace(last) != "" {
		parts = append(parts, strings.TrimSpace(last))
	}
	return parts
}

// unescape returns the value of a text with or without quotes around it. It is not ok if there is a quote elsewhere.
func unescape(s string) (value string, ok bool) {
	s, quoted := strings.CutPrefix(s, `"`)
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			switch s[i] {
			case 'n':
				out.WriteByte('\n')
			case '"', '\\':
				out.WriteByte(s[i])
			default:
				out.WriteByte('\\')
				out.WriteByte(s[i])
			}
		case s[i] == '"':
			return out.String(), quoted && i == len(s)-1
		default:
			out.WriteByte(s[i])
		}
	}
	return out.String(), !quoted
}

// with returns the matchers and one more.
func (m Matchers) with(label, op, value string) (Matchers, error) {
	if len(m) == maxMatchers {
		return nil, fault.Invalidf("match", "more than %d matchers", maxMatchers)
	}
	if label == "" {
		return nil, fault.Invalidf("match", `a label is empty: write label="value"`)
	}
	one := matcher{label: label, not: op[0] == '!', value: value}
	if strings.HasSuffix(op, "~") {
		parsed, err := syntax.Parse(value, syntax.Perl) // alone, so that no parenthesis closes the group of compile
		if err == nil {
			one.like, err = compile(value, parsed)
		}
		if err != nil {
			return nil, fault.Invalidf("match", "%.60q is no regular expression", value)
		}
	}
	return append(m, one), nil
}

// same reports whether two matchers were read from equal names, operators and values.
func (m matcher) same(other matcher) bool {
	return m.label == other.label && m.not == other.not && m.value == other.value && (m.like == nil) == (other.like == nil)
}
