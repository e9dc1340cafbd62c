package delivery

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := limit{all: 3, each: 2}
		never := make(chan struct{})
		require.True(t, l.try("a"))
		require.True(t, l.try("a"))
		require.False(t, l.try("a"), "the bound of one destination")
		require.True(t, l.try("b"))
		require.False(t, l.try("c"), "the bound of all")

		var order []string
		wait := func(to string) {
			go func() {
				if l.acquire(to, time.Now().Add(time.Minute), never) {
					order = append(order, to)
				}
			}()
			synctest.Wait()
		}
		wait("a")
		wait("c")
		wait("b")
		require.False(t, l.try("d"), "others wait")
		l.release("b")
		synctest.Wait()
		require.Equal(t, []string{"c"}, order, "the message to a, which came first, must wait for a call to a")
		l.release("a")
		synctest.Wait()
		require.Equal(t, []string{"c", "a"}, order)
		l.resize(4, 2)
		synctest.Wait()
		require.Equal(t, []string{"c", "a", "b"}, order)

		began := time.Now()
		require.False(t, l.acquire("a", began.Add(time.Second), never))
		require.Equal(t, time.Second, time.Since(began))
		stop := make(chan struct{})
		close(stop)
		require.False(t, l.acquire("a", began.Add(time.Minute), stop))
		require.Empty(t, l.waiting)
		for _, to := range []string{"a", "a", "b", "c"} {
			l.release(to)
		}
		require.Zero(t, l.held)
		require.Empty(t, l.to)
	})
}
