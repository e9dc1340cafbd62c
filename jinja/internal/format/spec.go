package format

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/iris-oncall/iris/jinja/internal/py"
)

// layout is how a value is formatted.
type layout struct {
	fill  string
	align string // <, >, ^ or = (fill between sign and digits)
	sign  string // +, - or space; "" = not given
	alt   bool
	width int64
	group string // comma, underscore or ""
	prec  int64  // -1 = not given
	verb  string
}

var specification = regexp.MustCompile(`(?s)^(?:(.)([<>=^])|([<>=^]))?([+\- ]?)z?(#?)(0?)(\d*)([,_]?)(?:\.(\d+))?(.?)$`)

// Spec is format(v, spec).
func Spec(b *py.Budget, v py.Value, spec string) string {
	if spec == "" {
		return py.Str(b, v)
	}
	b.Grow(int64(len(spec)))
	if s, ok := py.AsString(v); ok {
		return specText(b, s, parse(spec, "<"))
	}
	if f, ok := v.(float64); ok {
		return real(b, f, parse(spec, ">"))
	}
	i, ok := py.BigInt(v)
	py.RaiseIf(!ok, "TypeError", "a value of type %s cannot be formatted by %s", py.TypeName(v), py.Shown(spec))
	l := parse(spec, ">")
	if l.prec >= 0 && !strings.Contains("eEfFgG%", l.verb) {
		misfit(l, "an integer")
	}
	return integer(b, i, l)
}

func parse(spec, align string) layout {
	m := specification.FindStringSubmatch(spec)
	py.RaiseIf(m == nil, "ValueError", "%s is not a format", py.Shown(spec))
	l := layout{
		fill: cmp.Or(m[1], m[6], " "), align: m[2] + m[3], sign: m[4], alt: m[5] != "", width: size(m[7]), group: m[8], prec: -1, verb: m[10],
	}
	if m[9] != "" {
		l.prec = size(m[9])
	}
	if m[6] != "" && align == ">" { // zeros go between the sign and the digits
		align = "="
	}
	l.align = cmp.Or(l.align, align)
	return l
}

// size is a width or a precision.
func size(digits string) int64 {
	n, err := strconv.ParseInt(digits, 10, 32)
	py.RaiseIf(err != nil && digits != "", "ValueError", "the number %s in the format is too large", digits)
	return n
}

func misfit(l layout, what string) {
	py.Raise("ValueError", "the format %s%s%s does not fit %s", l.sign, l.group, l.verb, what)
}

func specText(b *py.Budget, s string, l layout) string {
	if l.sign != "" || l.alt || l.align == "=" || l.group != "" || l.verb != "" && l.verb != "s" {
		misfit(l, "text")
	}
	if l.prec >= 0 {
		s = s[:py.ByteOffset(s, int(l.prec))]
	}
	return place(b, s, l)
}

func place(b *py.Budget, s string, l layout) string {
	if l.align == "^" {
		left := max(l.width-int64(py.RuneCount(s)), 0) / 2
		s = py.Pad(b, s, int64(py.RuneCount(s))+left, l.fill, true, false)
	}
	return py.Pad(b, s, l.width, l.fill, l.align == ">" || l.align == "=", l.align == "<" || l.align == "^")
}

// bases are the bases of integers by verb.
var bases = map[string]int{"": 10, "d": 10, "i": 10, "u": 10, "n": 10, "b": 2, "o": 8, "x": 16, "X": 16}

// integer formats an integer by any verb. A precision is the minimum number of digits, as for the % operator.
func integer(b *py.Budget, i *big.Int, l layout) string {
	base, prefix, group := bases[l.verb], "", 3
	switch {
	case l.verb == "c" && l.sign == "":
		return place(b, character(py.FromBig(i)), l)
	case l.verb != "" && strings.Contains("eEfFgG%", l.verb):
		return real(b, py.RealNumber(py.FromBig(i)), l)
	case base == 0 || base != 10 && l.group == ",":
		misfit(l, "an integer")
	case base == 10:
		py.CheckDigits(i)
	default:
		group = 4
		if l.alt {
			prefix = "0" + l.verb
		}
	}
	b.Grow(int64(i.BitLen())*2 + 8)
	digits := py.Pad(b, new(big.Int).Abs(i).Text(base), l.prec, "0", true, false)
	if l.verb == "X" {
		digits = strings.ToUpper(digits)
	}
	return number(b, i.Sign() < 0, prefix, digits, "", group, l)
}

