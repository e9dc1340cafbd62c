package py

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printf is format % arg.
func Printf(b *Budget, format string, arg Value) string {
	return printf(b, format, arg, func(v Value) string { return Str(b, v) }, func(v Value) string { return Repr(b, v) })
}

func printfMarkup(b *Budget, format Markup, arg Value) Markup {
	return Markup(printf(b, string(format), arg,
		func(v Value) string { return string(Escape(b, v)) },
		func(v Value) string { return EscapeText(b, Repr(b, v)) }))
}

type printfer struct {
	b         *Budget
	str, repr func(Value) string
	arg       Value
	tuple     []Value // arg's elements, or arg alone
	next      int
	mapping   bool
	out       strings.Builder
}

func printf(b *Budget, format string, arg Value, str, repr func(Value) string) string {
	p := &printfer{b: b, str: str, repr: repr, arg: arg, tuple: []Value{arg}}
	switch x := arg.(type) {
	case *Tuple:
		p.tuple = x.Items
	case *Dict, *List, *Undefined, *Range, Bytes:
		p.mapping = true
	}
	usedKeys := false
	for i := 0; i < len(format); {
		j := strings.IndexByte(format[i:], '%')
		if j < 0 {
			p.write(format[i:])
			break
		}
		p.write(format[i : i+j])
		i = p.directive(format, i+j+1, &usedKeys)
	}
	if p.next < len(p.tuple) && !p.mapping && !usedKeys {
		Raise("TypeError", "not all arguments converted during string formatting")
	}
	return p.out.String()
}

func (p *printfer) write(s string) {
	p.b.Grow(int64(len(s)))
	p.out.WriteString(s)
}

func (p *printfer) take() Value {
	if p.next >= len(p.tuple) {
		Raise("TypeError", "not enough arguments for format string")
	}
	p.next++
	return p.tuple[p.next-1]
}

// spec is one %-directive.
type spec struct {
	minus, plus, space, alt, zero bool
	width                         int64
	prec                          int64 // -1 = not given
	verb                          byte
}

// directive formats the directive that begins at format[i], behind the %, and returns where it ends.
func (p *printfer) directive(format string, i int, usedKeys *bool) int {
	begin := i
	more := func() {
		if i >= len(format) {
			Raise("ValueError", "incomplete format")
		}
	}
	more()
	key := Absent
	if format[i] == '(' {
		if !p.mapping {
			Raise("TypeError", "format requires a mapping")
		}
		depth, start := 1, i+1
		for i++; depth > 0; i++ {
			if i >= len(format) {
				Raise("ValueError", "incomplete format key")
			}
			switch format[i] {
			case '(':
				depth++
			case ')':
				depth--
			}
		}
		key, *usedKeys = format[start:i-1], true
	}
	s := spec{prec: -1}
	for more(); strings.IndexByte("-+ #0", format[i]) >= 0; more() {
		switch format[i] {
		case '-':
			s.minus = true
		case '+':
			s.plus = true
		case ' ':
			s.space = true
		case '#':
			s.alt = true
		case '0':
			s.zero = true
		}
		i++
	}
	s.width, i = p.number(format, i)
	if s.width < 0 {
		s.minus, s.width = true, -s.width
	}
	more()
	if format[i] == '.' {
		i++
		more()
		s.prec, i = p.number(format, i)
		s.prec = max(s.prec, 0)
	}
	more()
	if strings.IndexByte("hlL", format[i]) >= 0 {
		i++
	}
	more()
	s.verb = format[i]
	if s.verb == '%' && i == begin {
		p.write("%")
		return i + 1
	}
	var v Value
	if key != Absent {
		v = Subscript(p.b, p.arg, key)
	} else {
		v = p.take()
	}
	p.convert(s, v, format, i)
	return i + 1
}

// number reads a width or precision: digits, or * for an argument.
func (p *printfer) number(format string, i int) (int64, int) {
	if i < len(format) && format[i] == '*' {
		n, ok := p.take().(int64)
		if !ok {
			Raise("TypeError", "* wants int")
		}
		return n, i + 1
	}
	n := int64(0)
	for ; i < len(format) && format[i] >= '0' && format[i] <= '9'; i++ {
		n = n*10 + int64(format[i]-'0')
		if n > math.MaxInt32 {
			Raise("ValueError", "width too big")
		}
	}
	return n, i
}

