package account

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := Limit{all: 3, each: 2}
		never := make(chan struct{})
		require.True(t, l.Try("a"))
		require.True(t, l.Try("a"))
		require.False(t, l.Try("a"), "the bound of one destination")
		require.True(t, l.Try("b"))
		require.False(t, l.Try("c"), "the bound of all")

		var order []string
		wait := func(to string) {
			go func() {
				if l.Acquire(to, time.Now().Add(time.Minute), never) {
					order = append(order, to)
				}
			}()
			synctest.Wait()
		}
		wait("a")
		wait("c")
		wait("b")
		require.False(t, l.Try("d"), "others wait")
		l.Release("b")
		synctest.Wait()
		require.Equal(t, []string{"c"}, order, "the message to a, which came first, must wait for a call to a")
		l.Release("a")
		synctest.Wait()
		require.Equal(t, []string{"c", "a"}, order)
		l.Resize(4, 2)
		synctest.Wait()
		require.Equal(t, []string{"c", "a", "b"}, order)

		began := time.Now()
		require.False(t, l.Acquire("a", began.Add(time.Second), never))
		require.Equal(t, time.Second, time.Since(began))
		stop := make(chan struct{})
		close(stop)
		require.False(t, l.Acquire("a", began.Add(time.Minute), stop))
		require.Empty(t, l.waiting)
		for _, to := range []string{"a", "a", "b", "c"} {
			l.Release(to)
		}
		require.Zero(t, l.held)
		require.Empty(t, l.to)
	})
}
