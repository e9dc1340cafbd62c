// Package operators computes with Python's values: + - * / // % ** and abs. Packages run, methods and filters call it.
package operators

import (
	"math"
	"math/big"
	"strings"

	"github.com/iris-oncall/iris/internal/jinja/py"
)

// Add is x + y.
func Add(b *py.Budget, x, y py.Value) py.Value {
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
		case py.Markup:
			return py.Markup(py.EscapeText(b, l)) + r
		}
	case py.Markup:
		if _, ok := py.AsString(y); ok {
			r := py.Escape(b, y)
			b.Grow(int64(len(l) + len(r)))
			return l + r
		}
	case *py.List:
		if r, ok := y.(*py.List); ok {
			return &py.List{Items: concat(b, l.Items, r.Items)}
		}
	case *py.Tuple:
		if r, ok := y.(*py.Tuple); ok {
			return &py.Tuple{Items: concat(b, l.Items, r.Items)}
		}
	case py.Bytes:
		if r, ok := y.(py.Bytes); ok {
			b.Grow(int64(len(l) + len(r)))
			return l + r
		}
	}
	py.BadOperands("+", x, y)
	return nil
}

func concat(b *py.Budget, x, y []py.Value) []py.Value {
	b.GrowValues(len(x) + len(y))
	return append(append(make([]py.Value, 0, len(x)+len(y)), x...), y...)
}

// Sub is x - y.
func Sub(b *py.Budget, x, y py.Value) py.Value { return number(b, "-", x, y) }

// FloorDiv is x // y.
func FloorDiv(b *py.Budget, x, y py.Value) py.Value { return number(b, "//", x, y) }

// Mod is x % y for numbers. methods.Mod also formats text.
func Mod(b *py.Budget, x, y py.Value) py.Value { return number(b, "%", x, y) }

func number(b *py.Budget, op string, x, y py.Value) py.Value {
	b.Step(1)
	v, ok := numeric(b, op, x, y)
	if !ok {
		py.BadOperands(op, x, y)
	}
	return v
}

// Mul is x * y.
func Mul(b *py.Budget, x, y py.Value) py.Value {
	b.Step(1)
	if v, ok := numeric(b, "*", x, y); ok {
		return v
	}
	py.RaiseUndefined(x)
	if _, ok := x.(py.Markup); ok {
		py.IntArg(y) // does not raise what undefined values raise elsewhere
	}
	if py.IsInt(x) {
		x, y = y, x
	}
	n, ok := py.Index(y)
	if _, big := y.(*big.Int); big && isSequence(x) {
		py.Raise("OverflowError", "a sequence cannot be repeated that often")
	}
	if !ok || !isSequence(x) {
		py.BadOperands("*", x, y)
	}
	return repeat(b, x, max(n, 0))
}

func isSequence(v py.Value) bool {
	switch v.(type) {
	case string, py.Markup, py.Bytes, *py.List, *py.Tuple:
		return true
	}
	return false
}

func repeat(b *py.Budget, v py.Value, n int64) py.Value {
	text := func(s string) string {
		b.GrowTimes(int64(len(s)), n)
		if s == "" {
			return ""
		}
		return strings.Repeat(s, int(n))
	}
	items := func(s []py.Value) []py.Value {
		b.GrowTimes(24*int64(len(s)), n)
		if len(s) == 0 {
			return nil
		}
		out := make([]py.Value, 0, len(s)*int(n))
		for range n {
			out = append(out, s...)
		}
		return out
	}
	switch x := v.(type) {
	case string:
		return text(x)
	case py.Markup:
		return py.Markup(text(string(x)))
	case py.Bytes:
		return py.Bytes(text(string(x)))
	case *py.List:
		return &py.List{Items: items(x.Items)}
	}
	return &py.Tuple{Items: items(v.(*py.Tuple).Items)}
}

// numeric computes x op y for numbers, where op is +, -, *, // or %. It returns false if an operand is not a number.
func numeric(b *py.Budget, op string, x, y py.Value) (py.Value, bool) {
	if i, ok := py.Small(x); ok {
		if j, ok := py.Small(y); ok {
			if v, ok := smallNumeric(op, i, j); ok {
				return v, true
			}
		}
	}
	if !py.IsNumber(x) || !py.IsNumber(y) {
		return nil, false
	}
	l, okL := py.BigInt(x)
	r, okR := py.BigInt(y)
	if okL && okR {
		return py.FromBig(bigNumeric(b, op, l, r)), true
	}
	fl, _ := py.ToFloat(x)
	fr, _ := py.ToFloat(y)
	return floatNumeric(op, fl, fr), true
}

