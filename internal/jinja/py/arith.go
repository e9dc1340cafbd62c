package py

import (
	"math"
	"math/big"
	"strings"
)

// maxIntBits bounds integers; Python prints none beyond 4300 digits (14,285 bits).
const maxIntBits = 1 << 16

// norm returns x as int64 if it fits.
func norm(x *big.Int) Value {
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

// toBig returns an int as *big.Int; false for other types.
func toBig(v Value) (*big.Int, bool) {
	switch x := v.(type) {
	case int64:
		return big.NewInt(x), true
	case bool:
		return big.NewInt(boolInt(x)), true
	case *big.Int:
		return x, true
	}
	return nil, false
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
	case int64:
		return float64(x), true
	case bool:
		return float64(boolInt(x)), true
	case *big.Int:
		f, _ := new(big.Float).SetInt(x).Float64()
		if math.IsInf(f, 0) {
			Raise("OverflowError", "int too large to convert to float")
		}
		return f, true
	}
	return 0, false
}

func raiseUndefined(vs ...Value) {
	for _, v := range vs {
		if u, ok := v.(*Undefined); ok {
			u.Raise()
		}
	}
}

func badOperands(op string, x, y Value) {
	raiseUndefined(x, y)
	Raise("TypeError", "unsupported operand type(s) for %s: '%s' and '%s'", op, TypeName(x), TypeName(y))
}

// Add is x + y.
func Add(b *Budget, x, y Value) Value {
	b.Step(1)
	if i, ok := small(x); ok {
		if j, ok := small(y); ok {
			if s := i + j; (s > i) == (j > 0) {
				return s
			}
		}
	}
	if v, ok := numeric(b, "+", x, y); ok {
		return v
	}
	raiseUndefined(x, y)
	switch l := x.(type) {
	case string:
		switch r := y.(type) {
		case string:
			b.Grow(int64(len(l) + len(r)))
			return l + r
		case Markup:
			return Markup(EscapeText(b, l)) + r
		}
		Raise("TypeError", `can only concatenate str (not "%s") to str`, TypeName(y))
	case Markup:
		if _, ok := AsString(y); ok {
			r := Escape(b, y)
			b.Grow(int64(len(l) + len(r)))
			return l + r
		}
	case *List:
		r, ok := y.(*List)
		if !ok {
			Raise("TypeError", `can only concatenate list (not "%s") to list`, TypeName(y))
		}
		return NewList(b, concat(b, l.Items, r.Items))
	case *Tuple:
		r, ok := y.(*Tuple)
		if !ok {
			Raise("TypeError", `can only concatenate tuple (not "%s") to tuple`, TypeName(y))
		}
		return &Tuple{Items: concat(b, l.Items, r.Items)}
	case Bytes:
		if r, ok := y.(Bytes); ok {
			b.Grow(int64(len(l) + len(r)))
			return l + r
		}
		Raise("TypeError", "can't concat %s to bytes", TypeName(y))
	}
	badOperands("+", x, y)
	return nil
}

func concat(b *Budget, x, y []Value) []Value {
	b.GrowTimes(valueSize, int64(len(x)+len(y)))
	out := make([]Value, 0, len(x)+len(y))
	return append(append(out, x...), y...)
}

// Sub is x - y.
func Sub(b *Budget, x, y Value) Value {
	b.Step(1)
	if i, ok := small(x); ok {
		if j, ok := small(y); ok {
			if s := i - j; (s < i) == (j > 0) {
				return s
			}
		}
	}
	if v, ok := numeric(b, "-", x, y); ok {
		return v
	}
	badOperands("-", x, y)
	return nil
}

// Mul is x * y.
func Mul(b *Budget, x, y Value) Value {
	b.Step(1)
	if i, ok := small(x); ok {
		if j, ok := small(y); ok {
			if i == 0 || j == 0 {
				return int64(0)
			}
			if p := i * j; p/j == i && !(i == -1 && j == math.MinInt64) && !(j == -1 && i == math.MinInt64) {
				return p
			}
		}
	}
	if v, ok := numeric(b, "*", x, y); ok {
		return v
	}
	raiseUndefined(x)
	if _, ok := x.(Markup); ok {
		return repeat(b, x, times(y))
	}
	raiseUndefined(y)
	if _, ok := y.(Markup); ok {
		return repeat(b, y, times(x))
	}
	if isSequence(x) {
		if _, ok := index(y); ok {
			return repeat(b, x, times(y))
		}
		Raise("TypeError", "can't multiply sequence by non-int of type '%s'", TypeName(y))
	}
	if isSequence(y) {
		if _, ok := index(x); ok {
			return repeat(b, y, times(x))
		}
		Raise("TypeError", "can't multiply sequence by non-int of type '%s'", TypeName(x))
	}
	badOperands("*", x, y)
	return nil
}

