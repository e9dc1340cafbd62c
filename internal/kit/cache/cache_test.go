package cache_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/cache"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

func TestConcurrentCallsShareAReadThatIsKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := cache.New(cache.Config[string, int64]{TTL: time.Second})
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
		c.Forget("k")
		require.EqualValues(t, 3, get())
		c.Clear()
		require.EqualValues(t, 4, get())
	})
}

func TestWithoutATTLACallGetsAReadThatBeganAfterIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := cache.New(cache.Config[string, time.Time]{})
		var reads atomic.Int64
		var wg sync.WaitGroup
		for i := range 1000 {
			wg.Go(func() {
				<-time.After(time.Duration(i) * 100 * time.Microsecond)
				asked := time.Now()
				began, err := c.Get(t.Context(), "k", func(context.Context) (time.Time, error) {
					reads.Add(1)
					now := time.Now()
					<-time.After(10 * time.Millisecond)
					return now, nil
				})
				require.NoError(t, err)
				require.False(t, began.Before(asked))
			})
		}
		wg.Wait()
		require.Less(t, reads.Load(), int64(30), "reads of 100 ms at 10 ms each, and some that begin together")
	})
}

func TestASlowReadIsNotJoinedWhenItsValueIsTooOld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := cache.New(cache.Config[int, int]{TTL: time.Second})
		var reads atomic.Int64
		get := func() int {
			v, err := c.Get(t.Context(), 1, func(context.Context) (int, error) {
				<-time.After(3 * time.Second)
				return int(reads.Add(1)), nil
			})
			require.NoError(t, err)
			return v
		}
		var wg sync.WaitGroup
		wg.Go(func() { require.Equal(t, 1, get()) })
		<-time.After(900 * time.Millisecond)
		wg.Go(func() { require.Equal(t, 1, get()) })
		<-time.After(900 * time.Millisecond)
		wg.Go(func() { require.Equal(t, 2, get()) })
		wg.Go(func() { require.Equal(t, 2, get()) })
		wg.Wait()
	})
}

func TestFailuresAreNotKept(t *testing.T) {
	t.Parallel()
	c := cache.New(cache.Config[int, int]{TTL: time.Hour})
	bad := errors.New("away")
	_, err := c.Get(t.Context(), 1, func(context.Context) (int, error) { return 0, bad })
	require.ErrorIs(t, err, bad)
	_, err = c.Get(t.Context(), 1, func(context.Context) (int, error) { panic("a defect") })
	var panicked *fault.Panic
	require.ErrorAs(t, err, &panicked)
	v, err := c.Get(t.Context(), 1, func(context.Context) (int, error) { return 7, nil })
	require.NoError(t, err)
	require.Equal(t, 7, v)
}

func TestACallerThatGivesUpDoesNotEndTheRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := cache.New(cache.Config[int, int]{TTL: time.Hour})
		read := func(ctx context.Context) (int, error) {
			<-time.After(time.Second)
			return 7, ctx.Err()
		}
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := c.Get(ctx, 1, read)
			require.NoError(t, err)
		})
		synctest.Wait()
		wg.Go(func() {
			_, err := c.Get(ctx, 1, read)
			require.ErrorIs(t, err, context.Canceled)
		})
		synctest.Wait()
		cancel()
		wg.Wait()
	})
}

func TestAReadIsNotKeptWhenItsKeyIsForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := cache.New(cache.Config[int, int]{TTL: time.Hour})
		var wg sync.WaitGroup
		wg.Go(func() {
			_, err := c.Get(t.Context(), 1, func(context.Context) (int, error) {
				<-time.After(time.Second)
				return 1, nil
			})
			require.NoError(t, err)
		})
		synctest.Wait()
		c.Forget(1)
		v, err := c.Get(t.Context(), 1, func(context.Context) (int, error) { return 2, nil })
		require.NoError(t, err)
		require.Equal(t, 2, v)
		wg.Wait()
		v, _ = c.Lookup(1)
		require.Equal(t, 2, v)
	})
}

func TestManyKeysAreReadAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := cache.New(cache.Config[string, int]{TTL: time.Second})
		var asked [][]string
		get := func(keys ...string) map[string]int {
			got, err := c.GetAll(t.Context(), keys, func(_ context.Context, missing []string) (map[string]int, error) {
				asked = append(asked, slices.Clone(missing))
				return map[string]int{"a": 1, "b": 2}, nil
			})
			require.NoError(t, err)
			return got
		}
		require.Equal(t, map[string]int{"a": 1}, get("a", "none", "a"))
		require.Equal(t, map[string]int{"a": 1, "b": 2}, get("b", "none", "a"))
		require.Equal(t, map[string]int{"a": 1}, get("a", "none"))
		require.Equal(t, [][]string{{"a", "none"}, {"b"}}, asked, "absence is kept")
		<-time.After(time.Second)
		get("a")
		require.Len(t, asked, 3)

		failing := errors.New("away")
		_, err := c.GetAll(t.Context(), []string{"c"},
			func(context.Context, []string) (map[string]int, error) { return nil, failing })
		require.ErrorIs(t, err, failing)
	})
}

func TestACacheIsBounded(t *testing.T) {
	t.Parallel()
	c := cache.New(cache.Config[int, int]{TTL: cache.Forever, Entries: 3})
	held := func(keys ...int) []int {
		return slices.DeleteFunc(keys, func(k int) bool {
			_, ok := c.Lookup(k)
			return !ok
		})
	}
	for k := range 3 {
		c.Put(k, k)
	}
	c.Lookup(0)
	c.Put(3, 3)
	require.Equal(t, []int{0, 2, 3}, held(0, 1, 2, 3), "the least recently used one went")

	w := cache.New(cache.Config[int, string]{TTL: cache.Forever, Weigh: func(_ int, v string) int { return len(v) },
		MaxWeight: 10})
	w.Put(1, "12345")
	w.Put(1, "1234")
	w.Put(2, "123456")
	_, ok := w.Lookup(1)
	require.True(t, ok, "the weight of a replaced value does not count")
	w.Put(3, "1")
	all := map[int]bool{}
	for k := range 4 {
		_, all[k] = w.Lookup(k)
	}
	require.Equal(t, map[int]bool{0: false, 1: true, 2: false, 3: true}, maps.Clone(all))
}
