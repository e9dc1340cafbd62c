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

func TestGatherRunsWhatComesTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var batches, items atomic.Int64
		g := &Gather[int, int]{MaxSize: 100, MaxRuns: 2, Run: func(_ context.Context, in []int) ([]int, error) {
			batches.Add(1)
			items.Add(int64(len(in)))
			<-time.After(time.Millisecond) // in the bubble: others come meanwhile
			out := make([]int, len(in))
			for i, n := range in {
				out[i] = n * 2
			}
			return out, nil
		}}
		var wg sync.WaitGroup
		for i := range 1000 {
			wg.Go(func() {
				got, err := g.Do(t.Context(), i)
				require.NoError(t, err)
				require.Equal(t, i*2, got)
			})
		}
		wg.Wait()
		require.EqualValues(t, 1000, items.Load())
		require.LessOrEqual(t, batches.Load(), int64(14))
		require.Zero(t, g.runs)
		require.Empty(t, g.waiting)
	})
}

func TestGatherLetsAFloodGather(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var sizes []int
		g := &Gather[int, int]{MaxSize: 100, MaxRuns: 1, Run: func(_ context.Context, in []int) ([]int, error) {
			sizes = append(sizes, len(in))
			return in, nil
		}}
		began := time.Now()
		for range 3 {
			_, err := g.Do(t.Context(), 1)
			require.NoError(t, err)
		}
		require.Zero(t, time.Since(began), "a lone call does not wait")
		sizes = nil
		var wg sync.WaitGroup
		for i := range 400 {
			wg.Go(func() {
				<-time.After(time.Duration(i) * 100 * time.Microsecond)
				_, err := g.Do(t.Context(), i)
				require.NoError(t, err)
			})
		}
		g.mu.Lock()
		g.last = time.Now() // as after a crowd
		g.mu.Unlock()
		wg.Wait()
		require.LessOrEqual(t, len(sizes), 6, "%v", sizes)
	})
}

func TestGatherLetsABadItemFailAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bad := errors.New("bad")
		g := &Gather[int, int]{MaxSize: 10, MaxRuns: 1, Run: func(_ context.Context, in []int) ([]int, error) {
			<-time.After(time.Millisecond)
			for _, n := range in {
				if n == 3 {
					return nil, bad
				}
			}
			return in, nil
		}}
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Go(func() {
				_, err := g.Do(t.Context(), i)
				if i == 3 {
					require.ErrorIs(t, err, bad)
				} else {
					require.NoError(t, err)
				}
			})
		}
		wg.Wait()
		require.Zero(t, g.runs)
	})
}

func TestGatherGoesOnWhenCallersGiveUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &Gather[int, int]{MaxSize: 3, MaxRuns: 1, Run: func(_ context.Context, in []int) ([]int, error) {
			<-time.After(10 * time.Millisecond)
			return in, nil
		}}
		var wg sync.WaitGroup
		for i := range 50 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Millisecond)
				defer cancel()
				got, err := g.Do(ctx, i)
				if err == nil {
					require.Equal(t, i, got)
				}
			})
		}
		wg.Wait()
		require.Zero(t, g.runs)
		require.Empty(t, g.waiting)
		got, err := g.Do(t.Context(), 7)
		require.NoError(t, err)
		require.Equal(t, 7, got)
	})
}
