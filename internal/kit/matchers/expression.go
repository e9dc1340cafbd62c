package matchers

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

const (
	// maxSize is the size of all expressions of matchers that can be stored, in instructions of their programs.
	// Expressions without counted repetitions have less instructions than bytes, and may be as large as the text.
	maxSize = 1000
	// maxCompiled is the size up to which a stored expression is compiled. Larger ones are undecided.
	maxCompiled = 20_000
	// maxWork bounds one decision to about a fifth of a second: a step costs up to 40 ns.
	maxWork = 5_000_000
)

// expression matches whole values.
type expression struct {
	size    int             // instructions of the program; 0 = values are compared
	longest int             // bytes of the longest value that matches; -1 = no limit
	prefix  string          // of every value that matches
	values  map[string]bool // those that match; nil = too many to list
	program *regexp.Regexp  // nil with values, or if the expression is too large
}

// compile returns the expression of a text that was parsed.
func compile(text string, parsed *syntax.Regexp) (*expression, error) {
	if list, ok := few(parsed, len(text)); ok {
		e := &expression{values: map[string]bool{}}
		for _, v := range list {
			e.values[v] = true
		}
		return e, nil
	}
	e := &expression{size: size(parsed), longest: longest(parsed), prefix: prefix(parsed)}
	if e.size > maxCompiled {
		return e, nil
	}
	var err error
	e.program, err = regexp.Compile("^(?:" + text + ")$")
	return e, err
}

// match reports whether a value matches. It returns decided = false if the expression cannot be run, or would exceed
// the budget.
func (e *expression) match(v string, b *Budget) (holds, decided bool) {
	switch {
	case e.values != nil:
		return e.values[v], true
	case e.longest >= 0 && len(v) > e.longest, !strings.HasPrefix(v, e.prefix):
		return false, true
	case e.program == nil:
		return false, false
	}
	work := e.size * (len(v) + 1)
	if work > int(*b) {
		return false, false
	}
	*b -= Budget(work)
	return e.program.MatchString(v), true
}

// saturated bounds sizes, so that they do not overflow.
const saturated = 1 << 30

func capped(n int) int { return min(n, saturated) }

// size estimates how many instructions the program of an expression has, without compiling it.
func size(re *syntax.Regexp) int {
	total := 0
	for _, sub := range re.Sub {
		total = capped(total + size(sub))
	}
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCapture:
		return capped(total + 2)
	case syntax.OpAlternate:
		return capped(total + len(re.Sub) - 1)
	case syntax.OpConcat:
		return total
	case syntax.OpRepeat:
		if re.Max < 0 {
			return capped(total*max(1, re.Min) + 1)
		}
		return capped(total*max(1, re.Max) + re.Max - re.Min)
	}
	return capped(total + 1)
}

// longest returns the length of the longest value that an expression matches, at most, in bytes; -1 = no limit.
func longest(re *syntax.Regexp) int {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune) * utf8.UTFMax
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return utf8.UTFMax
	case syntax.OpStar, syntax.OpPlus:
		if longest(re.Sub[0]) == 0 {
			return 0
		}
		return -1
	}
	total := 0
	for _, sub := range re.Sub {
		n := longest(sub)
		if n < 0 {
			return -1
		}
		if re.Op == syntax.OpAlternate {
			total = max(total, n)
		} else {
			total = capped(total + n)
		}
	}
	if re.Op == syntax.OpRepeat {
		if re.Max < 0 && total > 0 {
			return -1
		}
		return capped(total * max(1, re.Max))
	}
	return total
}

// prefix returns a text with which every value begins that an expression matches; "" = none is known.
func prefix(re *syntax.Regexp) string {
	if re.Op == syntax.OpConcat {
		re = re.Sub[0]
	}
	if s := string(re.Rune); re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase == 0 && exact(s) {
		return s
	}
	return ""
}

// few returns the values that an expression matches, if they are at most so many. It is exact. Only literals, classes,
// groups, alternatives and options have few values.
func few(re *syntax.Regexp, most int) ([]string, bool) {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return []string{""}, true
	case syntax.OpLiteral:
		s := string(re.Rune)
		return []string{s}, re.Flags&syntax.FoldCase == 0 && exact(s)
	case syntax.OpCharClass:
		return class(re, most)
	case syntax.OpCapture:
		return few(re.Sub[0], most)
	case syntax.OpQuest:
		values, ok := few(re.Sub[0], most)
		return append(values, ""), ok
	case syntax.OpConcat, syntax.OpAlternate:
		return combined(re, most)
	}
	return nil, false
}

// exact reports whether an expression of this text matches nothing else. The replacement character matches invalid
// UTF-8 too.
func exact(s string) bool { return !strings.ContainsRune(s, utf8.RuneError) }

func class(re *syntax.Regexp, most int) (out []string, ok bool) {
	for k := 0; k+1 < len(re.Rune); k += 2 {
		for c := re.Rune[k]; c <= re.Rune[k+1]; c++ {
			if out = append(out, string(c)); len(out) > most || !exact(string(c)) {
				return nil, false
			}
		}
	}
	return out, true
}

// combined returns the values of alternatives, or of expressions in a row.
func combined(re *syntax.Regexp, most int) ([]string, bool) {
	var out []string
	if re.Op == syntax.OpConcat {
		out = []string{""}
	}
	for _, sub := range re.Sub {
		values, ok := few(sub, most)
		switch {
		case !ok:
			return nil, false
		case re.Op == syntax.OpAlternate:
			out = append(out, values...)
		case len(out)*len(values) <= most:
			out = product(out, values)
		default:
			return nil, false
		}
		if len(out) > most {
			return nil, false
		}
	}
	return out, true
}

// product returns each of the beginnings with each of the endings.
func product(beginnings, endings []string) []string {
	out := make([]string, 0, len(beginnings)*len(endings))
	for _, a := range beginnings {
		for _, b := range endings {
			out = append(out, a+b)
		}
	}
	return out
}
