package buckets_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/iris-oncall/iris/internal/buckets"
)

func TestSetBehavesAsAMap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOf(rapid.IntRange(0, buckets.Count-1))
		a, b := ids.Draw(t, "a"), ids.Draw(t, "b")
		in := func(list []int) map[int]bool {
			m := map[int]bool{}
			for _, x := range list {
				m[x] = true
			}
			return m
		}
		ma, mb := in(a), in(b)
		sa, sb := buckets.Of(a...), buckets.Of(b...)
		require.Equal(t, len(ma), sa.Len())
		require.Equal(t, len(ma) == 0, sa.Empty())
		union, both := sa, sa
		union.Union(sb)
		both.Intersect(sb)
		last := -1
		for _, x := range union.List() {
			require.Greater(t, x, last)
			last = x
		}
		for x := range buckets.Count {
			require.Equal(t, ma[x], sa.Has(x))
			require.Equal(t, ma[x] || mb[x], union.Has(x))
			require.Equal(t, ma[x] && mb[x], both.Has(x))
		}
		for _, x := range b {
			sa.Remove(x)
			require.False(t, sa.Has(x))
		}
		back, err := buckets.ParseSet(union.String())
		require.NoError(t, err)
		require.Equal(t, union, back)
	})
}

func TestAllHoldsEveryBucket(t *testing.T) {
	t.Parallel()
	require.Equal(t, buckets.Count, buckets.All().Len())
}

func FuzzParseSet(f *testing.F) {
	f.Add(buckets.All().String())
	f.Add("")
	f.Add("zz")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := buckets.ParseSet(text)
		if err != nil {
			return
		}
		again, err := buckets.ParseSet(s.String())
		require.NoError(t, err)
		require.Equal(t, s, again)
	})
}
