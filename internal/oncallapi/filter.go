package oncallapi

import (
	"encoding/json"
	"net/url"
	"strings"
)

// condition is one comparison of a list's query: field__op=value.
type condition struct {
	field, op string
	text      string
	num       int64
	numeric   bool
}

// kinds of filter fields.
type kind int

const (
	words   kind = iota // eq, contains, startswith, endswith
	numbers             // eq, ne, gt, ge, lt, le
)

var operators = map[kind][]string{
	words:   {"eq", "contains", "startswith", "endswith"},
	numbers: {"eq", "ne", "gt", "ge", "lt", "le"},
}

// conditions reads the comparisons over known fields. Of a repeated key the last value counts. Other keys are returned, for
// the route to ignore or refuse.
func conditions(q url.Values, known map[string]kind) (out []condition, others []string) {
	for key := range q {
		field, op, given := strings.Cut(key, "__")
		if !given {
			op = "eq"
		}
		k, ok := known[field]
		if !ok || !has(operators[k], op) {
			others = append(others, key)
			continue
		}
		c := condition{field: field, op: op, numeric: k == numbers}
		c.text, _ = last(q, key)
		if c.numeric {
			c.num, _ = number(json.RawMessage(c.text)) // what is no number compares like 0, as in Oncall's database
		}
		out = append(out, c)
	}
	return out, others
}

func has(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

// only keeps the conditions on some fields.
func only(cs []condition, fields ...string) []condition {
	var out []condition
	for _, c := range cs {
		if has(fields, c.field) {
			out = append(out, c)
		}
	}
	return out
}

// values is how a row shows the fields it can be filtered by.
type values struct {
	text map[string]string
	num  map[string]int64
}

// match reports whether all conditions hold. Text is compared with its case; % and _ are wildcards.
func match(cs []condition, v values) bool {
	for _, c := range cs {
		if c.numeric && !c.holdsFor(v.num[c.field]) || !c.numeric && !c.fits(v.text[c.field]) {
			return false
		}
	}
	return true
}

func (c condition) holdsFor(n int64) bool {
	switch c.op {
	case "ne":
		return n != c.num
	case "gt":
		return n > c.num
	case "ge":
		return n >= c.num
	case "lt":
		return n < c.num
	case "le":
		return n <= c.num
	}
	return n == c.num
}

func (c condition) fits(s string) bool {
	switch c.op {
	case "contains":
		return like(s, "%"+c.text+"%")
	case "startswith":
		return like(s, c.text+"%")
	case "endswith":
		return like(s, "%"+c.text)
	}
	return s == c.text
}

// like is SQL's LIKE without an escape: % is any run of characters, _ any one character.
func like(s, pattern string) bool {
	text, p := []rune(s), []rune(pattern)
	i, j, star, mark := 0, 0, -1, 0
	for i < len(text) {
		switch {
		case j < len(p) && p[j] == '%':
			star, mark = j, i
			j++
		case j < len(p) && (p[j] == '_' || p[j] == text[i]):
			i++
			j++
		case star >= 0:
			mark++
			i, j = mark, star+1
		default:
			return false
		}
	}
	for j < len(p) && p[j] == '%' {
		j++
	}
	return j == len(p)
}
