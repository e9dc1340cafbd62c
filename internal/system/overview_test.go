package system

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	now := time.Now()
	earlier, later := now.Add(-time.Second), now.Add(time.Second)
	require.Equal(t, Works, Vendor{Calls: 1, LastSentAt: &now}.health())
	require.Equal(t, SomeCallsFailed, Vendor{Calls: 2, Failed: 1, LastSentAt: &now, LastFailedAt: &earlier}.health())
	require.Equal(t, LastCallFailed, Vendor{Calls: 2, Failed: 1, LastSentAt: &now, LastFailedAt: &later}.health())
	require.Equal(t, LastCallFailed, Vendor{Calls: 1, Failed: 1, LastFailedAt: &now}.health())
}
