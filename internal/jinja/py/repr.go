package py

import (
	"fmt"
	"math"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxIntDigits is Python's limit for converting integers to text and back.
const maxIntDigits = 4300

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
	switch v.(type) {
	case string, Markup:
		return v
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
		p.w(bigText(p.b, x))
	case float64:
		p.w(FloatRepr(x))
	case string:
		p.w(quotePaid(p.b, x))
	case Markup:
		p.w("Markup(")
		p.w(quotePaid(p.b, string(x)))
		p.w(")")
	case Bytes:
		p.w(bytesRepr(p.b, string(x)))
	case *List:
		p.container(v, "[", "]", "[...]", len(x.Items), func() { p.items(x.Items) })
	case *Tuple:
		p.container(v, "(", ")", "(...)", len(x.Items), func() {
			p.items(x.Items)
			if len(x.Items) == 1 {
				p.w(",")
			}
		})
	case *Dict:
		p.container(v, "{", "}", "{...}", x.Len(), func() { p.entries(x) })
	case *View:
		p.w("dict_" + x.kind + "(")
		p.repr(&List{Items: Items(p.b, x)})
		p.w(")")
	case *Range:
		if x.Step == 1 {
			p.w(fmt.Sprintf("range(%d, %d)", x.Start, x.Stop))
		} else {
			p.w(fmt.Sprintf("range(%d, %d, %d)", x.Start, x.Stop, x.Step))
		}
	case *Iterator:
		if x.Name != "" {
			p.w("<generator object " + x.Name + " at " + address(x) + ">")
		} else {
			p.w("<" + x.Kind + " object at " + address(x) + ">")
		}
	case *Undefined:
		p.w("Undefined")
	case *Func:
		p.w(x.repr())
	case Object:
		p.w(x.Repr(p.b))
	default:
		p.w("<object at " + address(v) + ">")
	}
}

func (p *printer) container(v Value, start, end, cycle string, n int, body func()) {
	for _, o := range p.open {
		if o == v {
			p.w(cycle)
			return
		}
	}
	p.b.Enter()
	defer p.b.Leave()
	p.open = append(p.open, v)
	p.w(start)
	if n > 0 {
		body()
	}
	p.w(end)
	p.open = p.open[:len(p.open)-1]
}

func (p *printer) items(items []Value) {
	for i, it := range items {
		if i > 0 {
			p.w(", ")
		}
		p.repr(it)
	}
}

func (p *printer) entries(d *Dict) {
	first := true
	d.Each(func(k, v Value) bool {
		if !first {
			p.w(", ")
		}
		first = false
		p.repr(k)
		p.w(": ")
		p.repr(v)
		return true
	})
}

// address stands for the id of an object, which Python prints too; it has no meaning.
func address(v any) string {
	rv := reflect.ValueOf(v)
	if rv.Kind() == reflect.Pointer {
		return fmt.Sprintf("0x%012x", rv.Pointer())
	}
	return "0x000000000000"
}

func bigText(b *Budget, x *big.Int) string {
	checkDigits(x)
	b.Grow(int64(x.BitLen()/3 + 2))
	return x.String()
}

func checkDigits(x *big.Int) {
	// 10^4300 has 14285 bits.
	if x.BitLen() > 14285 || x.BitLen() == 14285 && len(new(big.Int).Abs(x).String()) > maxIntDigits {
		Raise("ValueError", "Exceeds the limit (%d digits) for integer string conversion; use sys.set_int_max_str_digits() to increase the limit", maxIntDigits)
	}
}

// FloatRepr is repr of a float: the shortest text that reads back as x.
func FloatRepr(x float64) string {
	switch {
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	}
	if a := math.Abs(x); a != 0 && (a < 1e-4 || a >= 1e16) {
		s := strconv.FormatFloat(x, 'e', -1, 64)
		return s
	}
	s := strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

func quotePaid(b *Budget, s string) string {
	b.GrowTimes(2, int64(len(s)+1))
	return quote(s)
}

// quote is repr of a str.
func quote(s string) string {
	q := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		q = '"'
	}
	var sb strings.Builder
	sb.Grow(len(s) + 2)
	sb.WriteByte(q)
	for _, r := range s {
		switch {
		case r == rune(q) || r == '\\':
			sb.WriteByte('\\')
			sb.WriteRune(r)
		case r == '\n':
			sb.WriteString(`\n`)
		case r == '\r':
			sb.WriteString(`\r`)
		case r == '\t':
			sb.WriteString(`\t`)
		case r >= ' ' && r < 0x7f:
			sb.WriteByte(byte(r))
		case r < ' ' || r >= 0x7f && !unicode.IsPrint(r):
			writeEscape(&sb, r)
		default:
			sb.WriteRune(r)
		}
	}
	sb.WriteByte(q)
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

// ascii is ascii(v): repr with everything outside ASCII escaped.
func ascii(b *Budget, v Value) string {
	s := Repr(b, v)
	if isASCII(s) {
		return s
	}
	b.GrowTimes(10, int64(len(s)))
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

func bytesRepr(b *Budget, s string) string {
	b.GrowTimes(4, int64(len(s)+1))
	q := byte('\'')
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		q = '"'
	}
	var sb strings.Builder
	sb.WriteByte('b')
	sb.WriteByte(q)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == q || c == '\\':
			sb.WriteByte('\\')
			sb.WriteByte(c)
		case c == '\n':
			sb.WriteString(`\n`)
		case c == '\r':
			sb.WriteString(`\r`)
		case c == '\t':
			sb.WriteString(`\t`)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&sb, `\x%02x`, c)
		default:
			sb.WriteByte(c)
		}
	}
	sb.WriteByte(q)
	return sb.String()
}

var htmlEscaper = strings.NewReplacer("&", "&amp;", ">", "&gt;", "<", "&lt;", "'", "&#39;", `"`, "&#34;")

// Escape makes v safe in HTML; Markup is safe already.
func Escape(b *Budget, v Value) Markup {
	if m, ok := v.(Markup); ok {
		return m
	}
	return Markup(EscapeText(b, Str(b, v)))
}

// EscapeText is Escape for text.
func EscapeText(b *Budget, s string) string {
	if b.marks != NoMarks {
		return markText(b, s)
	}
	return EscapeHTML(b, s)
}

// EscapeHTML is EscapeText for HTML, whatever the marks.
func EscapeHTML(b *Budget, s string) string {
	if !strings.ContainsAny(s, `&<>'"`) {
		b.Scan(len(s))
		return s
	}
	b.GrowTimes(5, int64(len(s)))
	return htmlEscaper.Replace(s)
}

// Quote is repr of a str.
func Quote(s string) string { return quote(s) }

// Address stands for the id of an object in texts such as <object at 0x...>.
func Address(v any) string { return address(v) }
