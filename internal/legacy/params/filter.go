package params

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/legacy/jsonbody"
)

// Comparison is one key of a query with its values: field__op=value, or field=value with the operator eq.
type Comparison struct {
	Field  string
	Op     filters.Op
	Values []string
}

// Comparisons returns the comparisons of known fields in a query, sorted by key, and the keys of other parameters. It
// does not check operators and values, because each edge has its own rules for them.
func Comparisons(q url.Values, known filters.Schema) (out []Comparison, others []string) {
	for _, key := range slices.Sorted(maps.Keys(q)) {
		field, op, given := strings.Cut(key, "__")
		if _, ok := known[field]; !ok {
			others = append(others, key)
			continue
		}
		if !given {
			op = string(filters.Eq)
		}
		out = append(out, Comparison{Field: field, Op: filters.Op(op), Values: q[key]})
	}
	return out, others
}

// Condition is one comparison in a query of Oncall's API. Num is set for fields of the kind Number, Text for all.
type Condition struct {
	Field   string
	Op      filters.Op
	Text    string
	Num     int64
	numeric bool
}

// Kind is the kind of a field.
type Kind = filters.Kind

// The kinds of fields of Conditions.
const (
	Text   = filters.Text // eq, contains, startswith, endswith
	Number = filters.Int  // eq, ne, gt, ge, lt, le
)

// operator reports whether Oncall's API has an operator for a kind of field.
func operator(k Kind, op filters.Op) bool {
	switch op {
	case filters.Eq:
		return true
	case filters.Contains, filters.StartsWith, filters.EndsWith:
		return k == Text
	case filters.Ne, filters.Gt, filters.Ge, filters.Lt, filters.Le:
		return k == Number
	case filters.In:
	}
	return false
}

// Conditions reads the comparisons of known fields by the rules of Oncall's API: the last value of a repeated key
// counts, and a value that is not a number is 0. It also returns the other keys, which the route ignores or refuses.
func Conditions(q url.Values, known filters.Schema) (out []Condition, others []string) {
	all, others := Comparisons(q, known)
	for _, c := range all {
		kind := known[c.Field]
		if !operator(kind, c.Op) {
			others = append(others, c.Field+"__"+string(c.Op))
			continue
		}
		next := Condition{Field: c.Field, Op: c.Op, Text: c.Values[len(c.Values)-1], numeric: kind == Number}
		if next.numeric {
			next.Num, _ = jsonbody.ParseNumber(json.RawMessage(next.Text))
		}
		out = append(out, next)
	}
	return out, others
}

// Only returns the conditions on the given fields.
func Only(cs []Condition, fields ...string) []Condition {
	var out []Condition
	for _, c := range cs {
		if slices.Contains(fields, c.Field) {
			out = append(out, c)
		}
	}
	return out
}

// Values has the values of a row's fields that conditions compare.
type Values struct {
	Text map[string]string
	Num  map[string]int64
}

// Match reports whether all conditions hold. Comparisons of text are case-sensitive; except for eq, % and _ are
// wildcards.
func Match(cs []Condition, v Values) bool {
	for _, c := range cs {
		if c.numeric && !c.holdsFor(v.Num[c.Field]) || !c.numeric && !c.fits(v.Text[c.Field]) {
			return false
		}
	}
	return true
}

// Named returns the only text that a field may have by an eq condition; false if there is no such condition.
func Named(cs []Condition, field string) (text string, ok bool) {
	for _, c := range cs {
		if c.Field == field && c.Op == filters.Eq && !c.numeric {
			return c.Text, true
		}
	}
	return "", false
}

func (c Condition) holdsFor(n int64) bool {
	switch c.Op {
	case filters.Ne:
		return n != c.Num
	case filters.Gt:
		return n > c.Num
	case filters.Ge:
		return n >= c.Num
	case filters.Lt:
		return n < c.Num
	case filters.Le:
		return n <= c.Num
	}
	return n == c.Num
}

func (c Condition) fits(s string) bool {
	switch c.Op {
	case filters.Contains:
		return like(s, "%"+c.Text+"%")
	case filters.StartsWith:
		return like(s, c.Text+"%")
	case filters.EndsWith:
		return like(s, "%"+c.Text)
	}
	return s == c.Text
}

// like is SQL's LIKE without an escape character: % matches any characters, _ matches one character.
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
