package pg

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEventsOfAnIntegrationWaitForEachOther(t *testing.T) {
	t.Parallel()
	all := newTurns(2)
	done, waited, err := all.take(t.Context(), 1)
	require.NoError(t, err)
	require.False(t, waited)
	short, stop := context.WithCancel(t.Context())
	stop()
	_, waited, err = all.take(short, 1)
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, waited)
	other, waited, err := all.take(t.Context(), 2)
	require.NoError(t, err)
	require.False(t, waited, "another integration does not wait")
	other()
	done()
	require.Empty(t, all.of)
}
