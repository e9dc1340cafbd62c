package py

import (
	"html"
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
)

// Int is int(v) or int(v, base); base 0 reads a prefix.
func Int(b *Budget, v Value, base int64) Value {
	switch x := v.(type) {
	case int64, *big.Int:
		return x
	case bool:
		return boolInt(x)
	case float64:
		i := truncate(x)
		b.Grow(int64(i.BitLen()/8 + 1))
		return norm(i)
	}
	raiseUndefined(v)
	s, ok := AsString(v)
	if !ok {
		Raise("TypeError", "int() argument must be a string, a bytes-like object or a real number, not '%s'", TypeName(v))
	}
	return ParseInt(b, s, base)
}

// ParseInt is int(s, base).
func ParseInt(b *Budget, s string, base int64) Value {
	if base != 0 && (base < 2 || base > 36) {
		Raise("ValueError", "int() base must be >= 2 and <= 36, or 0")
	}
	invalid := func() {
		Raise("ValueError", "invalid literal for int() with base %d: %s", base, quotePaid(b, s))
	}
	b.Grow(int64(len(s)))
	t := asciiDigits(strings.TrimFunc(s, IsSpace))
	neg := false
	if t != "" && (t[0] == '+' || t[0] == '-') {
		neg, t = t[0] == '-', t[1:]
	}
	eff := base
	if len(t) > 1 && t[0] == '0' {
		prefix := map[byte]int64{'x': 16, 'X': 16, 'o': 8, 'O': 8, 'b': 2, 'B': 2}[t[1]]
		if prefix != 0 && (base == 0 || base == prefix) {
			eff, t = prefix, strings.TrimPrefix(t[2:], "_")
		} else if base == 0 && strings.Trim(t, "0_") != "" {
			invalid()
		}
	}
	if eff == 0 {
		eff = 10
	}
	if t == "" || t[0] == '_' || strings.HasSuffix(t, "_") || strings.Contains(t, "__") {
		invalid()
	}
	digits := strings.ReplaceAll(t, "_", "")
	if len(digits) > maxIntDigits && eff&(eff-1) != 0 {
		Raise("ValueError", "Exceeds the limit (%d digits) for integer string conversion: value has %d digits; use sys.set_int_max_str_digits() to increase the limit", maxIntDigits, len(digits))
	}
	checkBits(b, len(digits)*4)
	if digits[0] == '+' || digits[0] == '-' {
		invalid()
	}
	i, ok := new(big.Int).SetString(digits, int(eff))
	if !ok {
		invalid()
	}
	if neg {
		i.Neg(i)
	}
	return norm(i)
}

// asciiDigits replaces decimal digits of other scripts.
func asciiDigits(s string) string {
	if isASCII(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r < 0x80 || !unicode.Is(unicode.Nd, r) {
			return r
		}
		// Digits stand in runs of ten that begin with zero; the mathematical ones in five runs without a gap.
		if r >= 0x1d7ce && r <= 0x1d7ff {
			return '0' + (r-0x1d7ce)%10
		}
		z := r
		for r-z < 9 && unicode.Is(unicode.Nd, z-1) {
			z--
		}
		return '0' + (r - z)
	}, s)
}

// Float is float(v).
func Float(b *Budget, v Value) float64 {
	raiseUndefined(v)
	if f, ok := toFloat(v); ok {
		return f
	}
	s, ok := AsString(v)
	if !ok {
		Raise("TypeError", "float() argument must be a string or a real number, not '%s'", TypeName(v))
	}
	f, ok := parseFloat(b, s)
	if !ok {
		Raise("ValueError", "could not convert string to float: %s", Repr(b, v))
	}
	return f
}