// times is how often something is repeated.
func times(v Value) int64 {
	if _, ok := v.(*big.Int); ok {
		Raise("OverflowError", "cannot fit 'int' into an index-sized integer")
	}
	return intArg(v)
}

func isSequence(v Value) bool {
	switch v.(type) {
	case string, Markup, Bytes, *List, *Tuple:
		return true
	}
	return false
}

func repeat(b *Budget, v Value, n int64) Value {
	n = max(n, 0)
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
	case *Tuple:
		return &Tuple{Items: items(x.Items)}
	}
	return nil
}

// numeric computes x op y for numbers; false if one is none.
func numeric(b *Budget, op string, x, y Value) (Value, bool) {
	_, fx := x.(float64)
	_, fy := y.(float64)
	if fx || fy {
		l, ok := toFloat(x)
		if !ok {
			return nil, false
		}
		r, ok := toFloat(y)
		if !ok {
			return nil, false
		}
		switch op {
		case "+":
			return l + r, true
		case "-":
			return l - r, true
		case "*":
			return l * r, true
		case "//":
			return floatFloorDiv(l, r), true
		case "%":
			return floatMod(l, r), true
		}
		return nil, false
	}
	l, ok := toBig(x)
	if !ok {
		return nil, false
	}
	r, ok := toBig(y)
	if !ok {
		return nil, false
	}
	z := new(big.Int)
	switch op {
	case "+", "-":
		checkBits(b, max(l.BitLen(), r.BitLen())+1)
		if op == "+" {
			return norm(z.Add(l, r)), true
		}
		return norm(z.Sub(l, r)), true
	case "*":
		checkBits(b, l.BitLen()+r.BitLen())
		b.Step(int64(l.BitLen()/64) * int64(r.BitLen()/64) / 64)
		return norm(z.Mul(l, r)), true
	}
	if r.Sign() == 0 {
		if op == "%" {
			Raise("ZeroDivisionError", "integer modulo by zero")
		}
		Raise("ZeroDivisionError", "integer division or modulo by zero")
	}
	checkBits(b, l.BitLen()+r.BitLen())
	m := new(big.Int)
	z.QuoRem(l, r, m)
	if m.Sign() != 0 && (m.Sign() < 0) != (r.Sign() < 0) {
		z.Sub(z, big.NewInt(1))
		m.Add(m, r)
	}
	if op == "%" {
		return norm(m), true
	}
	return norm(z), true
}

func floatMod(x, y float64) float64 {
	if y == 0 {
		Raise("ZeroDivisionError", "float modulo")
	}
	m := math.Mod(x, y)
	if m != 0 {
		if (y < 0) != (m < 0) {
			m += y
		}
		return m
	}
	return math.Copysign(0, y)
}

func floatFloorDiv(x, y float64) float64 {
	if y == 0 {
		Raise("ZeroDivisionError", "float floor division by zero")
	}
	m := math.Mod(x, y)
	d := (x - m) / y
	if m != 0 && (y < 0) != (m < 0) {
		d--
	}
	if d == 0 {
		return math.Copysign(0, x/y)
	}
	f := math.Floor(d)
	if d-f > 0.5 {
		f++
	}
	return f
}

// Div is x / y.
func Div(b *Budget, x, y Value) Value {
	b.Step(1)
	l, okL := toBig(x)
	r, okR := toBig(y)
	if okL && okR {
		if r.Sign() == 0 {
			Raise("ZeroDivisionError", "division by zero")
		}
		if l.BitLen() <= 53 && r.BitLen() <= 53 {
			return float64(l.Int64()) / float64(r.Int64())
		}
		checkBits(b, l.BitLen()+r.BitLen())
		f, _ := new(big.Rat).SetFrac(l, r).Float64()
		if f == 0 && (l.Sign() < 0) != (r.Sign() < 0) {
			return math.Copysign(0, -1)
		}
		if math.IsInf(f, 0) {
			Raise("OverflowError", "integer division result too large for a float")
		}
		return f
	}
	if isNumber(x) && isNumber(y) {
		fl, _ := toFloat(x)
		fr, _ := toFloat(y)
		if fr == 0 {
			Raise("ZeroDivisionError", "float division by zero")
		}
		return fl / fr
	}
	badOperands("/", x, y)
	return nil
}

