package delivery

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestIdempotencyKeys(t *testing.T) {
	t.Parallel()
	c := Claimed{ID: 7, CreatedAt: time.UnixMicro(1_700_000_000_000_000)}
	first := idempotencyKey(c)
	c.Attempt, c.KeyAttempt = 1, 1
	require.Equal(t, first, idempotencyKey(c), "in doubt: the same")
	c.KeyAttempt = 0
	require.NotEqual(t, first, idempotencyKey(c), "definitely failed: another")
	other := Claimed{ID: 7, CreatedAt: c.CreatedAt.Add(time.Microsecond)}
	require.NotEqual(t, first, idempotencyKey(other), "another installation's message 7")
}
