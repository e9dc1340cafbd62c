package batch_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	kitbatch "github.com/iris-oncall/iris/internal/kit/batch"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

const crowd = 8

func TestCallsThatComeTogetherShareBatches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var batches, items atomic.Int64
		c := kitbatch.NewCalls(kitbatch.Config[int, int]{Size: 100, Runs: 2, Run: func(_ context.Context, in []int) ([]int, error) {
			batches.Add(1)
			items.Add(int64(len(in)))
			<-time.After(time.Millisecond) // other calls come meanwhile
			out := make([]int, len(in))
			for i, n := range in {
				out[i] = n * 2
			}
			return out, nil
		}})
		var wg sync.WaitGroup
		for i := range 1000 {
			wg.Go(func() {
				got, err := c.Do(t.Context(), i)
				require.NoError(t, err)
				require.Equal(t, i*2, got)
			})
		}
		wg.Wait()
		require.EqualValues(t, 1000, items.Load())
		require.LessOrEqual(t, batches.Load(), int64(14))
	})
}

func TestALoneCallDoesNotWaitAndAFloodGathers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var sizes []int
		c := kitbatch.NewCalls(kitbatch.Config[int, int]{Size: 100, Runs: 1, Gap: 10 * time.Millisecond, Run: func(_ context.Context, in []int) ([]int, error) {
			sizes = append(sizes, len(in))
			<-time.After(time.Millisecond)
			return in, nil
		}})
		began := time.Now()
		for range 3 {
			_, err := c.Do(t.Context(), 1)
			require.NoError(t, err)
		}
		require.Equal(t, 3*time.Millisecond, time.Since(began))
		sizes = nil
		var wg sync.WaitGroup
		for i := range 400 {
			wg.Go(func() {
				<-time.After(time.Duration(i) * 100 * time.Microsecond)
				_, err := c.Do(t.Context(), i)
				require.NoError(t, err)
			})
		}
		wg.Wait()
		require.LessOrEqual(t, len(sizes), 8, "%v", sizes)
	})
}

func TestABadCallFailsAlone(t *testing.T) {
	t.Parallel()
	for name, fail := range map[string]func() error{
		"error": func() error { return errors.New("bad") },
		"panic": func() error { panic("bad") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c := kitbatch.NewCalls(kitbatch.Config[int, int]{Size: 10, Runs: 1, Run: func(_ context.Context, in []int) ([]int, error) {
					<-time.After(time.Millisecond)
					for _, n := range in {
						if n == 3 {
							return nil, fail()
						}
					}
					return in, nil
				}})
				var wg sync.WaitGroup
				for i := range 10 {
					wg.Go(func() {
						got, err := c.Do(t.Context(), i)
						if i == 3 {
							require.ErrorContains(t, err, "bad")
							return
						}
						require.NoError(t, err)
						require.Equal(t, i, got)
					})
				}
				wg.Wait()
			})
		})
	}
}

func TestCallsFailTogetherWhenNoItemIsAtFault(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int64
		c := kitbatch.NewCalls(kitbatch.Config[int, int]{Size: 100, Runs: 1, Run: func(context.Context, []int) ([]int, error) {
			runs.Add(1)
			<-time.After(time.Millisecond)
			return nil, fault.New(fault.Unavailable, "away")
		}, Bad: func(err error) bool { return !fault.Is(err, fault.Unavailable) }})
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				_, err := c.Do(t.Context(), i)
				require.True(t, fault.Is(err, fault.Unavailable))
			})
		}
		wg.Wait()
		require.LessOrEqual(t, runs.Load(), int64(3))
	})
}

func TestCallsGoOnWhenCallersGiveUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := kitbatch.NewCalls(kitbatch.Config[int, int]{Size: 3, Runs: 1, Run: func(ctx context.Context, in []int) ([]int, error) {
			<-time.After(10 * time.Millisecond)
			return in, ctx.Err()
		}})
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Millisecond)
				defer cancel()
				got, err := c.Do(ctx, i)
				if err == nil {
					require.Equal(t, i, got)
				}
			})
		}
		wg.Wait()
		got, err := c.Do(t.Context(), 7)
		require.NoError(t, err)
		require.Equal(t, 7, got)
	})
}

func TestAQueueLetsAFloodGather(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := kitbatch.NewQueue[int](10 * time.Millisecond)
		began := time.Now()
		at := func(n int, after time.Duration, most int) {
			t.Helper()
			require.Len(t, q.Next(t.Context(), most), n)
			require.Equal(t, after, time.Since(began))
		}
		q.Add(1)
		at(1, 0, 100)
		q.Add(2)
		at(1, 0, 100) // one after the other is no flood
		q.Add(make([]int, crowd)...)
		at(crowd, 0, 100)
		q.Add(1)
		go func() {
			<-time.After(4 * time.Millisecond)
			q.Add(2, 3)
		}()
		at(3, 10*time.Millisecond, 100)
		q.Add(make([]int, 2*crowd)...)
		at(crowd, 10*time.Millisecond, crowd)
		at(crowd, 10*time.Millisecond, crowd) // a full batch does not wait
	})
}

func TestAQueueLosesNothing(t *testing.T) {
	t.Parallel()
	q := kitbatch.NewQueue[int](time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan []int, 1000)
	var workers sync.WaitGroup
	for range 3 {
		workers.Go(func() {
			for batch := q.Next(ctx, 7); batch != nil; batch = q.Next(ctx, 7) {
				got <- batch
			}
		})
	}
	for i := range 500 {
		q.Add(i)
	}
	seen := map[int]bool{}
	for len(seen) < 500 {
		batch := <-got
		require.LessOrEqual(t, len(batch), 7)
		for _, i := range batch {
			require.False(t, seen[i])
			seen[i] = true
		}
	}
	cancel()
	workers.Wait()
	require.Zero(t, q.Len())
}

func TestSplitFindsTheBadItems(t *testing.T) {
	t.Parallel()
	errBad := errors.New("bad")
	bad := func(err error) bool { return errors.Is(err, errBad) }
	rapid.Check(t, func(rt *rapid.T) {
		isBad := rapid.SliceOfN(rapid.Bool(), 1, 40).Draw(rt, "bad")
		done, alone := make([]int, len(isBad)), make([]int, len(isBad))
		items := make([]int, len(isBad))
		for i := range items {
			items[i] = i
		}
		err := kitbatch.Split(items, func(xs []int) error {
			for _, x := range xs {
				if isBad[x] {
					return errBad
				}
			}
			for _, x := range xs {
				done[x]++
			}
			return nil
		}, bad, func(x int, _ error) { alone[x]++ })
		require.NoError(rt, err)
		for i := range items {
			require.Equal(rt, 1, done[i]+alone[i])
			require.Equal(rt, isBad[i], alone[i] == 1)
		}
	})
	away := errors.New("away")
	runs := 0
	err := kitbatch.Split([]int{1, 2, 3, 4}, func([]int) error { runs++; return away }, bad,
		func(int, error) { t.Error("no item is bad") })
	require.ErrorIs(t, err, away)
	require.Equal(t, 1, runs)
}
