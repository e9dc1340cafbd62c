package py

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// layout is a parsed format specification.
type layout struct {
	fill  string
	align byte // <, >, =, ^ or 0
	sign  byte // +, - or space; 0 = not given
	alt   bool
	zero  bool
	width int64
	group byte // comma, underscore or 0
	prec  int64
	verb  byte
}

// FormatSpec is format(v, spec).
func FormatSpec(b *Budget, v Value, spec string) string {
	if spec == "" {
		return Str(b, v)
	}
	switch x := v.(type) {
	case string, Markup:
		return formatString(b, self(v), parseLayout(b, v, spec, '<'))
	case bool, int64, *big.Int:
		i, _ := toBig(x)
		return formatInt(b, i, parseLayout(b, v, spec, '>'))
	case float64:
		return formatReal(b, x, parseLayout(b, v, spec, '>'))
	}
	Raise("TypeError", "unsupported format string passed to %s.__format__", TypeName(v))
	return ""
}

func parseLayout(b *Budget, v Value, spec string, align byte) layout {
	l := layout{fill: " ", prec: -1}
	rest := spec
	isAlign := func(s string) bool { return s != "" && strings.IndexByte("<>=^", s[0]) >= 0 }
	if _, n := utf8.DecodeRuneInString(rest); isAlign(rest[n:]) {
		l.fill, l.align, rest = rest[:n], rest[n], rest[n+1:]
	} else if isAlign(rest) {
		l.align, rest = rest[0], rest[1:]
	}
	eat := func(chars string) byte {
		if rest != "" && strings.IndexByte(chars, rest[0]) >= 0 {
			c := rest[0]
			rest = rest[1:]
			return c
		}
		return 0
	}
	l.sign = eat("+- ")
	eat("z")
	l.alt = eat("#") != 0
	if eat("0") != 0 {
		l.zero = true
		if l.align == 0 {
			l.fill = "0"
			if align == '>' {
				l.align = '='
			}
		}
	}
	l.width, rest = leadingInt(rest)
	l.group = eat(",_")
	if eat(",_") != 0 {
		Raise("ValueError", "Cannot specify both ',' and '_'.")
	}
	if eat(".") != 0 {
		if rest == "" || rest[0] < '0' || rest[0] > '9' {
			Raise("ValueError", "Format specifier missing precision")
		}
		l.prec, rest = leadingInt(rest)
	}
	if len(rest) > 1 {
		Raise("ValueError", "Invalid format specifier '%s' for object of type '%s'", spec, TypeName(v))
	}
	if rest != "" {
		l.verb = rest[0]
	}
	if l.align == 0 {
		l.align = align
	}
	b.Grow(int64(len(spec)))
	return l
}

func leadingInt(s string) (int64, string) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	if i == 0 {
		return 0, s
	}
	n, err := strconv.ParseInt(s[:i], 10, 32)
	if err != nil {
		Raise("ValueError", "Too many decimal digits in format string")
	}
	return n, s[i:]
}

func unknownCode(l layout, class string) {
	Raise("ValueError", "Unknown format code '%c' for object of type '%s'", l.verb, class)
}

func formatString(b *Budget, s string, l layout) string {
	switch {
	case l.sign == ' ':
		Raise("ValueError", "Space not allowed in string format specifier")
	case l.sign != 0:
		Raise("ValueError", "Sign not allowed in string format specifier")
	case l.alt:
		Raise("ValueError", "Alternate form (#) not allowed in string format specifier")
	case l.align == '=':
		Raise("ValueError", "'=' alignment not allowed in string format specifier")
	case l.verb != 0 && l.verb != 's':
		unknownCode(l, "str")
	case l.group != 0:
		Raise("ValueError", "Cannot specify '%c' with 's'.", l.group)
	}
	if l.prec >= 0 {
		s = s[:byteOffset(s, int(l.prec))]
	}
	return place(b, s, l)
}

func place(b *Budget, s string, l layout) string {
	switch l.align {
	case '<':
		return Pad(b, s, l.width, l.fill, false, true)
	case '^':
		pad := l.width - int64(runeCount(s))
		if pad <= 0 {
			return s
		}
		b.GrowTimes(int64(len(l.fill)), pad)
		return strings.Repeat(l.fill, int(pad/2)) + s + strings.Repeat(l.fill, int(pad-pad/2))
	}
	return Pad(b, s, l.width, l.fill, true, false)
}

