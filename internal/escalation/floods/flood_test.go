package floods

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/iris-oncall/iris/internal/escalation"
)

func TestFloodHoldsPagesAboveTheThreshold(t *testing.T) {
	t.Parallel()
	a := escalation.Aggregation{Threshold: 2, Window: time.Minute, Every: time.Minute, Reset: 30 * time.Second}
	var f State
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for i, step := range []struct {
		after time.Duration
		held  bool
	}{
		{0, false}, {time.Second, false}, {time.Second, true}, {30 * time.Second, true}, {29 * time.Second, true},
		{31 * time.Second, false}, // a longer gap: pages are sent at once again, and the count restarts
		{0, false}, {0, true},
		{10 * time.Minute, false}, {61 * time.Second, false}, {61 * time.Second, false}, {0, false}, {time.Second,
			true},
	} {
		at = at.Add(step.after)
		require.Equal(t, step.held, f.Hold(a, at), "page %d", i)
	}
}

func TestPlansThatDoNotAggregate(t *testing.T) {
	t.Parallel()
	for _, p := range []escalation.Plan{
		{}, {ThresholdCount: 5, ThresholdWindow: time.Minute}, {ThresholdCount: 5, AggregationWindow: time.Minute},
	} {
		_, ok := p.Aggregation()
		require.False(t, ok)
	}
	a, ok := escalation.Plan{ThresholdWindow: time.Minute, AggregationWindow: time.Minute}.Aggregation()
	require.True(t, ok)
	require.Equal(t, 1, a.Threshold, "never the first one")
}

// The first pages of a flood are always sent at once. Once a page is held, later ones are held too while pages keep
// coming.
func TestTheFirstPagesOfAFloodAreNeverHeld(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := escalation.Aggregation{
			Threshold: rapid.IntRange(1, 20).Draw(t, "threshold"),
			Window:    time.Duration(rapid.IntRange(1, 100).Draw(t, "window")) * time.Second,
			Every:     time.Minute,
			Reset:     time.Duration(rapid.IntRange(0, 100).Draw(t, "reset")) * time.Second,
		}
		var f State
		at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		var free []time.Time // pages sent since the flood last held one
		holding, last := false, at
		for range rapid.IntRange(1, 80).Draw(t, "pages") {
			at = at.Add(time.Duration(rapid.IntRange(0, 120_000).Draw(t, "gap")) * time.Millisecond)
			held := f.Hold(a, at)
			if holding && at.Sub(last) <= a.Reset {
				require.True(t, held, "pages keep coming")
				last = at
				continue
			}
			if holding {
				free, holding = nil, false
			}
			recent := 1
			for _, b := range free {
				if at.Sub(b) < a.Window {
					recent++
				}
			}
			require.Equal(t, recent > a.Threshold, held)
			if held {
				holding, last = true, at
			} else {
				free = append(free, at)
			}
		}
	})
}
