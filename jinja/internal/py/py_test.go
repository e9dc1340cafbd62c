package py

import (
	"math"
	"sort"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func budget() *Budget {
	return NewBudget(Limits{Steps: 1_000_000, Memory: 16 << 20, Depth: 100, Time: time.Minute})
}

// TestDictBehavesLikeAListOfPairs compares a dictionary with a list of pairs under random operations.
func TestDictBehavesLikeAListOfPairs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b, d := budget(), NewDict()
		keys := []Value{}
		values := map[Value]Value{}
		key := rapid.Custom(func(t *rapid.T) Value {
			if rapid.Bool().Draw(t, "text") {
				return rapid.StringMatching(`[a-d]{1,2}`).Draw(t, "key")
			}
			return rapid.Int64Range(0, 30).Draw(t, "key")
		})
		for range rapid.IntRange(0, 120).Draw(t, "operations") {
			k := key.Draw(t, "k")
			if rapid.IntRange(0, 2).Draw(t, "what") > 0 {
				if _, ok := values[k]; !ok {
					keys = append(keys, k)
				}
				values[k] = int64(len(keys))
				d.Set(b, k, values[k])
				continue
			}
			_, had := values[k]
			_, deleted := d.Delete(b, k)
			require.Equal(t, had, deleted)
			delete(values, k)
			for i := range keys {
				if keys[i] == k {
					keys = append(keys[:i], keys[i+1:]...)
					break
				}
			}
		}
		require.Equal(t, len(keys), d.Len())
		got := []Value{}
		d.Each(func(k, v Value) bool {
			require.Equal(t, values[k], v)
			got = append(got, k)
			return true
		})
		require.Equal(t, keys, got)
	})
}

func TestSortIsStable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfN(rapid.Int64Range(0, 20), 0, 300).Draw(t, "numbers")
		reverse := rapid.Bool().Draw(t, "reverse")
		var items, keys []Value
		want := make([]int, len(numbers))
		for i, n := range numbers {
			items, keys, want[i] = append(items, int64(i)), append(keys, n), i
		}
		sort.SliceStable(want, func(i, j int) bool {
			if reverse {
				return numbers[want[i]] > numbers[want[j]]
			}
			return numbers[want[i]] < numbers[want[j]]
		})
		Sort(budget(), items, keys, reverse)
		for i, it := range items {
			require.EqualValues(t, want[i], it)
		}
	})
}

func TestEqualNumbersAreOneKey(t *testing.T) {
	t.Parallel()
	b, d := budget(), NewDict()
	d.Set(b, int64(1), "a")
	d.Set(b, 1.0, "b")
	d.Set(b, true, "c")
	require.Equal(t, "{1: 'c'}", Repr(b, d))
	require.Panics(t, func() { d.Set(b, &List{}, nil) })
}

func TestExceededBudgetRaisesLimitError(t *testing.T) {
	t.Parallel()
	ends := func(want string, f func(b *Budget)) {
		t.Helper()
		defer func() {
			e, ok := recover().(*Error)
			require.True(t, ok)
			require.Equal(t, LimitError, e.Kind)
			require.Contains(t, e.Message, want)
		}()
		f(NewBudget(Limits{Steps: 1000, Memory: 1000, Depth: 3, Time: time.Hour}))
	}
	ends("too much work", func(b *Budget) { b.Step(1001) })
	ends("too much memory", func(b *Budget) { b.Grow(1001) })
	ends("too much memory", func(b *Budget) { b.GrowTimes(math.MaxInt64, math.MaxInt64) })
	ends("too much memory", func(b *Budget) { b.Grow(-1) })
	ends("nested too deeply", func(b *Budget) {
		for range 4 {
			b.Enter()
		}
	})
	ends("too much work", func(b *Budget) {
		require.Nil(t, Try(func() { b.Step(1 << 40) }), "Try must not catch a bound")
	})
}

// A container whose writing failed is left, so that a template that goes on after the error (Try) is not refused as
// too deep.
func TestAContainerThatFailsIsLeft(t *testing.T) {
	t.Parallel()
	w, list := &Writer{B: budget()}, &List{}
	for range 2 * w.B.limits.Depth {
		err := Try(func() {
			w.Nested(list, "[", ", ", "]", 1, func(int) { Raise("TypeError", "it cannot be written") })
		})
		require.NotNil(t, err)
		require.False(t, err.Limited(), err)
	}
	require.Empty(t, w.open)
}