func (p *printfer) convert(s spec, v Value, format string, at int) {
	switch s.verb {
	case 's', 'r', 'a':
		var text string
		switch s.verb {
		case 's':
			text = p.str(v)
		case 'r':
			text = p.repr(v)
		default:
			text = ascii(p.b, v)
		}
		if s.prec >= 0 {
			text = text[:byteOffset(text, int(s.prec))]
		}
		p.write(Pad(p.b, text, s.width, " ", !s.minus, s.minus))
	case 'c':
		p.write(Pad(p.b, charOf(v), s.width, " ", !s.minus, s.minus))
	case 'd', 'i', 'u', 'x', 'X', 'o':
		p.integer(s, v)
	case 'e', 'E', 'f', 'F', 'g', 'G':
		f := realNumber(v)
		prec := 6
		if s.prec >= 0 {
			prec = int(s.prec)
		}
		p.b.Grow(int64(prec) + 350)
		text := formatFloat(math.Abs(f), s.verb, prec, s.alt)
		p.padNumber(s, math.Signbit(f) && !math.IsNaN(f), "", text)
	default:
		r, _ := utf8.DecodeRuneInString(format[at:])
		shown := string(r)
		if r < ' ' || r >= 0x7f {
			shown = "?"
		}
		Raise("ValueError", "unsupported format character '%s' (0x%x) at index %d", shown, r, runeCount(format[:at]))
	}
}

func charOf(v Value) string {
	if s, ok := AsString(v); ok && runeCount(s) == 1 {
		return s
	}
	i, ok := index(v)
	if !ok {
		Raise("TypeError", "%%c requires int or char")
	}
	if i < 0 || i > unicode.MaxRune {
		Raise("OverflowError", "%%c arg not in range(0x110000)")
	}
	return string(rune(i))
}

func realNumber(v Value) float64 {
	raiseUndefined(v)
	f, ok := toFloat(v)
	if !ok {
		Raise("TypeError", "must be real number, not %s", TypeName(v))
	}
	return f
}

func (p *printfer) integer(s spec, v Value) {
	i, ok := toBig(v)
	if !ok {
		f, isFloat := v.(float64)
		switch {
		case s.verb == 'x' || s.verb == 'X' || s.verb == 'o':
			Raise("TypeError", "%%%c format: an integer is required, not %s", s.verb, TypeName(v))
		case !isFloat:
			raiseUndefined(v)
			Raise("TypeError", "%%%c format: a real number is required, not %s", s.verb, TypeName(v))
		}
		i = truncate(f)
	}
	base, prefix := 10, ""
	switch s.verb {
	case 'x':
		base, prefix = 16, "0x"
	case 'X':
		base, prefix = 16, "0X"
	case 'o':
		base, prefix = 8, "0o"
	default:
		checkDigits(i)
	}
	if !s.alt {
		prefix = ""
	}
	p.b.Grow(int64(i.BitLen()) + 2)
	digits := new(big.Int).Abs(i).Text(base)
	if s.verb == 'X' {
		digits = strings.ToUpper(digits)
	}
	digits = Pad(p.b, digits, s.prec, "0", true, false)
	p.padNumber(s, i.Sign() < 0, prefix, digits)
}

func (p *printfer) padNumber(s spec, negative bool, prefix, digits string) {
	sign := ""
	switch {
	case negative:
		sign = "-"
	case s.plus:
		sign = "+"
	case s.space:
		sign = " "
	}
	if s.zero && !s.minus {
		digits = Pad(p.b, digits, s.width-int64(len(sign)+len(prefix)), "0", true, false)
	}
	p.write(Pad(p.b, sign+prefix+digits, s.width, " ", !s.minus, s.minus))
}

// truncate is int(f).
func truncate(f float64) *big.Int {
	switch {
	case math.IsNaN(f):
		Raise("ValueError", "cannot convert float NaN to integer")
	case math.IsInf(f, 0):
		Raise("OverflowError", "cannot convert float infinity to integer")
	}
	i, _ := new(big.Float).SetFloat64(math.Trunc(f)).Int(nil)
	return i
}

// formatFloat formats a number that is not negative by an e, f or g verb.
func formatFloat(f float64, verb byte, prec int, alt bool) string {
	upper := verb >= 'A' && verb <= 'Z'
	lower := verb | 0x20
	if lower == 'g' && prec == 0 {
		prec = 1
	}
	var s string
	switch {
	case math.IsNaN(f):
		s = "nan"
	case math.IsInf(f, 0):
		s = "inf"
	case lower == 'g' && alt:
		s = altG(f, prec)
	default:
		s = strconv.FormatFloat(f, lower, prec, 64)
		if alt && prec == 0 && lower != 'g' {
			if i := strings.IndexByte(s, 'e'); i >= 0 {
				s = s[:i] + "." + s[i:]
			} else {
				s += "."
			}
		}
	}
	if upper {
		s = strings.ToUpper(s)
	}
	return s
}

// altG is %#g: trailing zeros stay.
func altG(f float64, prec int) string {
	e := strconv.FormatFloat(f, 'e', prec-1, 64)
	exp, _ := strconv.Atoi(e[strings.IndexByte(e, 'e')+1:])
	if exp < -4 || exp >= prec {
		return e
	}
	s := strconv.FormatFloat(f, 'f', prec-1-exp, 64)
	if !strings.Contains(s, ".") {
		s += "."
	}
	return s
}
