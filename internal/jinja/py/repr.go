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
func Repr(b *Budget, v Value) string {
	p := printer{b: b}
	p.repr(v)
	return p.sb.String()
}

type printer struct {
	b    *Budget
	sb   strings.Builder
	open []Value // containers being printed, to find cycles
	// sorted prints the keys of dictionaries in order.
	sorted bool
}

// ReprSorted is Repr with the keys of dictionaries in order.
func ReprSorted(b *Budget, v Value) string {
	p := printer{b: b, sorted: true}
	p.repr(v)
	return p.sb.String()
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

func (p *printer) w(s string) {
	p.b.Grow(int64(len(s)))
	p.sb.WriteString(s)
}

func (p *printer) repr(v Value) {
	switch x := v.(type) {
	case nil, bool, int64:
		p.w(Str(p.b, v))
	case *big.Int:
		CheckDigits(x)
		p.w(x.String())
	case float64:
		p.w(FloatRepr(x))
	case string:
		p.w(quoted(p.b, x))
	case Markup:
		p.w("Markup(" + quoted(p.b, string(x)) + ")")
	case Bytes:
		p.b.GrowTimes(2, int64(len(x)))
		latin := make([]rune, len(x))
		for i := range latin {
			latin[i] = rune(x[i])
		}
		p.w("b" + escaped(quoted(p.b, string(latin))))
	case *List:
		p.container(v, "[", "]", x.Items)
	case *Tuple:
		end := ")"
		if len(x.Items) == 1 {
			end = ",)"
		}
		p.container(v, "(", end, x.Items)
	case *Dict:
		p.dict(x)
	case *View:
		p.w("dict_" + x.kind + "(")
		p.repr(&List{Items: Items(p.b, x)})
		p.w(")")
	case *Range:
		step := ""
		if x.Step != 1 {
			step = fmt.Sprintf(", %d", x.Step)
		}
		p.w(fmt.Sprintf("range(%d, %d%s)", x.Start, x.Stop, step))
	case *Undefined:
		p.w("Undefined")
	case *Func:
		kind := "function "
		if x.Class {
			kind = "class "
		}
		p.w("<" + kind + Quote(x.Name) + ">")
	case Object:
		p.w(x.Repr(p.b))
	default:
		p.w("<" + TypeName(v) + ">")
	}
}

// enter records that a container is being printed. If the container contains itself, enter prints an ellipsis and returns
// false.
func (p *printer) enter(v Value, start, end string) bool {
	if slices.Contains(p.open, v) {
		p.w(start + "..." + end)
		return false
	}
	p.b.Enter()
	p.open = append(p.open, v)
	p.w(start)
	return true
}

func (p *printer) leave(end string) {
	p.w(end)
	p.open = p.open[:len(p.open)-1]
	p.b.Leave()
}

func (p *printer) container(v Value, start, end string, items []Value) {
	if !p.enter(v, start, end[len(end)-1:]) {
		return
	}
	for i, it := range items {
		if i > 0 {
			p.w(", ")
		}
		p.repr(it)
	}
	p.leave(end)
}

func (p *printer) dict(d *Dict) {
	if !p.enter(d, "{", "}") {
		return
	}
	keys := []Value(nil)
	if p.sorted {
		keys = SortedKeys(p.b, d)
	} else {
		keys = Items(p.b, d)
	}
	for i, k := range keys {
		if i > 0 {
			p.w(", ")
		}
		p.repr(k)
		p.w(": ")
		v, _ := d.Get(p.b, k)
		p.repr(v)
	}
	p.leave("}")
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
