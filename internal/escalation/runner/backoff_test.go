package runner

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBackOffGrowsAndIsBounded(t *testing.T) {
	t.Parallel()
	tr := newBackoff(time.Second, time.Minute)
	now := time.Now()
	var last time.Duration
	for i := range 70 {
		n, pause := tr.failed(1, now)
		require.Equal(t, i+1, n)
		require.LessOrEqual(t, pause, 75*time.Second)
		require.GreaterOrEqual(t, pause, 750*time.Millisecond)
		last = pause
	}
	require.GreaterOrEqual(t, last, 45*time.Second)
	require.Equal(t, []int64{1}, tr.waiting(now))
	require.Empty(t, tr.waiting(now.Add(2*time.Minute)))
	require.Equal(t, 70, tr.failures(1))
	require.Empty(t, tr.waiting(now.Add(10*time.Minute)))
	require.Zero(t, tr.len(), "long ago")
	for id := range int64(maxRemembered + 1) {
		tr.failed(id, now)
	}
	require.Equal(t, 1, tr.len())
}
