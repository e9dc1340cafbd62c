package py

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"unicode"
)

// MaxIntDigits is Python's limit for converting integers to text and back.
const MaxIntDigits = 4300

// MaxIntBits bounds integers; Python prints none beyond 4300 digits (14,285 bits).
const MaxIntBits = 1 << 16

// FromBig returns x as int64 if it fits.
func FromBig(x *big.Int) Value {
	if x.IsInt64() {
		return x.Int64()
	}
	return x
}

// CheckBits raises for an integer that would have too many bits. Otherwise it charges the budget for the integer.
func CheckBits(b *Budget, bits int) {
	if bits > MaxIntBits {
		Raise(LimitError, "the template computes a number of more than %d bits", MaxIntBits)
	}
	b.Grow(int64(bits/8 + 1))
}

// BigInt returns an int as *big.Int; false for other types.
func BigInt(v Value) (*big.Int, bool) {
	if x, ok := v.(*big.Int); ok {
		return x, true
	}
	i, ok := Small(v)
	return big.NewInt(i), ok
}

// Small returns an int or bool as int64.
func Small(v Value) (int64, bool) {
	switch x := v.(type) {
	case int64:
		return x, true
	case bool:
		return BoolInt(x), true
	}
	return 0, false
}

// ToFloat returns a number as float64; false for other types. It raises OverflowError for an integer that is too large.
func ToFloat(v Value) (float64, bool) {
	switch x := v.(type) {
	case float64:
		return x, true
	case *big.Int:
		f, _ := new(big.Float).SetInt(x).Float64()
		RaiseIf(math.IsInf(f, 0), "OverflowError", "the integer is too large for a float")
		return f, true
	}
	i, ok := Small(v)
	return float64(i), ok
}

// BadOperands raises the TypeError of an operator that does not take its operands.
func BadOperands(op string, x, y Value) {
	RaiseUndefined(x, y)
	Raise("TypeError", "%s does not work between %s and %s", op, TypeName(x), TypeName(y))
}

// Int is int(v) or int(v, base); base 0 reads a prefix.
func Int(b *Budget, v Value, base int64) Value {
	if f, ok := v.(float64); ok {
		i := Truncate(f)
		b.Grow(int64(i.BitLen()/8 + 1))
		return FromBig(i)
	}
	RaiseUndefined(v)
	if s, ok := AsString(v); ok {
		return ParseInt(b, s, base)
	}
	RaiseIf(!IsInt(v), "TypeError", "a value of type %s cannot be made an integer", TypeName(v))
	if i, ok := v.(bool); ok {
		return BoolInt(i)
	}
	return v
}

// Truncate is int(f).
func Truncate(f float64) *big.Int {
	switch {
	case math.IsNaN(f):
		Raise("ValueError", "NaN cannot be made an integer")
	case math.IsInf(f, 0):
		Raise("OverflowError", "infinity cannot be made an integer")
	}
	i, _ := big.NewFloat(f).Int(nil)
	return i
}

// ParseInt is int(s, base).
func ParseInt(b *Budget, s string, base int64) Value {
	RaiseIf(base != 0 && (base < 2 || base > 36), "ValueError",
		"the base of an integer must be 0 or from 2 to 36, not %d", base)
	b.Grow(int64(len(s)))
	t := asciiDigits(strings.TrimFunc(s, IsSpace))
	neg := strings.HasPrefix(t, "-")
	if neg || strings.HasPrefix(t, "+") {
		t = t[1:]
	}
	invalid := t == "" || t[0] == '+' || t[0] == '-'
	if len(t) > 1 && t[0] == '0' {
		prefix := map[byte]int64{'x': 16, 'o': 8, 'b': 2}[t[1]|0x20]
		if prefix != 0 && (base == 0 || base == prefix) {
			base, t = prefix, strings.TrimPrefix(t[2:], "_")
		} else if base == 0 && strings.Trim(t, "0_") != "" {
			invalid = true
		}
	}
	if base == 0 {
		base = 10
	}
	digits, ok := withoutUnderscores(t)
	if ok && len(digits) > MaxIntDigits && base&(base-1) != 0 {
		Raise("ValueError", "an integer may have at most %d digits, not %d", MaxIntDigits, len(digits))
	}
	CheckBits(b, len(digits)*4)
	i, isInt := new(big.Int).SetString(digits, int(base))
	RaiseIf(invalid || !ok || !isInt, "ValueError", "%s is not an integer to base %d", Shown(s), base)
	if neg {
		i.Neg(i)
	}
	return FromBig(i)
}

// withoutUnderscores removes the underscores between digits; false if one is elsewhere.
func withoutUnderscores(s string) (string, bool) {
	for i := range len(s) {
		if s[i] == '_' && (i == 0 || i == len(s)-1 || !IsAlnum(rune(s[i-1])) || !IsAlnum(rune(s[i+1]))) {
			return s, false
		}
	}
	return strings.ReplaceAll(s, "_", ""), true
}

// asciiDigits replaces decimal digits of other scripts.
func asciiDigits(s string) string {
	if IsASCII(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r < 0x80 || !unicode.Is(unicode.Nd, r) {
			return r
		}
		// Unicode has digits in runs of ten that begin with zero. The mathematical digits are five runs without a gap.
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
	RaiseUndefined(v)
	if f, ok := ToFloat(v); ok {
		return f
	}
	s, ok := AsString(v)
	RaiseIf(!ok, "TypeError", "a value of type %s cannot be made a float", TypeName(v))
	b.Grow(int64(len(s)))
	t, ok := withoutUnderscores(asciiDigits(strings.TrimFunc(s, IsSpace)))
	f, err := strconv.ParseFloat(t, 64)
	RaiseIf(!ok || strings.ContainsAny(t, "xX_") || err != nil && !math.IsInf(f, 0), "ValueError",
		"%s is not a number", Shown(s))
	return f
}

// RealNumber returns an argument that must be a number.
func RealNumber(v Value) float64 {
	RaiseUndefined(v)
	f, ok := ToFloat(v)
	RaiseIf(!ok, "TypeError", "expected a number, not %s", TypeName(v))
	return f
}

// Round is round(v, digits).
func Round(v Value, digits int64) Value {
	f, isFloat := v.(float64)
	i, isInt := BigInt(v)
	RaiseIf(!isFloat && !isInt, "TypeError", "a value of type %s cannot be rounded", TypeName(v))
	switch {
	case isInt && digits >= 0:
		return FromBig(i)
	case isFloat && (math.IsNaN(f) || math.IsInf(f, 0) || digits > 323):
		return f
	case isFloat && digits >= 0:
		f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'f', int(digits), 64), 64)
		return f
	}
	exact, size := new(big.Rat).SetInt(i), int64(i.BitLen())/3+2
	if isFloat {
		exact, size = exact.SetFloat64(f), 308
	}
	rounded := new(big.Int)
	if -digits <= size {
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(-digits), nil)
		rounded.Mul(roundHalfEven(exact.Quo(exact, new(big.Rat).SetInt(unit))), unit)
	}
	if isInt {
		return FromBig(rounded)
	}
	r, _ := new(big.Rat).SetInt(rounded).Float64()
	return math.Copysign(r, f)
}

func roundHalfEven(r *big.Rat) *big.Int {
	q, m := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	switch c := m.Lsh(m, 1).Cmp(r.Denom()); {
	case c > 0, c == 0 && q.Bit(0) == 1:
		q.Add(q, big.NewInt(1))
	}
	return q
}
