package py

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Str is str(v).
func Str(b *Budget, v Value) string {
	switch x := v.(type) {
	case string:
		return x
	case Markup:
		return string(x)
	case int64:
		return strconv.FormatInt(x, 10)
	case nil:
		return "None"
	case bool:
		if x {
			return "True"
		}
		return "False"
	case *Undefined:
		return ""
	}
	return Repr(b, v)
}

// SoftStr is Str that leaves Markup as it is.
func SoftStr(b *Budget, v Value) Value {
	if m, ok := v.(Markup); ok {
		return m
	}
	return Str(b, v)
}

// Repr is repr(v).
func Repr(b *Budget, v Value) string { return repr(b, v, false) }

// ReprSorted is Repr with the keys of dictionaries in order.
func ReprSorted(b *Budget, v Value) string { return repr(b, v, true) }

func repr(b *Budget, v Value, sorted bool) string {
	p := printer{Writer: Writer{B: b}, sorted: sorted}
	p.repr(v)
	return p.String()
}

type printer struct {
	Writer
	sorted bool // prints the keys of dictionaries in order
}

// SortedKeys returns the keys of a dictionary in order. Keys that cannot be compared are ordered by type.
func SortedKeys(b *Budget, d *Dict) []Value {
	keys := Items(b, d)
	was := slices.Clone(keys)
	SortFunc(b, keys, false, func(i, j int) (less bool) {
		if Try(func() { less = Less(b, "<", was[i], was[j]) }) != nil {
			less = TypeName(was[i]) < TypeName(was[j])
		}
		return less
	})
	return keys
}

func (p *printer) repr(v Value) {
	switch x := v.(type) {
	case nil, bool, int64:
		p.Write(Str(p.B, v))
	case *big.Int:
		CheckDigits(x)
		p.Write(x.String())
	case float64:
		p.Write(FloatRepr(x))
	case string:
		p.Write(quoted(p.B, x))
	case Markup:
		p.Write("Markup(" + quoted(p.B, string(x)) + ")")
	case Bytes:
		p.B.GrowTimes(2, int64(len(x)))
		latin := make([]rune, len(x))
		for i := range latin {
			latin[i] = rune(x[i])
		}
		p.Write("b" + escaped(quoted(p.B, string(latin))))
	case *List, *Tuple:
		items, _ := Elements(v)
		start, end := Brackets(v)
		p.container(v, start, end, len(items), func(i int) { p.repr(items[i]) })
	case *Dict:
		p.dict(x)
	case *View:
		p.Write("dict_" + x.kind + "(")
		p.repr(&List{Items: Items(p.B, x)})
		p.Write(")")
	case *Range:
		step := ""
		if x.Step != 1 {
			step = fmt.Sprintf(", %d", x.Step)
		}
		p.Write(fmt.Sprintf("range(%d, %d%s)", x.Start, x.Stop, step))
	case *Undefined:
		p.Write("Undefined")
	case *Func:
		kind := "function "
		if x.Class {
			kind = "class "
		}
		p.Write("<" + kind + Quote(x.Name) + ">")
	case Object:
		p.Write(x.Repr(p.B))
	default:
		p.Write("<" + TypeName(v) + ">")
	}
}

// Brackets returns the brackets of a list or tuple.
func Brackets(v Value) (start, end string) {
	switch x := v.(type) {
	case *List:
		return "[", "]"
	case *Tuple:
		if len(x.Items) == 1 {
			return "(", ",)"
		}
	}
	return "(", ")"
}

func (p *printer) container(v Value, start, end string, n int, element func(i int)) {
	if !p.Nested(v, start, ", ", end, n, element) {
		p.Write(start + "..." + end[len(end)-1:])
	}
}

func (p *printer) dict(d *Dict) {
	keys := Items(p.B, d)
	if p.sorted {
		keys = SortedKeys(p.B, d)
	}
	p.container(d, "{", "}", len(keys), func(i int) {
		p.repr(keys[i])
		p.Write(": ")
		v, _ := d.Get(p.B, keys[i])
		p.repr(v)
	})
}

// CheckDigits raises for an integer that has too many digits to be printed.
func CheckDigits(x *big.Int) {
	// 10^4300 has 14285 bits.
	if x.BitLen() > 14285 || x.BitLen() == 14285 && len(new(big.Int).Abs(x).String()) > MaxIntDigits {
		Raise("ValueError", "an integer of more than %d digits cannot be printed", MaxIntDigits)
	}
}

// FloatRepr is repr of a float: the shortest text that reads back as x.
func FloatRepr(x float64) string {
	switch a := math.Abs(x); {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(x, 'f', -1, 64), "+"))
	case a != 0 && (a < 1e-4 || a >= 1e16):
		return strconv.FormatFloat(x, 'e', -1, 64)
	}
	s := strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func quoted(b *Budget, s string) string {
	b.GrowTimes(2, int64(len(s)+1))
	return Quote(s)
}

var controls = map[rune]string{'\n': `\n`, '\r': `\r`, '\t': `\t`, '\\': `\\`}

// Quote is repr of a str.
func Quote(s string) string {
	q := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		q = '"'
	}
	var sb strings.Builder
	sb.Grow(len(s) + 2)
	sb.WriteRune(q)
	for _, r := range s {
		switch {
		case r == q:
			sb.WriteString(`\` + string(q))
		case controls[r] != "":
			sb.WriteString(controls[r])
		case r >= ' ' && r < 0x7f || r >= 0x80 && unicode.IsPrint(r):
			sb.WriteRune(r)
		default:
			writeEscape(&sb, r)
		}
	}
	sb.WriteRune(q)
	return sb.String()
}

func writeEscape(sb *strings.Builder, r rune) {
	switch {
	case r < 0x100:
		fmt.Fprintf(sb, `\x%02x`, r)
	case r < 0x10000:
		fmt.Fprintf(sb, `\u%04x`, r)
	default:
		fmt.Fprintf(sb, `\U%08x`, r)
	}
}

// ASCII is ascii(v): repr with everything outside ASCII escaped.
func ASCII(b *Budget, v Value) string {
	s := Repr(b, v)
	b.GrowTimes(10, int64(len(s)))
	return escaped(s)
}

func escaped(s string) string {
	var sb strings.Builder
	for _, r := range s {
		if r < utf8.RuneSelf {
			sb.WriteRune(r)
		} else {
			writeEscape(&sb, r)
		}
	}
	return sb.String()
}
