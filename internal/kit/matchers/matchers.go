package matchers

import (
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Matchers are conditions that all must hold.
type Matchers []matcher

type matcher struct {
	label string
	not   bool
	value string
	bare  bool        // value had no quotes
	like  *expression // nil = equal to value
}

// Answer says whether matchers hold.
type Answer int

// The answers.
const (
	No Answer = iota
	Yes
	Undecided // an expression is too large, or was not run because the budget is used up
)

// Budget is how much work expressions may still cause, in instructions times bytes.
type Budget int

// NewBudget returns the budget of one decision: for one event and all rules, or for one incident and all silences.
func NewBudget() *Budget {
	b := Budget(maxWork)
	return &b
}

// maxMatchers and maxLength bound the size of one rule.
const (
	maxMatchers = 50
	maxLength   = 10_000 // bytes
)

// first matches the label and the operator at the start of a matcher.
var first = regexp.MustCompile(`^\s*([A-Za-z_][A-Za-z0-9_.:-]*|"(?:[^"\\]|\\.)+")\s*(=~|!~|!=|=)\s*`)

// Parse reads matchers that are about to be stored, in the syntax of Alertmanager: label="value", with =, !=, =~ or !~,
// separated by commas, with or without braces. Names and values without special characters need no quotes. Expressions
// must match the whole value. Expressions that are too large are an Invalid fault, and so are values without quotes that
// have a quote inside, as in team=="db".
func Parse(s string) (Matchers, error) {
	if len(s) > maxLength {
		return nil, fault.Invalidf("match", "match has more than %d bytes", maxLength)
	}
	out, err := Stored(s)
	if err != nil {
		return nil, err
	}
	for _, m := range out {
		if m.bare && strings.Contains(m.value, `"`) {
			return nil, fault.Invalidf("match", `the value %.60s of %.60s has a quote inside: write %[2]s="value" with one operator, or \" inside quotes`,
				m.value, m.label)
		}
	}
	if size := out.Cost(); size > max(maxSize, len(s)) {
		return nil, fault.Invalidf("match",
			"the regular expressions are too large: %d instructions, at most %d; use smaller repetitions such as {0,5}",
			size, max(maxSize, len(s)))
	}
	return out, nil
}

// Outgrown says what to do about matchers that are stored and work, but would be refused if they were stored again; ""
// = nothing.
func Outgrown(s string) string {
	if _, err := Stored(s); err != nil {
		return "" // they do not work: those who use them say so
	}
	if _, err := Parse(s); err != nil {
		return fault.Public(err)
	}
	return ""
}

// Stored reads matchers that are stored already. It accepts large expressions, so that a limit that was added later
// disables none of them.
func Stored(s string) (Matchers, error) {
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
		name := head[1]
		if name[0] == '"' {
			var err error
			if name, err = strconv.Unquote(name); err != nil {
				return nil, fault.Invalidf("match", "the quotes of %.60s are wrong", head[1])
			}
		}
		text := rest[len(head[0]):]
		value, after, err := value(text)
		if err != nil {
			return nil, err
		}
		m := matcher{label: name, not: head[2][0] == '!', value: value, bare: !strings.HasPrefix(text, `"`)}
		if strings.HasSuffix(head[2], "~") {
			parsed, err := syntax.Parse(value, syntax.Perl) // alone, so that no parenthesis closes the group of compile
			if err != nil {
				return nil, fault.Invalidf("match", "%.60q is no regular expression", value)
			}
			if m.like, err = compile(value, parsed); err != nil {
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

// Match reports whether all matchers certainly hold. label returns the value of a label; an absent one is empty.
func (m Matchers) Match(label func(name string) string) bool {
	return m.Decide(label, NewBudget()) == Yes
}

// Decide says whether all matchers hold, and takes the work of their expressions from the budget. label returns the
// value of a label; an absent one is empty. One matcher that certainly does not hold decides, whatever the others are.
func (m Matchers) Decide(label func(name string) string, b *Budget) Answer {
	out := Yes
	for _, cheap := range []bool{true, false} {
		for _, one := range m {
			if (one.like == nil) != cheap {
				continue
			}
			switch one.decide(label(one.label), b) {
			case No:
				return No
			case Undecided:
				out = Undecided
			case Yes:
			}
		}
	}
	return out
}

func (m matcher) decide(v string, b *Budget) Answer {
	holds := v == m.value
	if m.like != nil {
		var decided bool
		if holds, decided = m.like.match(v, b); !decided {
			return Undecided
		}
	}
	if holds == m.not {
		return No
	}
	return Yes
}

// Cost is the size of all expressions. Callers decide cheap matchers first, so that large expressions of others do not
// use up their budget.
func (m Matchers) Cost() (total int) {
	for _, one := range m {
		if one.like != nil {
			total = capped(total + one.like.size)
		}
	}
	return total
}

// Values returns labels with the only values that they can have where the matchers hold. It is for an index.
func (m Matchers) Values() map[string][]string {
	out := map[string][]string{}
	for _, one := range m {
		switch {
		case one.not:
		case one.like == nil:
			out[one.label] = []string{one.value}
		case one.like.values != nil:
			out[one.label] = slices.Collect(maps.Keys(one.like.values))
		}
	}
	return out
}
