package page

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

func TestPeriods(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 90: "1m30s", 3600: "1h", 7260: "2h1m", 300: "5m", 86400: "24h", 600: "10m"} {
		require.Equal(t, want, Period(n))
		back, err := Seconds("f", want)
		require.NoError(t, err)
		require.Equal(t, n, back)
	}
	for typed, want := range map[string]int64{"": 0, "90": 90, "1h 30 min": 5400, "2d": 172800} {
		n, err := Seconds("f", typed)
		require.NoError(t, err)
		require.Equal(t, want, n, typed)
	}
	for _, typed := range []string{"soon", "-5m", "-5", "-1d", "5 years"} {
		_, err := Seconds("f", typed)
		require.Equal(t, "f", fault.FieldOf(err), typed)
	}
}
