package system

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestHealth(t *testing.T) {
	t.Parallel()
	now := time.Now()
	require.Equal(t, Works, VendorCalls{Calls: 1, LastSentAt: now}.Health())
	require.Equal(t, SomeCallsFailed, VendorCalls{Calls: 2, Failed: 1, LastSentAt: now,
		LastFailedAt: now.Add(-time.Second)}.Health())
	require.Equal(t, LastCallFailed, VendorCalls{Calls: 2, Failed: 1, LastSentAt: now,
		LastFailedAt: now.Add(time.Second)}.Health())
}
