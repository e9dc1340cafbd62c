package format

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/iris-oncall/iris/jinja/internal/py"
)

// JSON is json.dumps(v, sort_keys=True) with an indent per level; a nil indent writes one line.
func JSON(b *py.Budget, v py.Value, indent *string) string {
	e := encoder{py.Writer{B: b}, indent}
	e.value(v, "\n")
	return e.String()
}

type encoder struct {
	py.Writer
	indent *string
}

// value writes v; nl is the line break with the indentation of its level.
func (e *encoder) value(v py.Value, nl string) {
	switch x := v.(type) {
	case nil, bool, int64, *big.Int, float64:
		e.Write(scalar(e.B, v))
	case string:
		if e.B.Marks == py.MarksJSON {
			x = py.EscapeText(e.B, x)
		}
		e.text(x)
	case py.Markup:
		e.text(string(x))
	case *py.List, *py.Tuple:
		items, _ := py.Elements(v)
		e.nested(v, "[]", nl, len(items), func(i int, nl string) { e.value(items[i], nl) })
	case *py.Dict:
		keys := py.Items(e.B, x)
		py.Sort(e.B, keys, slices.Clone(keys), false)
		e.nested(v, "{}", nl, len(keys), func(i int, nl string) {
			e.text(scalar(e.B, keys[i]))
			e.Write(": ")
			val, _ := x.Get(e.B, keys[i])
			e.value(val, nl)
		})
	default:
		py.Raise("TypeError", "a value of type %s cannot be written as JSON", py.TypeName(v))
	}
}

// nested writes a list or dictionary of n elements.
func (e *encoder) nested(v py.Value, brackets, nl string, n int, element func(i int, nl string)) {
	inner, separator := "", ", "
	switch {
	case n == 0 || e.indent == nil:
		nl = ""
	default:
		e.B.Grow(int64(len(nl) + len(*e.indent)))
		inner = nl + *e.indent
		separator = "," + inner
	}
	if !e.Nested(v, brackets[:1]+inner, separator, nl+brackets[1:], n, func(i int) { element(i, inner) }) {
		py.Raise("ValueError", "a %s that contains itself cannot be written as JSON", py.TypeName(v))
	}
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
	e.B.GrowTimes(2, int64(len(s)+1))
	var sb strings.Builder
	for _, r := range s {
		switch escape := jsonEscapes[r]; {
		case escape != "":
			sb.WriteString(escape)
		case r >= ' ' && r < 0x7f:
			sb.WriteByte(byte(r))
		default:
			for _, unit := range utf16.AppendRune(nil, r) {
				fmt.Fprintf(&sb, `\u%04x`, unit)
			}
		}
	}
	e.Write(`"` + sb.String() + `"`)
}
