package rate

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/iris-oncall/iris/internal/messages"
)

func everybody(Key) bool { return true }

func even(keys ...Key) map[Key]float64 {
	out := map[Key]float64{}
	for _, k := range keys {
		out[k] = 1
	}
	return out
}

func TestFairTakesTurnsWithinAClass(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		apps := rapid.SliceOfNDistinct(rapid.Int64Range(1, 1000), 1, 20, rapid.ID).Draw(t, "applications")
		var q fairQueue
		lanes := map[Key]float64{}
		for _, a := range apps {
			lanes[Key{messages.ClassRoutine, a}] = 1
		}
		q.set(lanes)
		served := map[int64]int{}
		for range rapid.IntRange(1, 300).Draw(t, "starts") {
			k, ok := q.next(everybody, nil)
			require.True(t, ok)
			served[k.Application]++
			counts := slices.Collect(maps.Values(served))
			most := slices.Max(counts)
			least := 0
			if len(counts) == len(apps) {
				least = slices.Min(counts)
			}
			require.LessOrEqual(t, most-least, 1, "nobody is a whole turn ahead")
		}
	})
}

func TestFairKeepsTheMinimumShareOfEachClass(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var q fairQueue
		q.set(even(Key{messages.ClassUrgent, 1}, Key{messages.ClassUrgent, 2}, Key{messages.ClassRoutine, 1},
			Key{messages.ClassOutOfBand, 3}))
		n := rapid.IntRange(1, 500).Draw(t, "starts")
		var served [ClassCount]int
		for range n {
			k, _ := q.next(everybody, nil)
			served[k.Class]++
		}
		require.GreaterOrEqual(t, served[messages.ClassOutOfBand], n/10-2)
		require.GreaterOrEqual(t, served[messages.ClassRoutine], n/10-2)
		require.GreaterOrEqual(t, served[messages.ClassUrgent], n*8/10-2, "the rest is for the urgent")
	})
}

func TestFairServesANewcomerWithinOneTurn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		flood := rapid.IntRange(1, 30).Draw(t, "flooding applications")
		var q fairQueue
		lanes := map[Key]float64{}
		for a := range flood {
			lanes[Key{messages.ClassOutOfBand, int64(a + 1)}] = 1
		}
		q.set(lanes)
		for range rapid.IntRange(0, 1000).Draw(t, "starts before") {
			q.next(everybody, nil)
		}
		newcomer := Key{messages.ClassOutOfBand, rapid.Int64Range(-5, 1000).Filter(func(a int64) bool {
			return a < 1 || a > int64(flood)
		}).Draw(t, "newcomer")}
		lanes[newcomer] = 1
		q.set(lanes)
		for i := range flood + 2 {
			if k, _ := q.next(everybody, nil); k == newcomer {
				require.LessOrEqual(t, i, flood+1)
				return
			}
		}
		require.Fail(t, "not served within one turn")
	})
}

func TestFairSavesNoTurnsWhileIdle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := Key{messages.ClassRoutine, 1}, Key{messages.ClassRoutine, 2}
		var q fairQueue
		for range rapid.IntRange(0, 300).Draw(t, "starts") {
			q.set(rapid.SampledFrom([]map[Key]float64{even(a), even(b), even(a, b)}).Draw(t, "waiting"))
			q.next(everybody, nil)
		}
		q.set(even(a, b))
		served := map[Key]int{}
		for range rapid.IntRange(1, 50).Draw(t, "starts with both") {
			k, _ := q.next(everybody, nil)
			served[k]++
			require.LessOrEqual(t, max(served[a]-served[b], served[b]-served[a]), 2)
		}
	})
}

func TestFairSkipsIneligibleLanes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var q fairQueue
		q.set(even(Key{0, 1}, Key{0, 2}, Key{1, 1}, Key{2, 2}))
		for range 100 {
			allowed := rapid.SampledFrom([]int64{0, 1, 2}).Draw(t, "eligible application")
			k, ok := q.next(func(k Key) bool { return k.Application == allowed }, nil)
			require.Equal(t, allowed != 0, ok)
			if ok {
				require.Equal(t, allowed, k.Application)
			}
		}
	})
}

func TestFairServesLanesByWeight(t *testing.T) {
	t.Parallel()
	var q fairQueue
	half, whole := Key{0, 1}, Key{0, 2}
	q.set(map[Key]float64{half: 0.5, whole: 1})
	served := map[Key]int{}
	for range 300 {
		k, _ := q.next(everybody, nil)
		served[k]++
	}
	require.InDelta(t, 100, served[half], 2)
}

func TestFairRefundsUnusedTurns(t *testing.T) {
	t.Parallel()
	var q fairQueue
	a, b := Key{0, 1}, Key{0, 2}
	q.set(even(a, b))
	first, _ := q.next(everybody, nil)
	require.Equal(t, a, first)
	q.refund(first)
	again, _ := q.next(everybody, nil)
	require.Equal(t, a, again)
}

// An empty take does not cost turns of lanes that begin to wait later.
func TestRefundedTurnsDelayNoLane(t *testing.T) {
	t.Parallel()
	var q fairQueue
	q.set(even(Key{0, 1}))
	all := func(Key) bool { return true }
	for range 200 {
		_, ok := q.next(all, nil)
		require.True(t, ok)
	}
	for range 199 {
		q.refund(Key{0, 1})
	}
	q.set(even(Key{0, 1}, Key{0, 2}))
	got := map[Key]int{}
	for range 10 {
		k, _ := q.next(all, nil)
		got[k]++
	}
	require.InDelta(t, 5, got[Key{0, 2}], 1)
}

// Lanes that go ahead are served before the others, the one whose limit is free for longest first. Then they take turns
// as if they had always done so.
func TestLanesThatGoAhead(t *testing.T) {
	t.Parallel()
	q := &fairQueue{}
	q.set(map[Key]float64{{0, 1}: 1, {0, 2}: 1, {0, 3}: 1})
	begin := time.Now()
	free := map[Key]time.Time{{0, 2}: begin.Add(time.Second), {0, 3}: begin}
	ahead := func(k Key) (time.Time, bool) { at, ok := free[k]; return at, ok }
	may := map[int64]bool{1: true, 2: true, 3: true}
	next := func(ahead func(Key) (time.Time, bool)) int64 {
		k, ok := q.next(func(k Key) bool { return may[k.Application] }, ahead)
		require.True(t, ok)
		return k.Application
	}
	require.EqualValues(t, 3, next(ahead))
	may[3] = false
	require.EqualValues(t, 2, next(ahead))
	may[2] = false
	for range 100 {
		require.EqualValues(t, 1, next(ahead))
	}
	may[2], may[3] = true, true
	for range 1000 {
		require.EqualValues(t, 3, next(ahead))
	}
	got := map[int64]int{}
	for range 300 {
		got[next(nil)]++
	}
	for app := range may {
		require.InDelta(t, 100, got[app], 1)
	}
}
