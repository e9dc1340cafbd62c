package metrics_test

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/metrics"
)

func TestStartMakesEveryCombinationZero(t *testing.T) {
	t.Parallel()
	c := metrics.Start(prometheus.NewCounterVec(prometheus.CounterOpts{Name: "x_total", Help: "X."},
		[]string{"mode", "outcome"}),
		[]string{"sms", "email"}, []string{"sent", "failed"})
	require.NoError(t, testutil.CollectAndCompare(c, strings.NewReader(`# HELP x_total X.
# TYPE x_total counter
x_total{mode="email",outcome="failed"} 0
x_total{mode="email",outcome="sent"} 0
x_total{mode="sms",outcome="failed"} 0
x_total{mode="sms",outcome="sent"} 0
`)))
}
