package py

import (
	"math"
	"math/big"
	"strings"
)

// maxIntBits bounds integers; Python prints none beyond 4300 digits (14,285 bits).
const maxIntBits = 1 << 16

// FromBig returns x as int64 if it fits.
func FromBig(x *big.Int) Value {
	if x.IsInt64() {
		return x.Int64()
	}
	return x
}

func checkBits(b *Budget, bits int) {
	if bits > maxIntBits {
		Raise(LimitError, "the template computes a number of more than %d bits", maxIntBits)
	}
	b.Grow(int64(bits/8 + 1))
}

// BigInt returns an int as *big.Int; false for other types.
func BigInt(v Value) (*big.Int, bool) {
	if x, ok := v.(*big.Int); ok {
		return x, true
	}
	i, ok := small(v)
	return big.NewInt(i), ok
}

// small returns an int or bool as int64.
func small(v Value) (int64, bool) {
	switch x := v.(type) {
	case int64:
		return x, true
	case bool:
		return boolInt(x), true
	}
	return 0, false
}

// toFloat returns a number as float64; false for other types. Integers too large raise.
func toFloat(v Value) (float64, bool) {
	switch x := v.(type) {
	case float64:
		return x, true
	case *big.Int:
		f, _ := new(big.Float).SetInt(x).Float64()
		if math.IsInf(f, 0) {
			Raise("OverflowError", "the integer is too large for a float")
		}
		return f, true
	}
	i, ok := small(v)
	return float64(i), ok
}

func badOperands(op string, x, y Value) {
	RaiseUndefined(x, y)
	Raise("TypeError", "%s does not work between %s and %s", op, TypeName(x), TypeName(y))
}

// Add is x + y.
func Add(b *Budget, x, y Value) Value {
	b.Step(1)
	if v, ok := numeric(b, "+", x, y); ok {
		return v
	}
	switch l := x.(type) {
	case string:
		switch r := y.(type) {
		case string:
			b.Grow(int64(len(l) + len(r)))
			return l + r
		case Markup:
			return Markup(EscapeText(b, l)) + r
		}
	case Markup:
		if _, ok := AsString(y); ok {
			r := Escape(b, y)
			b.Grow(int64(len(l) + len(r)))
			return l + r
		}
	case *List:
		if r, ok := y.(*List); ok {
			return &List{Items: concat(b, l.Items, r.Items)}
		}
	case *Tuple:
		if r, ok := y.(*Tuple); ok {
			return &Tuple{Items: concat(b, l.Items, r.Items)}
		}
	case Bytes:
		if r, ok := y.(Bytes); ok {
			b.Grow(int64(len(l) + len(r)))
			return l + r
		}
	}
	badOperands("+", x, y)
	return nil
}

func concat(b *Budget, x, y []Value) []Value {
	b.GrowValues(len(x) + len(y))
	return append(append(make([]Value, 0, len(x)+len(y)), x...), y...)
}

// Sub is x - y.
func Sub(b *Budget, x, y Value) Value { return number(b, "-", x, y) }

// FloorDiv is x // y.
func FloorDiv(b *Budget, x, y Value) Value { return number(b, "//", x, y) }

// Mod is x % y for numbers; formatting is elsewhere.
func Mod(b *Budget, x, y Value) Value { return number(b, "%", x, y) }

func number(b *Budget, op string, x, y Value) Value {
	b.Step(1)
	v, ok := numeric(b, op, x, y)
	if !ok {
		badOperands(op, x, y)
	}
	return v
}

// Mul is x * y.
func Mul(b *Budget, x, y Value) Value {
	b.Step(1)
	if v, ok := numeric(b, "*", x, y); ok {
		return v
	}
	RaiseUndefined(x)
	if _, ok := x.(Markup); ok {
		IntArg(y) // does not raise what undefined values raise elsewhere
	}
	if IsInt(x) {
		x, y = y, x
	}
	n, ok := Index(y)
	if _, big := y.(*big.Int); big && isSequence(x) {
		Raise("OverflowError", "a sequence cannot be repeated that often")
	}
	if !ok || !isSequence(x) {
		badOperands("*", x, y)
	}
	return repeat(b, x, max(n, 0))
}

func isSequence(v Value) bool {
	switch v.(type) {
	case string, Markup, Bytes, *List, *Tuple:
		return true
	}
	return false
}

func repeat(b *Budget, v Value, n int64) Value {
	text := func(s string) string {
		b.GrowTimes(int64(len(s)), n)
		if s == "" {
			return ""
		}
		return strings.Repeat(s, int(n))
	}
	items := func(s []Value) []Value {
		b.GrowTimes(valueSize*int64(len(s)), n)
		if len(s) == 0 {
			return nil
		}
		out := make([]Value, 0, len(s)*int(n))
		for range n {
			out = append(out, s...)
		}
		return out
	}
	switch x := v.(type) {
	case string:
		return text(x)
	case Markup:
		return Markup(text(string(x)))
	case Bytes:
		return Bytes(text(string(x)))
	case *List:
		return &List{Items: items(x.Items)}
	}
	return &Tuple{Items: items(v.(*Tuple).Items)}
}

// numeric computes x op y for numbers, where op is +, -, *, // or %; false if one is none.
func numeric(b *Budget, op string, x, y Value) (Value, bool) {
	if i, ok := small(x); ok {
		if j, ok := small(y); ok {
			if v, ok := smallNumeric(op, i, j); ok {
				return v, true
			}
		}
	}
	if !IsNumber(x) || !IsNumber(y) {
		return nil, false
	}
	l, okL := BigInt(x)
	r, okR := BigInt(y)
	if okL && okR {
		return FromBig(bigNumeric(b, op, l, r)), true
	}
	fl, _ := toFloat(x)
	fr, _ := toFloat(y)
	return floatNumeric(op, fl, fr), true
}

