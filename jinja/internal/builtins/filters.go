package builtins

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/jinja/internal/format"
	"github.com/iris-oncall/iris/jinja/internal/methods"
	"github.com/iris-oncall/iris/jinja/internal/operators"
	"github.com/iris-oncall/iris/jinja/internal/py"
)

// Library holds filters and tests by name.
type Library struct {
	Filters, Tests map[string]*py.Func
}

// New returns the filters and tests of Jinja2.
func New() *Library {
	l := &Library{Filters: map[string]*py.Func{}, Tests: map[string]*py.Func{}}
	for _, bodies := range []table{plainFilters, textFilters, sequenceFilters, l.selecting()} {
		maps.Copy(l.Filters, py.NewFuncs(bodies))
	}
	for _, bodies := range []table{tests, l.named()} {
		maps.Copy(l.Tests, py.NewFuncs(bodies))
	}
	for alias, name := range map[string]string{"d": "default", "count": "length", "e": "escape"} {
		l.Filters[alias] = l.Filters[name]
	}
	for alias, name := range map[string]string{
		"eq": "==", "equalto": "==", "ne": "!=", "gt": ">", "greaterthan": ">", "ge": ">=", "lt": "<", "lessthan": "<", "le": "<=",
	} {
		l.Tests[alias] = l.Tests[name]
	}
	return l
}

// table is filters or tests by their signatures. The first argument is the value to which they are applied.
type table = map[string]py.Body

// NotFound returns the error text for an unknown filter or test. It suggests a similar name if there is one.
func NotFound(kind, name string, callables map[string]*py.Func) string {
	text := fmt.Sprintf("no %s named '%s'", kind, name)
	best := ""
	for other := range callables {
		if distance(name, other) <= min(2, len(name)/2) && (best == "" || other < best) {
			best = other
		}
	}
	if best != "" {
		text += fmt.Sprintf(": did you mean '%s'?", best)
	}
	return text
}