func formatInt(b *Budget, i *big.Int, l layout) string {
	base, prefix := 10, ""
	switch l.verb {
	case 0, 'd', 'n':
		checkDigits(i)
	case 'b':
		base, prefix = 2, "0b"
	case 'o':
		base, prefix = 8, "0o"
	case 'x':
		base, prefix = 16, "0x"
	case 'X':
		base, prefix = 16, "0X"
	case 'c':
		if l.sign != 0 {
			Raise("ValueError", "Sign not allowed with integer format specifier 'c'")
		}
		if l.prec >= 0 {
			Raise("ValueError", "Precision not allowed in integer format specifier")
		}
		return place(b, charOf(norm(i)), l)
	case 'e', 'E', 'f', 'F', 'g', 'G', '%':
		f, _ := toFloat(norm(i))
		return formatReal(b, f, l)
	default:
		unknownCode(l, "int")
	}
	if l.prec >= 0 {
		Raise("ValueError", "Precision not allowed in integer format specifier")
	}
	if l.group == ',' && base != 10 {
		Raise("ValueError", "Cannot specify ',' with '%c'.", l.verb)
	}
	b.Grow(int64(i.BitLen())*2 + 8)
	digits := new(big.Int).Abs(i).Text(base)
	if l.verb == 'X' {
		digits = strings.ToUpper(digits)
	}
	if !l.alt {
		prefix = ""
	}
	size := 3
	if base != 10 {
		size = 4
	}
	return placeNumber(b, i.Sign() < 0, prefix, digits, "", size, l)
}

func formatReal(b *Budget, f float64, l layout) string {
	b.Grow(max(l.prec, 0) + 350)
	neg := math.Signbit(f) && !math.IsNaN(f)
	a := math.Abs(f)
	var s string
	switch l.verb {
	case 0:
		s = generalFloat(a, l)
	case 'e', 'E', 'f', 'F', 'g', 'G', 'n':
		prec := int64(6)
		if l.prec >= 0 {
			prec = l.prec
		}
		verb := l.verb
		if verb == 'n' {
			verb = 'g'
		}
		s = formatFloat(a, verb, int(prec), l.alt)
	case '%':
		prec := int64(6)
		if l.prec >= 0 {
			prec = l.prec
		}
		s = formatFloat(a*100, 'f', int(prec), l.alt) + "%"
	default:
		unknownCode(l, "float")
	}
	digits, rest := s, ""
	if i := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' }); i >= 0 {
		digits, rest = s[:i], s[i:]
	}
	return placeNumber(b, neg, "", digits, rest, 3, l)
}

// generalFloat is a float without a type: like repr, or with a precision like g with a digit behind the point.
func generalFloat(a float64, l layout) string {
	if l.prec < 0 {
		return FloatRepr(a)
	}
	s := formatFloat(a, 'g', int(max(l.prec, 1)), l.alt)
	if math.IsNaN(a) || math.IsInf(a, 0) || strings.ContainsAny(s, ".e") {
		return s
	}
	// One digit must follow the point; if the precision does not allow it, the exponent is shown.
	if int64(len(s)) >= max(l.prec, 1) && l.prec <= int64(len(s)) && len(s) >= int(max(l.prec, 1)) && !fitsPoint(s, l.prec) {
		return formatFloat(a, 'e', int(max(l.prec-1, 0)), l.alt)
	}
	return s + ".0"
}

func fitsPoint(digits string, prec int64) bool { return int64(len(digits)) < max(prec, 1) }

// placeNumber puts sign, prefix, grouped digits and the rest together and pads them.
func placeNumber(b *Budget, negative bool, prefix, digits, rest string, size int, l layout) string {
	sign := ""
	switch {
	case negative:
		sign = "-"
	case l.sign == '+' || l.sign == ' ':
		sign = string(l.sign)
	}
	head := sign + prefix
	if l.align == '=' {
		room := l.width - int64(len(head)+len(rest))
		if l.group != 0 && l.fill == "0" {
			digits = groupZeros(b, digits, l.group, size, room)
		} else {
			digits = Pad(b, group(b, digits, l.group, size), room, l.fill, true, false)
		}
		return head + digits + rest
	}
	return place(b, head+group(b, digits, l.group, size)+rest, l)
}

func group(b *Budget, digits string, sep byte, size int) string {
	if sep == 0 || len(digits) <= size {
		return digits
	}
	b.GrowTimes(2, int64(len(digits)))
	var sb strings.Builder
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%size == 0 {
			sb.WriteByte(sep)
		}
		sb.WriteByte(digits[i])
	}
	return sb.String()
}

// groupZeros fills up with zeros that are grouped too, as Python does.
func groupZeros(b *Budget, digits string, sep byte, size int, room int64) string {
	b.GrowTimes(2, max(room, 0))
	for {
		s := group(b, digits, sep, size)
		if int64(len(s)) >= room {
			return s
		}
		missing := max(1, (room-int64(len(s)))*int64(size)/int64(size+1))
		digits = strings.Repeat("0", int(missing)) + digits
	}
}
