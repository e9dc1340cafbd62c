// Package matchers is the syntax of Alertmanager for conditions on labels. The routing rules of integrations and silences use it. It is pure.
package matchers

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/fault"
)

// Matchers are conditions that all must hold.
type Matchers []matcher

type matcher struct {
	label string
	not   bool
	value string
	like  *regexp.Regexp // nil = equal to value
}

// maxMatchers bounds the size of one rule.
const maxMatchers = 50

// first matches the label and the operator at the start of a matcher.
var first = regexp.MustCompile(`^\s*([A-Za-z_][A-Za-z0-9_.:-]*)\s*(=~|!~|!=|=)\s*`)

// Parse reads matchers in the syntax of Alertmanager: label="value", with =, !=, =~ or !~, separated by commas, with or without braces.
// Values without special characters need no quotes. Expressions must match the whole value.
func Parse(s string) (Matchers, error) {
	rest := strings.TrimSpace(s)
	if strings.HasPrefix(rest, "{") && strings.HasSuffix(rest, "}") {
		rest = strings.TrimSpace(rest[1 : len(rest)-1])
	}
	var out Matchers
	for rest != "" {
		head := first.FindStringSubmatch(rest)
		if head == nil {
			return nil, fault.Invalidf("match", `%.60q must begin with a label and =, !=, =~ or !~`, rest)
		}
		value, after, err := value(rest[len(head[0]):])
		if err != nil {
			return nil, err
		}
		m := matcher{label: head[1], not: head[2][0] == '!', value: value}
		if strings.HasSuffix(head[2], "~") {
			if _, err := regexp.Compile(value); err != nil { // alone, so that no parenthesis closes the group below
				return nil, fault.Invalidf("match", "%.60q is no regular expression", value)
			}
			if m.like, err = regexp.Compile("^(?:" + value + ")$"); err != nil {
				return nil, fault.Invalidf("match", "%.60q is no regular expression", value)
			}
		}
		if out = append(out, m); len(out) > maxMatchers {
			return nil, fault.Invalidf("match", "more than %d matchers", maxMatchers)
		}
		after = strings.TrimSpace(after)
		rest = strings.TrimSpace(strings.TrimPrefix(after, ","))
		if after != "" && after[0] != ',' {
			return nil, fault.Invalidf("match", "a comma is missing before %.60q", after)
		}
	}
	return out, nil
}

// value reads a value with or without quotes, and returns what follows.
func value(s string) (v, rest string, err error) {
	if !strings.HasPrefix(s, `"`) {
		end := strings.IndexByte(s, ',')
		if end < 0 {
			end = len(s)
		}
		return strings.TrimSpace(s[:end]), s[end:], nil
	}
	quoted, err := strconv.QuotedPrefix(s)
	if err == nil {
		v, err = strconv.Unquote(quoted)
	}
	if err != nil {
		return "", "", fault.Invalidf("match", "the quotes of %.60s are wrong", s)
	}
	return v, s[len(quoted):], nil
}

// Match reports whether all matchers hold. label returns the value of a label; an absent one is empty.
func (m Matchers) Match(label func(name string) string) bool {
	for _, one := range m {
		v := label(one.label)
		holds := v == one.value
		if one.like != nil {
			holds = one.like.MatchString(v)
		}
		if holds == one.not {
			return false
		}
	}
	return true
}
