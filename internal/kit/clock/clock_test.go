package clock

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestHalfTheRoundTripIsSubtracted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d Database
		_, known := d.Skew()
		require.False(t, known)
		require.Equal(t, time.Now(), d.Now(), "the clock of this process, until it is measured")
		read := func(ahead, trip time.Duration) func(context.Context) (time.Time, error) {
			return func(context.Context) (time.Time, error) {
				<-time.After(trip / 2)
				at := time.Now().Add(ahead)
				<-time.After(trip / 2)
				return at, nil
			}
		}
		skew := func() time.Duration { s, _ := d.Skew(); return s }
		require.NoError(t, d.Measure(t.Context(), read(8*time.Second, 400*time.Millisecond)))
		require.Equal(t, -8*time.Second, skew(), "this process is behind")
		require.Equal(t, time.Now().Add(8*time.Second).UnixNano(), d.Now().UnixNano())
		require.NoError(t, d.Measure(t.Context(), read(0, 3*time.Second)))
		require.Equal(t, -8*time.Second, skew(), "a slow answer says little")
		require.Error(t, d.Measure(t.Context(), func(context.Context) (time.Time, error) {
			return time.Time{},
				errors.New("down")
		}))
		require.Equal(t, -8*time.Second, skew())
		require.NoError(t, d.Measure(t.Context(), read(-8*time.Second, time.Millisecond)))
		require.Equal(t, 8*time.Second, skew())
	})
}
