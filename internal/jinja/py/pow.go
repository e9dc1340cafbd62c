package py

import (
	"math"
	"math/big"
)

// powPrecision is enough for correct rounding of all but contrived cases.
const powPrecision = 192

// powFloat is x ** y for floats. math.Pow may be off in the last digit, which Python's is not, so what has no simple
// answer is computed with many digits.
func powFloat(b *Budget, x, y float64) float64 {
	p := math.Pow(x, y)
	if p == 0 || math.IsInf(p, 0) || math.IsNaN(p) || x == 1 || y == 0 || y == 1 || math.IsInf(y, 0) {
		return p
	}
	b.Step(1000)
	t := logBig(math.Abs(x))
	t.Mul(t, bigFloat(y))
	r, _ := expBig(t).Float64()
	return math.Copysign(r, p)
}

func bigFloat(f float64) *big.Float { return new(big.Float).SetPrec(powPrecision).SetFloat64(f) }

// logBig is the natural logarithm of x > 0.
func logBig(x float64) *big.Float {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m *= 2
		e--
	}
	l := logNearOne(bigFloat(m))
	ln2 := logNearOne(bigFloat(2))
	return l.Add(l, ln2.Mul(ln2, bigFloat(float64(e))))
}

// logNearOne is log m by the series 2 artanh((m-1)/(m+1)).
func logNearOne(m *big.Float) *big.Float {
	one := bigFloat(1)
	z := new(big.Float).Sub(m, one)
	z.Quo(z, new(big.Float).Add(m, one))
	square := new(big.Float).Mul(z, z)
	sum, term := bigFloat(0), new(big.Float).Set(z)
	for k := 1; term.Sign() != 0 && (k == 1 || sum.MantExp(nil)-term.MantExp(nil) < powPrecision); k += 2 {
		sum.Add(sum, new(big.Float).Quo(term, bigFloat(float64(k))))
		term.Mul(term, square)
	}
	return sum.Mul(sum, bigFloat(2))
}

// expBig is e to the power of t.
func expBig(t *big.Float) *big.Float {
	ln2 := logNearOne(bigFloat(2))
	q, _ := new(big.Float).Quo(t, ln2).Float64()
	k := math.Round(q)
	r := new(big.Float).Sub(t, new(big.Float).Mul(ln2, bigFloat(k)))
	const halvings = 10
	r.SetMantExp(r, -halvings)
	sum, term := bigFloat(1), bigFloat(1)
	for n := 1; n < 40; n++ {
		term.Mul(term, r)
		term.Quo(term, bigFloat(float64(n)))
		sum.Add(sum, term)
	}
	for range halvings {
		sum.Mul(sum, sum)
	}
	return sum.SetMantExp(sum, int(k))
}