// smallNumeric adds, subtracts and multiplies int64 values. It returns false on overflow.
func smallNumeric(op string, i, j int64) (py.Value, bool) {
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
		py.Raise("ZeroDivisionError", "division by zero")
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

func bigNumeric(b *py.Budget, op string, l, r *big.Int) *big.Int {
	z := new(big.Int)
	switch op {
	case "+", "-":
		py.CheckBits(b, max(l.BitLen(), r.BitLen())+1)
		if op == "+" {
			return z.Add(l, r)
		}
		return z.Sub(l, r)
	case "*":
		py.CheckBits(b, l.BitLen()+r.BitLen())
		b.Step(int64(l.BitLen()/64) * int64(r.BitLen()/64) / 64)
		return z.Mul(l, r)
	}
	if r.Sign() == 0 {
		py.Raise("ZeroDivisionError", "division by zero")
	}
	py.CheckBits(b, l.BitLen()+r.BitLen())
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
func Div(b *py.Budget, x, y py.Value) py.Value {
	b.Step(1)
	if !py.IsNumber(x) || !py.IsNumber(y) {
		py.BadOperands("/", x, y)
	}
	l, okL := py.BigInt(x)
	r, okR := py.BigInt(y)
	if !okL || !okR {
		fl, _ := py.ToFloat(x)
		fr, _ := py.ToFloat(y)
		if fr == 0 {
			py.Raise("ZeroDivisionError", "division by zero")
		}
		return fl / fr
	}
	if r.Sign() == 0 {
		py.Raise("ZeroDivisionError", "division by zero")
	}
	py.CheckBits(b, l.BitLen()+r.BitLen())
	f, _ := new(big.Rat).SetFrac(l, r).Float64()
	if math.IsInf(f, 0) {
		py.Raise("OverflowError", "the result is too large for a float")
	}
	if l.Sign() == 0 && r.Sign() < 0 {
		return math.Copysign(0, -1)
	}
	return f
}

// Pow is x ** y.
func Pow(b *py.Budget, x, y py.Value) py.Value {
	b.Step(1)
	if !py.IsNumber(x) || !py.IsNumber(y) {
		py.BadOperands("**", x, y)
	}
	l, okL := py.BigInt(x)
	r, okR := py.BigInt(y)
	if okL && okR && r.Sign() >= 0 {
		return powInt(b, l, r)
	}
	fl, _ := py.ToFloat(x)
	fr, _ := py.ToFloat(y)
	switch {
	case fl == 0 && fr < 0:
		py.Raise("ZeroDivisionError", "zero cannot be raised to a negative power")
	case fl < 0 && !math.IsInf(fl, 0) && !math.IsInf(fr, 0) && fr != math.Trunc(fr):
		py.Raise("ValueError", "complex numbers are not supported")
	}
	p := powFloat(b, fl, fr)
	if math.IsInf(p, 0) && !math.IsInf(fl, 0) && !math.IsInf(fr, 0) {
		py.Raise("OverflowError", "the result is too large for a float")
	}
	return p
}

func powInt(b *py.Budget, x, y *big.Int) py.Value {
	bits, n := int64(x.BitLen()), int64(py.MaxIntBits+1)
	if y.IsInt64() {
		n = min(n, y.Int64())
	}
	if bits <= 1 { // -1, 0 and 1 stay small, whatever the power
		n = int64(y.Bit(0))
		if y.Sign() > 0 && n == 0 {
			n = 2
		}
	}
	py.CheckBits(b, int(min(bits*n, math.MaxInt32)))
	b.Step(bits * n / 64)
	return py.FromBig(new(big.Int).Exp(x, big.NewInt(n), nil))
}

// Neg is -x.
func Neg(b *py.Budget, x py.Value) py.Value {
	if f, ok := x.(float64); ok {
		return -f
	}
	py.RaiseUndefined(x)
	return Sub(b, int64(0), mustNumber("-", x))
}

// Pos is +x.
func Pos(x py.Value) py.Value {
	py.RaiseUndefined(x)
	if i, ok := x.(bool); ok {
		return py.BoolInt(i)
	}
	return mustNumber("+", x)
}

// Abs is abs(x).
func Abs(b *py.Budget, x py.Value) py.Value {
	if f, ok := x.(float64); ok {
		return math.Abs(f)
	}
	if i, ok := py.BigInt(x); ok && i.Sign() < 0 {
		return Neg(b, x)
	}
	if i, ok := x.(bool); ok {
		return py.BoolInt(i)
	}
	return mustNumber("abs", x)
}

func mustNumber(op string, x py.Value) py.Value {
	if !py.IsNumber(x) {
		py.Raise("TypeError", "%s does not work on %s", op, py.TypeName(x))
	}
	return x
}