func isNumber(v Value) bool {
	switch v.(type) {
	case bool, int64, *big.Int, float64:
		return true
	}
	return false
}

// IsNumber reports whether v is an int, a bool or a float.
func IsNumber(v Value) bool { return isNumber(v) }

// FloorDiv is x // y.
func FloorDiv(b *Budget, x, y Value) Value {
	b.Step(1)
	if v, ok := numeric(b, "//", x, y); ok {
		return v
	}
	badOperands("//", x, y)
	return nil
}

// Mod is x % y, formatting included.
func Mod(b *Budget, x, y Value) Value {
	b.Step(1)
	switch l := x.(type) {
	case string:
		if m, ok := y.(Markup); ok { // Markup has no reflected %, so this is plain formatting
			return Printf(b, l, m)
		}
		return Printf(b, l, y)
	case Markup:
		return printfMarkup(b, l, y)
	case Bytes:
		Raise("TypeError", "formatting of bytes is not supported")
	}
	if v, ok := numeric(b, "%", x, y); ok {
		return v
	}
	badOperands("%", x, y)
	return nil
}

// Pow is x ** y.
func Pow(b *Budget, x, y Value) Value {
	b.Step(1)
	l, okL := toBig(x)
	r, okR := toBig(y)
	if okL && okR && r.Sign() >= 0 {
		return powInt(b, l, r)
	}
	if !isNumber(x) || !isNumber(y) {
		badOperands("** or pow()", x, y)
	}
	fl, _ := toFloat(x)
	fr, _ := toFloat(y)
	switch {
	case fl == 0 && fr < 0:
		Raise("ZeroDivisionError", "0.0 cannot be raised to a negative power")
	case fl < 0 && !math.IsInf(fl, 0) && !math.IsInf(fr, 0) && fr != math.Trunc(fr):
		Raise("ValueError", "complex numbers are not supported")
	}
	p := powFloat(b, fl, fr)
	if math.IsInf(p, 0) && !math.IsInf(fl, 0) && !math.IsInf(fr, 0) {
		Raise("OverflowError", "(34, 'Numerical result out of range')")
	}
	return p
}

func powInt(b *Budget, x, y *big.Int) Value {
	if x.IsInt64() && (x.Int64() == 0 || x.Int64() == 1 || x.Int64() == -1) || y.Sign() == 0 {
		switch {
		case y.Sign() == 0:
			return int64(1)
		case x.Int64() == -1 && y.Bit(0) == 0:
			return int64(1)
		}
		return x.Int64()
	}
	if !y.IsInt64() || y.Int64() > maxIntBits {
		checkBits(b, math.MaxInt32)
	}
	n := y.Int64()
	checkBits(b, int(min(int64(x.BitLen())*n, math.MaxInt32)))
	b.Step(int64(x.BitLen()) * n / 64)
	return norm(new(big.Int).Exp(x, y, nil))
}

// Neg is -x.
func Neg(b *Budget, x Value) Value {
	switch v := x.(type) {
	case float64:
		return -v
	case int64:
		if v != math.MinInt64 {
			return -v
		}
	}
	if i, ok := toBig(x); ok {
		checkBits(b, i.BitLen())
		return norm(new(big.Int).Neg(i))
	}
	raiseUndefined(x)
	Raise("TypeError", "bad operand type for unary -: '%s'", TypeName(x))
	return nil
}

// Pos is +x.
func Pos(x Value) Value {
	switch v := x.(type) {
	case bool:
		return boolInt(v)
	case int64, *big.Int, float64:
		return x
	}
	raiseUndefined(x)
	Raise("TypeError", "bad operand type for unary +: '%s'", TypeName(x))
	return nil
}

// Abs is abs(x).
func Abs(b *Budget, x Value) Value {
	switch v := x.(type) {
	case float64:
		return math.Abs(v)
	case bool:
		return boolInt(v)
	}
	if i, ok := toBig(x); ok {
		if i.Sign() < 0 {
			return Neg(b, x)
		}
		return x
	}
	Raise("TypeError", "bad operand type for abs(): '%s'", TypeName(x))
	return nil
}