func parseFloat(b *Budget, s string) (float64, bool) {
	b.Grow(int64(len(s)))
	t := asciiDigits(strings.TrimFunc(s, IsSpace))
	unsigned := strings.ToLower(strings.TrimLeft(t, "+-"))
	switch unsigned {
	case "inf", "infinity", "nan":
		if len(t)-len(unsigned) > 1 {
			return 0, false
		}
		f := math.Inf(1)
		if unsigned == "nan" {
			f = math.NaN()
		} else if t[0] == '-' {
			f = math.Inf(-1)
		}
		return f, true
	}
	for i := 0; i < len(t); i++ {
		c := t[i]
		if c == '_' && (i == 0 || i == len(t)-1 || !isDigits(t[i-1:i]) || !isDigits(t[i+1:i+2])) {
			return 0, false
		}
		if !strings.ContainsRune("0123456789.eE+-_", rune(c)) {
			return 0, false
		}
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(t, "_", ""), 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

// Round is round(v, digits).
func Round(b *Budget, v Value, digits int64) Value {
	switch x := v.(type) {
	case float64:
		return roundFloat(x, digits)
	case int64, *big.Int, bool:
		i, _ := toBig(x)
		if digits >= 0 {
			return norm(i)
		}
		if -digits > int64(i.BitLen())/3+2 {
			return int64(0)
		}
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(-digits), nil)
		return norm(new(big.Int).Mul(roundHalfEven(new(big.Rat).SetFrac(i, unit)), unit))
	}
	Raise("TypeError", "type %s doesn't define __round__ method", TypeName(v))
	return nil
}

func roundFloat(x float64, digits int64) Value {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0) || x == 0 || digits > 323:
		return x
	case digits < -308:
		return math.Copysign(0, x)
	case digits >= 0:
		f, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'f', int(digits), 64), 64)
		return f
	}
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(-digits), nil)
	q := new(big.Rat).SetFloat64(x)
	q.Quo(q, new(big.Rat).SetInt(unit))
	f, _ := new(big.Rat).SetInt(new(big.Int).Mul(roundHalfEven(q), unit)).Float64()
	return math.Copysign(f, x)
}

func roundHalfEven(r *big.Rat) *big.Int {
	q, m := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	switch c := m.Lsh(m, 1).Cmp(r.Denom()); {
	case c > 0, c == 0 && q.Bit(0) == 1:
		q.Add(q, big.NewInt(1))
	}
	return q
}

// StripTags is Markup(s).striptags(): comments and tags removed, spaces collapsed, entities replaced.
func StripTags(b *Budget, s string) string {
	s = removeBetween(b, s, "<!--", "-->")
	s = removeBetween(b, s, "<", ">")
	return unescapeHTML(b, strings.Join(Fields(b, s, -1), " "))
}

func removeBetween(b *Budget, s, start, end string) string {
	b.GrowTimes(2, int64(len(s)))
	var sb strings.Builder
	for {
		i := strings.Index(s, start)
		if i < 0 {
			break
		}
		j := strings.Index(s[i:], end)
		if j < 0 {
			break
		}
		// What stood before and after may form a new start together.
		keep := max(0, i-len(start)+1)
		sb.WriteString(s[:keep])
		if keep < i {
			b.Grow(int64(len(s)))
			s = s[keep:i] + s[i+j+len(end):]
		} else {
			s = s[i+j+len(end):]
		}
	}
	sb.WriteString(s)
	return sb.String()
}

func unescapeHTML(b *Budget, s string) string {
	b.GrowTimes(2, int64(len(s)))
	if !strings.Contains(s, "&#") {
		return html.UnescapeString(s)
	}
	var sb strings.Builder
	for {
		i := strings.Index(s, "&#")
		if i < 0 {
			sb.WriteString(html.UnescapeString(s))
			return sb.String()
		}
		sb.WriteString(html.UnescapeString(s[:i]))
		text, n := numericEntity(s[i:])
		sb.WriteString(text)
		s = s[i+n:]
	}
}

// numericEntity replaces the numeric character reference that s begins with, and returns its length.
func numericEntity(s string) (string, int) {
	i, base := 2, 10
	if i < len(s) && (s[i] == 'x' || s[i] == 'X') {
		i, base = 3, 16
	}
	start := i
	for i < len(s) && (s[i] >= '0' && s[i] <= '9' || base == 16 && strings.IndexByte("abcdefABCDEF", s[i]) >= 0) {
		i++
	}
	if i == start {
		return s[:2], 2
	}
	n, err := strconv.ParseInt(s[start:i], base, 64)
	end := i
	if end < len(s) && s[end] == ';' {
		end++
	}
	switch {
	case err != nil || n > unicode.MaxRune || n >= 0xd800 && n <= 0xdfff || n == 0:
		return "\ufffd", end
	case n == 0x0d, n >= 0x80 && n <= 0x9f:
		if n == 0x0d {
			return "\r", end
		}
		return html.UnescapeString("&#" + strconv.FormatInt(n, 10) + ";"), end
	case n < 0x09, n == 0x0b, n >= 0x0e && n < 0x20, n == 0x7f, n >= 0xfdd0 && n <= 0xfdef, n&0xfffe == 0xfffe:
		return "", end
	}
	return string(rune(n)), end
}