// distance is the edit distance of two names: how many characters to change, add or remove. For a long name it returns
// the length, to bound the work.
func distance(a, b string) int {
	if len(a) > 20 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// simple makes a body from a function that needs only the value.
func simple(fn func(b *py.Budget, v py.Value) py.Value) py.Body {
	return func(b *py.Budget, a []py.Value) py.Value { return fn(b, a[0]) }
}

var plainFilters = table{
	"default(value, default_value='', boolean=false)": func(b *py.Budget, a []py.Value) py.Value {
		if py.IsUndefined(a[0]) || py.Truth(b, a[2]) && !py.Truth(b, a[0]) {
			return a[1]
		}
		return a[0]
	},
	"length(obj, /)": simple(func(b *py.Budget, v py.Value) py.Value { return py.MustLen(b, v) }),
	"escape(s)":      simple(func(b *py.Budget, v py.Value) py.Value { return py.Escape(b, v) }),
	"abs(x, /)":      simple(func(b *py.Budget, v py.Value) py.Value { return operators.Unary(b, "abs", v) }),
	"attr(obj, name)": func(b *py.Budget, a []py.Value) py.Value {
		name := py.TextArg(a[1])
		py.RaiseUndefined(a[0])
		if v, ok := methods.Attr(b, a[0], name); ok {
			return v
		}
		return py.Missing(a[0], name)
	},
	"filesizeformat(value, binary=false)": fileSize,
	"float(value, default=0.0)": func(b *py.Budget, a []py.Value) (out py.Value) {
		if Try(func() { out = py.Float(b, a[0]) }, "TypeError", "ValueError") {
			return out
		}
		return a[1]
	},
	"int(value, default=0, base=10)": toInt,
	"forceescape(value)": simple(func(b *py.Budget, v py.Value) py.Value {
		return py.Markup(py.EscapeText(b, py.Str(b, v)))
	}),
	"pprint(value)": simple(func(b *py.Budget, v py.Value) py.Value { return format.PPrint(b, v) }),
	"random(seq)": simple(func(b *py.Budget, v py.Value) py.Value {
		n := py.MustLen(b, v)
		if n == 0 {
			return empty("random")
		}
		return py.Subscript(b, v, rand.Int64N(n))
	}),
	"round(value, precision=0, method=common)": round,
	"safe(value)":                simple(func(b *py.Budget, v py.Value) py.Value { return ToMarkup(b, v) }),
	"string(s)":                  simple(py.SoftStr),
	"tojson(value, indent=none)": toJSON,
}

func empty(filter string) py.Value {
	return &py.Undefined{Hint: "the filter " + filter + " was applied to nothing"}
}

// ToMarkup marks text as safe.
func ToMarkup(b *py.Budget, v py.Value) py.Markup { return py.Markup(py.Str(b, v)) }

// Try runs f. It returns false if f raises an exception of one of the kinds. Other exceptions pass through.
func Try(f func(), kinds ...string) bool {
	err := py.Try(f)
	if err != nil && !slices.Contains(kinds, err.Kind) {
		panic(err)
	}
	return err == nil
}

func toInt(b *py.Budget, a []py.Value) (out py.Value) {
	parse := func() {
		base := int64(10)
		if _, ok := py.AsString(a[0]); ok {
			base = py.IntArg(a[2])
		}
		out = py.Int(b, a[0], base)
	}
	viaFloat := func() { out = py.Int(b, py.Float(b, a[0]), 10) }
	if Try(parse, "TypeError", "ValueError") || Try(viaFloat, "TypeError", "ValueError", "OverflowError") {
		return out
	}
	return a[1]
}

func fileSize(b *py.Budget, a []py.Value) py.Value {
	bytes := py.Float(b, a[0])
	base, prefixes, unit := 1000.0, "kMGTPEZY", "B"
	if py.Truth(b, a[1]) {
		base, prefixes, unit = 1024, "KMGTPEZY", "iB"
	}
	switch {
	case bytes == 1:
		return "1 Byte"
	case bytes < base:
		return py.Str(b, py.Int(b, bytes, 10)) + " Bytes"
	}
	size, i := bytes/base, 0
	for size >= base && i < len(prefixes)-1 {
		size /= base
		i++
	}
	return format.Spec(b, size, ".1f") + " " + prefixes[i:i+1] + unit
}

func round(b *py.Budget, a []py.Value) py.Value {
	py.NewDict().Get(b, a[2]) // raises if the value cannot be a key
	method, _ := py.AsString(a[2])
	switch method {
	case "common":
		if a[1] == nil {
			return py.Int(b, py.Round(a[0], 0), 10)
		}
		return py.Round(a[0], py.IntArg(a[1]))
	case "ceil", "floor":
	default:
		py.Raise("FilterArgumentError", "the method of round must be common, ceil or floor, not %s", py.Shown(a[2]))
	}
	scale := operators.Binary(b, "**", int64(10), a[1])
	scaled := operators.Binary(b, "*", a[0], scale)
	if f, ok := scaled.(float64); ok && method == "ceil" {
		scaled = py.Int(b, math.Ceil(f), 10)
	} else if ok {
		scaled = py.Int(b, math.Floor(f), 10)
	}
	return operators.Binary(b, "/", scaled, scale)
}

var jsonUnsafe = strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`, "'", `\u0027`)

func toJSON(b *py.Budget, a []py.Value) py.Value {
	var indent *string
	if _, isText := py.AsString(a[0]); a[1] != nil && !isText {
		s, isText := py.AsString(a[1])
		if !isText {
			s = spaces(b, a[1])
		}
		indent = &s
	}
	s := format.JSON(b, a[0], indent)
	b.GrowTimes(6, int64(len(s)))
	switch b.Marks {
	case py.MarksText: // the markup is not HTML, and data in the JSON is still data
		return jsonUnsafe.Replace(s)
	case py.MarksJSON: // its texts are escaped already
		return py.Markup(s)
	case py.NoMarks, py.MarksHTML:
	}
	return py.Markup(jsonUnsafe.Replace(s))
}

// spaces returns n spaces, none if n is negative.
func spaces(b *py.Budget, n py.Value) string { return py.Pad(b, "", py.IntArg(n), " ", true, false) }
