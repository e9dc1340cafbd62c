package jinja

import (
	"math"
	"math/rand/v2"
	"strings"

	"github.com/iris-oncall/iris/internal/jinja/py"
)

// callable is a filter or a test: its parameters, the value it is applied to first, and what it does.
type callable struct {
	sig     py.Signature
	builtin bool // complains about arguments as Python's own functions do
	fn      func(r *render, a []py.Value, rest py.Args) py.Value
}

func (c *callable) call(r *render, args py.Args) py.Value {
	r.Step(1)
	if c.builtin {
		c.checkBuiltin(args)
	}
	a, rest := c.sig.Bind(args)
	return c.fn(r, a, rest)
}

func (c *callable) checkBuiltin(args py.Args) {
	n := len(c.sig.Params)
	given := len(args.Pos)
	switch {
	case len(args.Kw) > 0:
		py.Raise("TypeError", "%s() takes no keyword arguments", c.sig.Name)
	case given == n:
	case n == 1:
		py.Raise("TypeError", "%s() takes exactly one argument (%d given)", c.sig.Name, given)
	default:
		py.Raise("TypeError", "%s expected %d arguments, got %d", c.sig.Name, n, given)
	}
}

// simple makes a filter whose function needs no leftover arguments.
func simple(sig string, fn func(r *render, a []py.Value) py.Value) *callable {
	return &callable{sig: py.ParseSignature(sig), fn: func(r *render, a []py.Value, _ py.Args) py.Value { return fn(r, a) }}
}

func builtin(sig string, fn func(r *render, a []py.Value) py.Value) *callable {
	c := simple(sig, fn)
	c.builtin = true
	return c
}

// text makes a filter that turns text into text and keeps Markup, through the string method of the same name.
func textFilter(sig, method string) *callable {
	return simple(sig, func(r *render, a []py.Value) py.Value { return callMethod(r, py.SoftStr(r.Budget, a[0]), method) })
}

func callMethod(r *render, obj py.Value, name string, args ...py.Value) py.Value {
	m, ok := py.Attr(r.Budget, obj, name)
	if !ok {
		py.Raise("AttributeError", "'%s' object has no attribute '%s'", py.TypeName(obj), name)
	}
	return py.Call(r.Budget, m, py.Args{Pos: args})
}

// or returns v, or def if it was not given.
func or(v, def py.Value) py.Value {
	if v == py.Absent {
		return def
	}
	return v
}

// library holds the built-in filters and tests by name. It is filled once and then only read.
type library struct {
	filters, tests map[string]*callable
}

var builtins = newLibrary()

func newLibrary() *library {
	l := &library{filters: map[string]*callable{}, tests: makeTests()}
	for _, table := range []map[string]*callable{plainFilters(), textFilters(), sequenceFilters()} {
		for name, f := range table {
			l.filters[name] = f
		}
	}
	return l
}

