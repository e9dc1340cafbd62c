package load_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/incidents/load"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// recent is a counter whose result the test sets.
type recent func(application, plan int64, lookback time.Duration, most int) (int64, int64, error)

func (r recent) Recent(_ context.Context, application int64, _ string, plan int64, lookback time.Duration, most int) (int64, int64, error) {
	return r(application, plan, lookback, most)
}

func TestRates(t *testing.T) {
	t.Parallel()
	app := auth.Application{ID: 4, Name: "demo"}
	var off *load.Rates
	require.NoError(t, off.Check(t.Context(), app, 1))

	var active, opened int64
	asked := 0
	rates := load.NewRates(recent(func(application, plan int64, lookback time.Duration, most int) (int64, int64, error) {
		asked++
		require.Equal(t, []int64{4, 7, 21}, []int64{application, plan, int64(most)}, "no further than it matters")
		require.Equal(t, 30*time.Second, lookback)
		return active, opened, nil
	}), 10, 20, 30*time.Second, []string{"Exempt"})
	for _, c := range []struct {
		active, opened int64
		refusal        string
		wait           time.Duration
	}{
		{9, 19, "", 0},
		{10, 0, "Incident creation rate limit exceeded. Surpassed maximum of 10 active incidents for a given plan",
			time.Minute},
		{0, 20, "Incident creation rate limit exceeded. Surpassed maximum of 20 incidents created in the last 30 seconds", 30 * time.Second},
	} {
		active, opened = c.active, c.opened
		err := rates.Check(t.Context(), app, 7)
		if c.refusal == "" {
			require.NoError(t, err)
			continue
		}
		var f *fault.Error
		require.ErrorAs(t, err, &f)
		require.Equal(t, []any{fault.Throttled, c.refusal, c.wait}, []any{f.Kind, f.Message, f.RetryAfter})
	}
	asked = 0
	require.NoError(t, rates.Check(t.Context(), auth.Application{ID: 5, Name: "exempt"}, 7))
	require.Zero(t, asked)

	away := errors.New("away")
	failing := load.NewRates(recent(func(int64, int64, time.Duration, int) (int64, int64, error) {
		return 0, 0,
			away
	}), 1, 1, time.Second, nil)
	require.ErrorIs(t, failing.Check(t.Context(), app, 7), away)
}

// Each opener of the application iris has the whole limit.
func TestRatesCountEachOpener(t *testing.T) {
	t.Parallel()
	r := load.NewRates(byOpener{"user 1": 3}, 3, 3, time.Minute, nil)
	app := auth.Application{ID: 1, Name: "iris"}
	require.Error(t, r.CheckOpener(t.Context(), app, "user 1", 2))
	require.NoError(t, r.CheckOpener(t.Context(), app, "user 2", 2))
	require.NoError(t, r.Check(t.Context(), app, 2))
}

// byOpener are the active incidents of openers.
type byOpener map[string]int64

func (b byOpener) Recent(_ context.Context, _ int64, opener string, _ int64, _ time.Duration, _ int) (active, recent int64, err error) {
	return b[opener], 0, nil
}
