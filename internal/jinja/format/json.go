package format

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/iris-oncall/iris/internal/jinja/py"
)

// JSON is json.dumps(v, sort_keys=True) with an indent per level; a nil indent writes one line.
func JSON(b *py.Budget, v py.Value, indent *string) string {
	e := encoder{b: b, indent: indent}
	e.value(v, "\n")
	return e.sb.String()
}

type encoder struct {
	b      *py.Budget
	sb     strings.Builder
	indent *string
	open   []py.Value
}

func (e *encoder) w(s string) {
	e.b.Grow(int64(len(s)))
	e.sb.WriteString(s)
}

// value writes v; nl is the line break with the indentation of its level.
func (e *encoder) value(v py.Value, nl string) {
	switch x := v.(type) {
	case nil, bool, int64, *big.Int, float64:
		e.w(scalar(e.b, v))
	case string:
		if e.b.Marks == py.MarksJSON {
			x = py.EscapeText(e.b, x)
		}
		e.text(x)
	case py.Markup:
		e.text(string(x))
	case *py.List:
		e.nested(v, "[]", nl, x.Items, func(it py.Value, nl string) { e.value(it, nl) })
	case *py.Tuple:
		e.nested(v, "[]", nl, x.Items, func(it py.Value, nl string) { e.value(it, nl) })
	case *py.Dict:
		keys := py.Items(e.b, x)
		py.Sort(e.b, keys, slices.Clone(keys), false)
		e.nested(v, "{}", nl, keys, func(k py.Value, nl string) {
			e.text(scalar(e.b, k))
			e.w(": ")
			val, _ := x.Get(e.b, k)
			e.value(val, nl)
		})
	default:
		py.Raise("TypeError", "a value of type %s cannot be written as JSON", py.TypeName(v))
	}
}

// nested writes a list or dictionary. The function writes each element.
func (e *encoder) nested(v py.Value, brackets, nl string, items []py.Value, write func(it py.Value, nl string)) {
	if len(items) == 0 {
		e.w(brackets)
		return
	}
	if slices.Contains(e.open, v) {
		py.Raise("ValueError", "a %s that contains itself cannot be written as JSON", py.TypeName(v))
	}
	e.b.Enter()
	e.open = append(e.open, v)
	inner, separator, end := "", ", ", ""
	if e.indent != nil {
		e.b.Grow(int64(len(nl) + len(*e.indent)))
		inner, end = nl+*e.indent, nl
		separator = "," + inner
	}
	e.w(brackets[:1] + inner)
	for i, it := range items {
		if i > 0 {
			e.w(separator)
		}
		write(it, inner)
	}
	e.w(end + brackets[1:])
	e.open = e.open[:len(e.open)-1]
	e.b.Leave()
}

// scalar returns the text of a number, a bool or None. It returns a string unchanged, because keys are strings.
func scalar(b *py.Budget, v py.Value) string {
	switch x := v.(type) {
	case nil:
		return "null"
	case bool:
		return strconv.FormatBool(x)
	case int64, *big.Int:
		return py.Str(b, v)
	case float64:
		switch {
		case math.IsNaN(x):
			return "NaN"
		case math.IsInf(x, 0):
			return strings.Replace(py.FloatRepr(x), "inf", "Infinity", 1)
		}
		return py.FloatRepr(x)
	}
	return py.TextArg(v)
}

var jsonEscapes = map[rune]string{
	'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\b': `\b`, '\f': `\f`,
}

func (e *encoder) text(s string) {
	e.b.GrowTimes(2, int64(len(s)+1))
	e.sb.WriteByte('"')
	for _, r := range s {
		switch escape := jsonEscapes[r]; {
		case escape != "":
			e.sb.WriteString(escape)
		case r >= ' ' && r < 0x7f:
			e.sb.WriteByte(byte(r))
		default:
			for _, unit := range utf16.AppendRune(nil, r) {
				fmt.Fprintf(&e.sb, `\u%04x`, unit)
			}
		}
	}
	e.sb.WriteByte('"')
}
