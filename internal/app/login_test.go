package app

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/fault"
)

// Wrong passwords of a stranger locked somebody out from every address.
func TestWrongPasswordsLockNobodyElseOut(t *testing.T) {
	t.Parallel()
	g := &loginGuard{}
	now := time.Unix(1_800_000_000, 0)
	for range freeAttempts {
		require.NoError(t, g.enter("6.6.6.6", "Demo", now))
	}
	err := g.enter("6.6.6.6", "ＤＥＭＯ", now)
	require.True(t, fault.Is(err, fault.Throttled), "spellings of a name are one account")
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.Equal(t, time.Second, f.RetryAfter)
	require.NoError(t, g.enter("1.2.3.4", "demo", now), "another address")
	require.NoError(t, g.enter("6.6.6.6", "other", now), "another account")

	allowed := 0
	for second := range 600 {
		if g.enter("6.6.6.6", "demo", now.Add(time.Duration(second)*time.Second)) == nil {
			allowed++
		}
	}
	require.Less(t, allowed, 20, "ten minutes of guessing")

	g.succeeded("1.2.3.4", "demo", now)
	for range 200 {
		require.NoError(t, g.enter("1.2.3.4", "demo", now), "a known address is always heard")
	}
}

func TestAnAddressIsSlowedDownForAllAccounts(t *testing.T) {
	t.Parallel()
	g := &loginGuard{}
	now := time.Unix(1_800_000_000, 0)
	for n := range addressAttempts {
		require.NoError(t, g.enter("6.6.6.6", fmt.Sprint("user", n), now))
	}
	require.True(t, fault.Is(g.enter("6.6.6.6", "one more", now), fault.Throttled))
	require.NoError(t, g.enter("6.6.6.6", "one more", now.Add(time.Minute)))
	for n := range 3 * maxGuarded {
		_ = g.enter(fmt.Sprint("address", n), "demo", now)
	}
	require.LessOrEqual(t, len(g.pairs), maxGuarded)
}
