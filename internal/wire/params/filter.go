package params

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/wire/jsonbody"
)

// Condition is one comparison of a list's query: field__op=value.
type Condition struct {
	Field, Op string
	Text      string
	Num       int64
	numeric   bool
}

// Kind of filter fields.
type Kind int

// The kinds of fields.
const (
	Text   Kind = iota // eq, contains, startswith, endswith
	Number             // eq, ne, gt, ge, lt, le
)

var operators = map[Kind][]string{
	Text:   {"eq", "contains", "startswith", "endswith"},
	Number: {"eq", "ne", "gt", "ge", "lt", "le"},
}

// Conditions reads the comparisons over known fields. Of a repeated key the last value counts. Other keys are returned, for
// the route to ignore or refuse.
func Conditions(q url.Values, known map[string]Kind) (out []Condition, others []string) {
	for key := range q {
		field, op, given := strings.Cut(key, "__")
		if !given {
			op = "eq"
		}
		k, ok := known[field]
		if !ok || !slices.Contains(operators[k], op) {
			others = append(others, key)
			continue
		}
		c := Condition{Field: field, Op: op, numeric: k == Number}
		c.Text, _ = Last(q, key)
		if c.numeric {
			c.Num, _ = jsonbody.ParseNumber(json.RawMessage(c.Text)) // what is no number compares like 0, as in Oncall's database
		}
		out = append(out, c)
	}
	return out, others
}

// Only keeps the conditions on some fields.
func Only(cs []Condition, fields ...string) []Condition {
	var out []Condition
	for _, c := range cs {
		if slices.Contains(fields, c.Field) {
			out = append(out, c)
		}
	}
	return out
}

// Values is how a row shows the fields it can be filtered by.
type Values struct {
	Text map[string]string
	Num  map[string]int64
}

// Match reports whether all conditions hold. Text is compared with its case; % and _ are wildcards.
func Match(cs []Condition, v Values) bool {
	for _, c := range cs {
		if c.numeric && !c.holdsFor(v.Num[c.Field]) || !c.numeric && !c.fits(v.Text[c.Field]) {
			return false
		}
	}
	return true
}

func (c Condition) holdsFor(n int64) bool {
	switch c.Op {
	case "ne":
		return n != c.Num
	case "gt":
		return n > c.Num
	case "ge":
		return n >= c.Num
	case "lt":
		return n < c.Num
	case "le":
		return n <= c.Num
	}
	return n == c.Num
}

func (c Condition) fits(s string) bool {
	switch c.Op {
	case "contains":
		return like(s, "%"+c.Text+"%")
	case "startswith":
		return like(s, c.Text+"%")
	case "endswith":
		return like(s, "%"+c.Text)
	}
	return s == c.Text
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
