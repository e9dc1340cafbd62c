package operators

import (
	"math"
	"math/big"

	"github.com/iris-oncall/iris/jinja/internal/py"
)

// powPrecision is the precision in bits. It rounds correctly in all but constructed cases.
const powPrecision = 192

// powFloat is x ** y for floats. The last digits of math.Pow may differ from Python's result. So powFloat compares the
// logarithms of x ** y and of that result, both computed with many digits, and corrects the result by the difference.
func powFloat(b *py.Budget, x, y float64) float64 {
	p := math.Pow(x, y)
	if p == 0 || math.IsInf(p, 0) || math.IsNaN(p) || x == 1 || y == 0 || y == 1 || math.IsInf(y, 0) {
		return p
	}
	b.Step(1000)
	off := logBig(math.Abs(x))
	off.Sub(off.Mul(off, bigFloat(y)), logBig(math.Abs(p)))
	off.Add(off, bigFloat(1)) // approximates e to the power of off, which is very small
	r, _ := off.Mul(off, bigFloat(p)).Float64()
	return r
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
