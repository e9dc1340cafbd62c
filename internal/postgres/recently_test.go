package postgres

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRecentlyReadsOnceForManyAndForgets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := NewRecently[string, int64](time.Second)
		var reads atomic.Int64
		get := func() int64 {
			v, err := c.Get(t.Context(), "k", func(context.Context) (int64, error) {
				<-time.After(time.Millisecond)
				return reads.Add(1), nil
			})
			require.NoError(t, err)
			return v
		}
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() { require.EqualValues(t, 1, get()) })
		}
		wg.Wait()
		require.EqualValues(t, 1, get())
		<-time.After(time.Second)
		require.EqualValues(t, 2, get())
		c.Forget()
		require.EqualValues(t, 3, get())
	})
}

func TestRecentlyRemembersNoFailures(t *testing.T) {
	t.Parallel()
	c := NewRecently[int, int](time.Hour)
	bad := errors.New("away")
	_, err := c.Get(t.Context(), 1, func(context.Context) (int, error) { return 0, bad })
	require.ErrorIs(t, err, bad)
	v, err := c.Get(t.Context(), 1, func(context.Context) (int, error) { return 7, nil })
	require.NoError(t, err)
	require.Equal(t, 7, v)
	require.Len(t, c.entries, 1)
}

func TestRecentlySweepsWhatIsStale(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := NewRecently[int, int](time.Second)
		fill := func(from int) {
			for i := range sweepAt {
				_, err := c.Get(t.Context(), from+i, func(context.Context) (int, error) { return i, nil })
				require.NoError(t, err)
			}
		}
		fill(0)
		<-time.After(2 * time.Second)
		fill(sweepAt)
		require.LessOrEqual(t, len(c.entries), sweepAt+1)
	})
}
