package operators

import (
	"math"
	"math/big"
	"slices"
	"strings"

	"github.com/iris-oncall/iris/jinja/internal/format"
	"github.com/iris-oncall/iris/jinja/internal/py"
)

// Binary is x op y, where op is + - * / // % or **.
func Binary(b *py.Budget, op string, x, y py.Value) py.Value {
	b.Step(1)
	if v, ok := numeric(b, op, x, y); ok {
		return v
	}
	result := py.Value(nil)
	_, isText := py.AsString(x)
	switch {
	case op == "+":
		result = concat(b, x, y)
	case op == "*":
		result = repeat(b, x, y)
	case op == "%" && isText:
		result = format.Printf(b, x, y)
	}
	if result == nil {
		py.BadOperands(op, x, y)
	}
	return result
}

// concat is x + y for text, lists, tuples and bytes. It returns nil if x and y cannot be joined.
func concat(b *py.Budget, x, y py.Value) py.Value {
	l, okL := py.AsString(x)
	r, okR := py.AsString(y)
	if okL && okR {
		_, safeL := x.(py.Markup)
		_, safeR := y.(py.Markup)
		if safeL != safeR {
			l, r = string(py.Escape(b, x)), string(py.Escape(b, y))
			x = py.Markup("")
		}
		b.Grow(int64(len(l) + len(r)))
		return py.WithText(x, l+r)
	}
	if l, ok := py.Elements(x); ok && py.TypeName(x) == py.TypeName(y) {
		r, _ := py.Elements(y)
		b.GrowValues(len(l) + len(r))
		return py.WithElements(x, slices.Concat(l, r))
	}
	if l, ok := x.(py.Bytes); ok {
		if r, ok := y.(py.Bytes); ok {
			b.Grow(int64(len(l) + len(r)))
			return l + r
		}
	}
	return nil
}

// repeat is x * y for a sequence and an integer, in any order. It returns nil for other operands.
func repeat(b *py.Budget, x, y py.Value) py.Value {
	py.RaiseUndefined(x)
	if _, ok := x.(py.Markup); ok {
		py.IntArg(y) // raises TypeError, also if y is undefined
	}
	if py.IsInt(x) {
		x, y = y, x
	}
	n, ok := py.Index(y)
	s, isText := py.AsString(x)
	if raw, isBytes := x.(py.Bytes); isBytes {
		s, isText = string(raw), true
	}
	items, isList := py.Elements(x)
	if !ok || !isText && !isList {
		return nil
	}
	if _, big := y.(*big.Int); big {
		py.Raise("OverflowError", "a sequence cannot be repeated that often")
	}
	if n = max(n, 0); len(s)+len(items) == 0 {
		n = 0
	}
	b.GrowTimes(24*int64(len(items))+int64(len(s)), n)
	if isList {
		return py.WithElements(x, slices.Repeat(items, int(n)))
	}
	return py.WithText(x, strings.Repeat(s, int(n)))
}

// numeric computes x op y for numbers. It returns false if an operand is not a number.
func numeric(b *py.Budget, op string, x, y py.Value) (py.Value, bool) {
	if !py.IsNumber(x) || !py.IsNumber(y) {
		return nil, false
	}
	l, okL := py.BigInt(x)
	r, okR := py.BigInt(y)
	if okL && okR && (op != "**" || r.Sign() >= 0) {
		return bigNumeric(b, op, l, r), true
	}
	fl, _ := py.ToFloat(x)
	fr, _ := py.ToFloat(y)
	return floatNumeric(b, op, fl, fr), true
}

func checkDivisor(zero bool) {
	py.RaiseIf(zero, "ZeroDivisionError", "division by zero")
}

func checkRange(result float64) float64 {
	py.RaiseIf(math.IsInf(result, 0), "OverflowError", "the result is too large for a float")
	return result
}

func floatNumeric(b *py.Budget, op string, x, y float64) float64 {
	switch op {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "**":
		return pow(b, x, y)
	}
	checkDivisor(y == 0)
	if op == "/" {
		return x / y
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

func pow(b *py.Budget, x, y float64) float64 {
	checkDivisor(x == 0 && y < 0)
	if math.IsInf(x, 0) || math.IsInf(y, 0) {
		return powFloat(b, x, y)
	}
	py.RaiseIf(x < 0 && y != math.Trunc(y), "ValueError", "complex numbers are not supported")
	return checkRange(powFloat(b, x, y))
}

func bigNumeric(b *py.Budget, op string, l, r *big.Int) py.Value {
	z := new(big.Int)
	switch op {
	case "+", "-":
		py.CheckBits(b, max(l.BitLen(), r.BitLen())+1)
		if op == "+" {
			return py.FromBig(z.Add(l, r))
		}
		return py.FromBig(z.Sub(l, r))
	case "*":
		py.CheckBits(b, l.BitLen()+r.BitLen())
		b.Step(int64(l.BitLen()/64) * int64(r.BitLen()/64) / 64)
		return py.FromBig(z.Mul(l, r))
	case "**":
		return powInt(b, l, r)
	}
	checkDivisor(r.Sign() == 0)
	py.CheckBits(b, l.BitLen()+r.BitLen())
	if op == "/" {
		if l.Sign() == 0 && r.Sign() < 0 {
			return math.Copysign(0, -1)
		}
		f, _ := new(big.Rat).SetFrac(l, r).Float64()
		return checkRange(f)
	}
	// Python rounds the quotient down, and the remainder has the sign of the divisor.
	m := new(big.Int)
	z.QuoRem(l, r, m)
	if m.Sign()*r.Sign() < 0 {
		z.Sub(z, big.NewInt(1))
		m.Add(m, r)
	}
	if op == "%" {
		return py.FromBig(m)
	}
	return py.FromBig(z)
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

// Unary is op x, where op is +, - or abs.
func Unary(b *py.Budget, op string, x py.Value) py.Value {
	if op != "abs" { // Undefined has no abs
		py.RaiseUndefined(x)
	}
	py.RaiseIf(!py.IsNumber(x), "TypeError", "%s does not work on %s", op, py.TypeName(x))
	f, isFloat := x.(float64)
	switch {
	case isFloat && op == "abs":
		return math.Abs(f)
	case isFloat && op == "-":
		return -f
	case op == "-" || op == "abs" && py.Less(b, "<", x, int64(0)):
		v, _ := numeric(b, "-", int64(0), x)
		return v
	}
	if i, ok := x.(bool); ok {
		return py.BoolInt(i)
	}
	return x
}