func character(v py.Value) string {
	if s, ok := py.AsString(v); ok && py.RuneCount(s) == 1 {
		return s
	}
	i := py.IntArg(v)
	py.RaiseIf(i < 0 || i > unicode.MaxRune, "OverflowError", "%d is not a character", i)
	return string(rune(i))
}

func real(b *py.Budget, f float64, l layout) string {
	b.Grow(max(l.prec, 0) + 350)
	prec := l.prec
	if prec < 0 {
		prec = 6
	}
	a, s := math.Abs(f), ""
	switch l.verb {
	case "":
		s = general(a, l)
	case "n":
		s = float(a, "g", prec, l.alt)
	case "e", "E", "f", "F", "g", "G":
		s = float(a, l.verb, prec, l.alt)
	case "%":
		s = float(a*100, "f", prec, l.alt) + "%"
	default:
		misfit(l, "a number")
	}
	rest := strings.TrimLeft(s, "0123456789")
	return number(b, math.Signbit(f) && !math.IsNaN(f), "", s[:len(s)-len(rest)], rest, 3, l)
}

// general formats a float without a verb: like repr, or with a precision like g with at least one digit after the
// point.
func general(a float64, l layout) string {
	if l.prec < 0 {
		return py.FloatRepr(a)
	}
	prec := max(l.prec, 1)
	s := float(a, "g", prec, l.alt)
	switch {
	case math.IsNaN(a) || math.IsInf(a, 0) || strings.ContainsAny(s, ".e"):
		return s
	case int64(len(s)) >= prec: // a digit after the point would exceed the precision
		return float(a, "e", prec-1, l.alt)
	}
	return s + ".0"
}

// maxPrecision is the largest precision that fmt formats.
const maxPrecision = 1e6

// float formats a number that is not negative by an e, f or g verb. alt keeps the point and trailing zeros.
func float(f float64, verb string, prec int64, alt bool) string {
	flag := ""
	if alt {
		flag = "#"
	}
	switch {
	case prec > maxPrecision:
		py.Raise(py.LimitError, "a number cannot have more than %d digits", int64(maxPrecision))
	case !math.IsNaN(f) && !math.IsInf(f, 0):
		return fmt.Sprintf("%"+flag+".*"+verb, int(prec), f)
	case verb < "a":
		return strings.ToUpper(py.FloatRepr(f))
	}
	return py.FloatRepr(f)
}

// number joins sign, prefix, grouped digits and the rest, and pads the result.
func number(b *py.Budget, negative bool, prefix, digits, rest string, size int, l layout) string {
	head := prefix
	if negative {
		head = "-" + prefix
	} else if l.sign != "-" {
		head = l.sign + prefix
	}
	if l.align != "=" {
		return place(b, head+grouped(b, digits, l.group, size)+rest, l)
	}
	room := l.width - int64(len(head)+len(rest))
	text := grouped(b, digits, l.group, size)
	if l.group != "" && l.fill == "0" { // the zeros of the padding are grouped too
		b.GrowTimes(2, room)
		for int64(len(text)) < room {
			missing := max(1, (room-int64(len(text)))*int64(size)/int64(size+1))
			digits = strings.Repeat("0", int(missing)) + digits
			text = grouped(b, digits, l.group, size)
		}
	}
	return head + py.Pad(b, text, room, l.fill, true, false) + rest
}

func grouped(b *py.Budget, digits, sep string, size int) string {
	if sep == "" || len(digits) <= size {
		return digits
	}
	b.GrowTimes(2, int64(len(digits)))
	var sb strings.Builder
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%size == 0 {
			sb.WriteString(sep)
		}
		sb.WriteByte(digits[i])
	}
	return sb.String()
}