func plainFilters() map[string]*callable {
	def := simple("do_default(value, default_value=, boolean=)", func(r *render, a []py.Value) py.Value {
		if _, undef := a[0].(*py.Undefined); undef || py.Truth(r.Budget, or(a[2], false)) && !py.Truth(r.Budget, a[0]) {
			return or(a[1], "")
		}
		return a[0]
	})
	length := builtin("len(obj)", func(r *render, a []py.Value) py.Value {
		n, ok := py.Len(r.Budget, a[0])
		if !ok {
			py.Raise("TypeError", "object of type '%s' has no len()", py.TypeName(a[0]))
		}
		return int64(n)
	})
	escape := simple("escape(s)", func(r *render, a []py.Value) py.Value { return py.Escape(r.Budget, a[0]) })
	return map[string]*callable{
		"abs":     builtin("abs(x)", func(r *render, a []py.Value) py.Value { return py.Abs(r.Budget, a[0]) }),
		"d":       def,
		"default": def,
		"count":   length,
		"length":  length,
		"e":       escape,
		"escape":  escape,
		"attr": simple("do_attr(@environment, obj, name)", func(r *render, a []py.Value) py.Value {
			py.NewDict().Get(r.Budget, a[1]) // raises for what cannot be looked up
			name, ok := py.AsString(a[1])
			if !ok {
				py.Raise("TypeError", "attribute name must be string, not '%s'", py.TypeName(a[1]))
			}
			if u, ok := a[0].(*py.Undefined); ok {
				u.Raise()
			}
			if v, ok := py.Attr(r.Budget, a[0], name); ok {
				return v
			}
			return &py.Undefined{HasObj: true, Obj: a[0], Name: name}
		}),
		"filesizeformat": simple("do_filesizeformat(value, binary=)", filesizeformat),
		"float": simple("do_float(value, default=)", func(r *render, a []py.Value) py.Value {
			var out py.Value
			if err := py.Try(func() { out = py.Float(r.Budget, a[0]) }); err != nil {
				if err.Kind != "TypeError" && err.Kind != "ValueError" {
					panic(err)
				}
				return or(a[1], 0.0)
			}
			return out
		}),
		"int": simple("do_int(value, default=, base=)", toIntFilter),
		"forceescape": simple("do_forceescape(value)", func(r *render, a []py.Value) py.Value {
			return py.Markup(py.EscapeText(r.Budget, py.Str(r.Budget, a[0])))
		}),
		"pprint": simple("do_pprint(value)", func(r *render, a []py.Value) py.Value { return pprint(r, a[0]) }),
		"random": simple("do_random(@context, seq)", random),
		"round":  simple("do_round(value, precision=, method=)", round),
		"safe":   simple("do_mark_safe(value)", func(r *render, a []py.Value) py.Value { return toMarkup(r, a[0]) }),
		"string": simple("soft_str(s)", func(r *render, a []py.Value) py.Value { return py.SoftStr(r.Budget, a[0]) }),
		"tojson": simple("do_tojson(@eval_ctx, value, indent=)", tojson),
	}
}

func toIntFilter(r *render, a []py.Value) py.Value {
	var out py.Value
	s, isStr := py.AsString(a[0])
	err := py.Try(func() {
		if isStr {
			out = py.ParseInt(r.Budget, s, toInt(or(a[2], int64(10))))
		} else {
			out = py.Int(r.Budget, a[0], 10)
		}
	})
	if err == nil {
		return out
	}
	if err.Kind != "TypeError" && err.Kind != "ValueError" {
		panic(err)
	}
	err = py.Try(func() { out = py.Int(r.Budget, py.Float(r.Budget, a[0]), 10) })
	if err == nil {
		return out
	}
	if err.Kind != "TypeError" && err.Kind != "ValueError" && err.Kind != "OverflowError" {
		panic(err)
	}
	return or(a[1], int64(0))
}

func filesizeformat(r *render, a []py.Value) py.Value {
	bytes := py.Float(r.Budget, a[0])
	base, infix := 1000.0, ""
	if py.Truth(r.Budget, or(a[1], false)) {
		base, infix = 1024, "i"
	}
	switch {
	case bytes == 1:
		return "1 Byte"
	case bytes < base:
		return py.Str(r.Budget, py.Int(r.Budget, bytes, 10)) + " Bytes"
	}
	prefixes := "kMGTPEZY"
	if infix != "" {
		prefixes = "KMGTPEZY"
	}
	for i := range prefixes {
		unit := math.Pow(base, float64(i+2))
		if bytes < unit || i == len(prefixes)-1 {
			return py.FormatSpec(r.Budget, base*bytes/unit, ".1f") + " " + prefixes[i:i+1] + infix + "B"
		}
	}
	return ""
}

func random(r *render, a []py.Value) py.Value {
	n, ok := py.Len(r.Budget, a[0])
	if !ok {
		py.Raise("TypeError", "object of type '%s' has no len()", py.TypeName(a[0]))
	}
	if n == 0 {
		return &py.Undefined{Hint: "No random item, sequence was empty."}
	}
	return py.Subscript(r.Budget, a[0], int64(rand.IntN(n)))
}

