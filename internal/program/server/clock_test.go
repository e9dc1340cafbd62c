package server

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/program/health"
)

func TestAClockThatDiffersFromTheDatabaseIsAConcern(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		ahead time.Duration // of the database
		text  string        // of the concern; "" = none
	}{
		"together": {0, ""},
		"behind":   {8 * time.Second, `is [78](\.\d)?s behind`},
		"ahead":    {-8 * time.Second, `is [78](\.\d)?s ahead`},
		"a second": {time.Second, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &Stores{Records: Records{DB: pgtest.Skewed(t, tc.ahead)}, Clock: &clock.Database{}}
			reg := prometheus.NewRegistry()
			_, check := s.MeasureClock(t.Context(), reg, zap.NewNop())
			err := check.Ask(t.Context())
			if tc.text == "" {
				require.NoError(t, err)
				return
			}
			var concern health.Concern
			require.ErrorAs(t, err, &concern, "the process stays ready")
			require.Regexp(t, tc.text, err.Error(), "the measure of a busy machine is less exact")
			n, err := testutil.GatherAndCount(reg, "iris_clock_skew_seconds")
			require.NoError(t, err)
			require.Equal(t, 1, n)
		})
	}
}
