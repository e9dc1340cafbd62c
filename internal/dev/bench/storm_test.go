package bench

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAStormPostsKnownGroupsFromTwoSendersAndNewOnesMeanwhile(t *testing.T) {
	t.Parallel()
	const known = 30
	var mu sync.Mutex
	posted, fresh, once := map[int]int{}, make(chan struct{}), sync.Once{}
	post := func(_ context.Context, n int) (int64, error) {
		mu.Lock()
		posted[n]++
		last := posted[n] == stormSenders*stormRounds
		mu.Unlock()
		if n > known {
			once.Do(func() { close(fresh) })
		} else if last {
			<-fresh // the storm lasts until a new group came
		}
		return int64(n), nil
	}
	tally := newTally(known, true, true)
	s := &storm{tally: tally, post: post}
	s.run(t.Context(), known, 8)
	require.Greater(t, len(posted), known)
	for n, times := range posted {
		if n <= known {
			require.Equal(t, stormSenders*stormRounds, times)
			continue
		}
		require.Equal(t, 1, times)
		tally.deliver(delivery{At: time.Now(), IncidentID: int64(n)})
	}
	r := s.result()
	require.Equal(t, known*stormSenders*stormRounds+len(posted)-known, r.Deliveries)
	require.Equal(t, len(posted)-known, r.New)
	require.Positive(t, r.Delay.Max)
	require.Positive(t, r.PerSecond)
	require.Equal(t, len(posted), tally.result().Accepted, "each incident counts once")
}

func TestTheSecondsOfAStormEndWithItsLastDelivery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const known = 2
		s := &storm{tally: newTally(known, true, true), post: func(_ context.Context, n int) (int64, error) {
			pause := 10 * time.Millisecond
			if n > known {
				pause = time.Minute
			}
			<-time.After(pause)
			return int64(n), nil
		}}
		s.run(t.Context(), known, 2)
		r := s.result()
		require.Positive(t, r.New)
		require.GreaterOrEqual(t, r.Seconds, time.Minute.Seconds())
	})
}