func round(r *render, a []py.Value) py.Value {
	how := or(a[2], "common")
	py.NewDict().Get(r.Budget, how) // raises for what cannot be looked up
	method, _ := py.AsString(how)
	if method != "common" && method != "ceil" && method != "floor" {
		py.Raise("FilterArgumentError", "method must be common, ceil or floor")
	}
	if method == "common" {
		precision := or(a[1], int64(0))
		if precision == nil {
			v := py.Round(r.Budget, a[0], 0)
			if _, ok := v.(float64); ok {
				return py.Int(r.Budget, v, 10)
			}
			return v
		}
		if !py.IsNumber(a[0]) {
			py.Raise("TypeError", "type %s doesn't define __round__ method", py.TypeName(a[0]))
		}
		return py.Round(r.Budget, a[0], toInt(precision))
	}
	scale := py.Pow(r.Budget, int64(10), or(a[1], int64(0)))
	scaled := py.Mul(r.Budget, a[0], scale)
	if f, ok := scaled.(float64); ok {
		if method == "ceil" {
			f = math.Ceil(f)
		} else {
			f = math.Floor(f)
		}
		scaled = py.Int(r.Budget, f, 10)
	} else if !py.IsInt(scaled) {
		py.Raise("TypeError", "must be real number, not %s", py.TypeName(scaled))
	}
	return py.Div(r.Budget, scaled, scale)
}

var jsonUnsafe = strings.NewReplacer("<", `\u003c`, ">", `\u003e`, "&", `\u0026`, "'", `\u0027`)

func tojson(r *render, a []py.Value) py.Value {
	var indent *string
	if v := or(a[1], nil); v != nil {
		s, ok := py.AsString(v)
		if _, isText := py.AsString(a[0]); !ok && !isText {
			s = py.Mul(r.Budget, " ", v).(string)
		}
		indent = &s
	}
	s := py.JSON(r.Budget, a[0], indent)
	r.GrowUnsafe(s)
	switch r.Marks() {
	case py.MarksText: // the markup is not HTML, and data in the JSON is still data
		return jsonUnsafe.Replace(s)
	case py.MarksJSON: // its texts are escaped already
		return py.Markup(s)
	case py.NoMarks, py.MarksHTML:
	}
	return py.Markup(jsonUnsafe.Replace(s))
}

// GrowUnsafe pays for text of which every character may be escaped.
func (r *render) GrowUnsafe(s string) { r.GrowTimes(6, int64(len(s))) }

// Sequences.

func pathOf(attribute py.Value) []py.Value {
	if attribute == nil {
		return nil
	}
	s, ok := py.AsString(attribute)
	if !ok {
		return []py.Value{attribute}
	}
	var parts []py.Value
	for _, p := range strings.Split(s, ".") {
		if i, ok := allDigits(p); ok {
			parts = append(parts, i)
		} else {
			parts = append(parts, p)
		}
	}
	return parts
}

func allDigits(s string) (py.Value, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" || len(s) > 18 {
		return nil, false
	}
	n := int64(0)
	for _, c := range s {
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// getter looks up a dotted attribute of items; def replaces what is undefined, unless it is nil.
func getter(r *render, attribute, def py.Value, foldCase bool) func(py.Value) py.Value {
	parts := pathOf(attribute)
	return func(v py.Value) py.Value {
		for _, p := range parts {
			v = py.GetItem(r.Budget, v, p)
			if _, undef := v.(*py.Undefined); undef && def != nil {
				v = def
			}
		}
		if foldCase {
			return ignoreCase(r, v)
		}
		return v
	}
}

func ignoreCase(r *render, v py.Value) py.Value {
	switch x := v.(type) {
	case string:
		return py.Lower(r.Budget, x)
	case py.Markup:
		return py.Markup(py.Lower(r.Budget, string(x)))
	}
	return v
}
