package rate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A process that stalled once must not reserve slots seconds ahead.
func TestASingleStallDoesNotLengthenTheLead(t *testing.T) {
	t.Parallel()
	var w worst
	at := epoch
	add := func(after, d time.Duration) {
		at = at.Add(after)
		w.add(at, d)
	}
	add(0, 400*time.Millisecond)
	require.Equal(t, 400*time.Millisecond, w.value(), "all that is known")
	for range 10 {
		add(time.Second, 10*time.Millisecond)
	}
	require.Equal(t, 10*time.Millisecond, w.value())
	for range 20 {
		add(0, 6*time.Second)
	}
	require.Equal(t, maxSingle, w.value(), "a stall of all that was on the way")
	for range 10 {
		add(time.Second, 400*time.Millisecond)
	}
	require.Equal(t, 400*time.Millisecond, w.value(), "slow commits")
	add(time.Hour, 10*time.Millisecond)
	add(3*time.Second, 10*time.Millisecond)
	require.Equal(t, 10*time.Millisecond, w.value())
}
