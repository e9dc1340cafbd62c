package operators

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/iris-oncall/iris/jinja/internal/py"
)

func budget() *py.Budget {
	return py.NewBudget(py.Limits{Steps: 1_000_000, Memory: 16 << 20, Depth: 100, Time: time.Minute})
}

func TestPowIsCorrectlyRounded(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]float64{
		{42, 3.14159, 125771.93373636875}, {1.1, 2.2, 1.2332863005546628}, {0.5, 0.5, 0.7071067811865476},
		{10, -3, 0.001}, {2, 0.5, 1.4142135623730951}, {-2, 3, -8}, {1e-5, 1.5, 3.16227766016838e-08},
	} {
		require.Equal(t, py.FloatRepr(c[2]), py.FloatRepr(powFloat(budget(), c[0], c[1])))
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(1e-6, 1e6).Draw(t, "x")
		y := rapid.Float64Range(-20, 20).Draw(t, "y")
		got, rough := powFloat(budget(), x, y), math.Pow(x, y)
		require.InEpsilon(t, rough, got, 1e-12)
	})
}