// smallNumeric adds, subtracts and multiplies what does not overflow.
func smallNumeric(op string, i, j int64) (Value, bool) {
	switch op {
	case "+":
		return i + j, (i+j > i) == (j > 0)
	case "-":
		return i - j, (i-j < i) == (j > 0)
	case "*":
		return i * j, max(i, -i)|max(j, -j) < 1<<31 && i != math.MinInt64 && j != math.MinInt64
	}
	return nil, false
}

func floatNumeric(op string, x, y float64) float64 {
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	}
	if y == 0 {
		Raise("ZeroDivisionError", "division by zero")
	}
	m := math.Mod(x, y)
	turned := m != 0 && (y < 0) != (m < 0)
	if op == "%" {
		switch {
		case turned:
			return m + y
		case m == 0:
			return math.Copysign(0, y)
		}
		return m
	}
	d := (x - m) / y
	if turned {
		d--
	}
	if d == 0 {
		return math.Copysign(0, x/y)
	}
	return math.Round(d)
}

func bigNumeric(b *Budget, op string, l, r *big.Int) *big.Int {
	z := new(big.Int)
	switch op {
	case "+", "-":
		checkBits(b, max(l.BitLen(), r.BitLen())+1)
		if op == "+" {
			return z.Add(l, r)
		}
		return z.Sub(l, r)
	case "*":
		checkBits(b, l.BitLen()+r.BitLen())
		b.Step(int64(l.BitLen()/64) * int64(r.BitLen()/64) / 64)
		return z.Mul(l, r)
	}
	if r.Sign() == 0 {
		Raise("ZeroDivisionError", "division by zero")
	}
	checkBits(b, l.BitLen()+r.BitLen())
	m := new(big.Int)
	z.QuoRem(l, r, m)
	if m.Sign() != 0 && (m.Sign() < 0) != (r.Sign() < 0) {
		z.Sub(z, big.NewInt(1))
		m.Add(m, r)
	}
	if op == "%" {
		return m
	}
	return z
}

// Div is x / y.
func Div(b *Budget, x, y Value) Value {
	b.Step(1)
	if !IsNumber(x) || !IsNumber(y) {
		badOperands("/", x, y)
	}
	l, okL := BigInt(x)
	r, okR := BigInt(y)
	if !okL || !okR {
		fl, _ := toFloat(x)
		fr, _ := toFloat(y)
		if fr == 0 {
			Raise("ZeroDivisionError", "division by zero")
		}
		return fl / fr
	}
	if r.Sign() == 0 {
		Raise("ZeroDivisionError", "division by zero")
	}
	checkBits(b, l.BitLen()+r.BitLen())
	f, _ := new(big.Rat).SetFrac(l, r).Float64()
	if math.IsInf(f, 0) {
		Raise("OverflowError", "the result is too large for a float")
	}
	if l.Sign() == 0 && r.Sign() < 0 {
		return math.Copysign(0, -1)
	}
	return f
}

// Pow is x ** y.
func Pow(b *Budget, x, y Value) Value {
	b.Step(1)
	if !IsNumber(x) || !IsNumber(y) {
		badOperands("**", x, y)
	}
	l, okL := BigInt(x)
	r, okR := BigInt(y)
	if okL && okR && r.Sign() >= 0 {
		return powInt(b, l, r)
	}
	fl, _ := toFloat(x)
	fr, _ := toFloat(y)
	switch {
	case fl == 0 && fr < 0:
		Raise("ZeroDivisionError", "zero cannot be raised to a negative power")
	case fl < 0 && !math.IsInf(fl, 0) && !math.IsInf(fr, 0) && fr != math.Trunc(fr):
		Raise("ValueError", "complex numbers are not supported")
	}
	p := powFloat(b, fl, fr)
	if math.IsInf(p, 0) && !math.IsInf(fl, 0) && !math.IsInf(fr, 0) {
		Raise("OverflowError", "the result is too large for a float")
	}
	return p
}

func powInt(b *Budget, x, y *big.Int) Value {
	bits, n := int64(x.BitLen()), int64(maxIntBits+1)
	if y.IsInt64() {
		n = min(n, y.Int64())
	}
	if bits <= 1 { // -1, 0 and 1 stay small, whatever the power
		n = int64(y.Bit(0))
		if y.Sign() > 0 && n == 0 {
			n = 2
		}
	}
	checkBits(b, int(min(bits*n, math.MaxInt32)))
	b.Step(bits * n / 64)
	return FromBig(new(big.Int).Exp(x, big.NewInt(n), nil))
}

// Neg is -x.
func Neg(b *Budget, x Value) Value {
	if f, ok := x.(float64); ok {
		return -f
	}
	RaiseUndefined(x)
	return Sub(b, int64(0), mustNumber("-", x))
}

// Pos is +x.
func Pos(x Value) Value {
	RaiseUndefined(x)
	if i, ok := x.(bool); ok {
		return boolInt(i)
	}
	return mustNumber("+", x)
}

// Abs is abs(x).
func Abs(b *Budget, x Value) Value {
	if f, ok := x.(float64); ok {
		return math.Abs(f)
	}
	if i, ok := BigInt(x); ok && i.Sign() < 0 {
		return Neg(b, x)
	}
	if i, ok := x.(bool); ok {
		return boolInt(i)
	}
	return mustNumber("abs", x)
}

func mustNumber(op string, x Value) Value {
	if !IsNumber(x) {
		Raise("TypeError", "%s does not work on %s", op, TypeName(x))
	}
	return x
}
