package buckets_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/iris-oncall/iris/internal/buckets"
)

func names(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("member-%03d", i)
	}
	return out
}

// situation draws live members, and an owner for each bucket: a live member, a dead one, or none.
func situation(t *rapid.T) ([]string, [buckets.Count]string) {
	live := names(rapid.IntRange(1, 300).Draw(t, "live"))
	owned := min(len(live), rapid.IntRange(0, 8).Draw(t, "owners"))
	pool := append(slices.Clone(live[:owned]), "", "dead-1", "dead-2")
	var owners [buckets.Count]string
	switch rapid.IntRange(0, 2).Draw(t, "kind") {
	case 0:
		for b := range owners {
			owners[b] = rapid.SampledFrom(pool).Draw(t, "owner")
		}
	case 1: // one holds everything
		one := rapid.SampledFrom(pool).Draw(t, "one")
		for b := range owners {
			owners[b] = one
		}
	case 2: // a balanced cluster that some members left or joined
		before := names(rapid.IntRange(1, 300).Draw(t, "before"))
		owners = buckets.Assign(before, owners)
	}
	return live, owners
}

func shares(owners [buckets.Count]string) map[string]int {
	out := map[string]int{}
	for _, o := range owners {
		out[o]++
	}
	return out
}

func TestAssignProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		live, owners := situation(t)
		got := buckets.Assign(live, owners)

		shuffled := rapid.Permutation(live).Draw(t, "shuffled")
		require.Equal(t, got, buckets.Assign(shuffled, owners), "the order of members matters")

		// Live members own all buckets, and their shares differ by at most one.
		share := shares(got)
		least, most := buckets.Count, 0
		total := 0
		for _, m := range live {
			least, most = min(least, share[m]), max(most, share[m])
			total += share[m]
		}
		require.Equal(t, buckets.Count, total)
		require.LessOrEqual(t, most-least, 1)

		// Buckets move only if necessary. The minimum number of moves between live members is what each holds above its
		// quota, if those who hold most get the quotas that are rounded up.
		has := shares(owners)
		holdings := make([]int, 0, len(live))
		for _, m := range live {
			holdings = append(holdings, has[m])
		}
		slices.Sort(holdings)
		slices.Reverse(holdings)
		need := 0
		for i, h := range holdings {
			quota := buckets.Count / len(live)
			if i < buckets.Count%len(live) {
				quota++
			}
			need += max(0, h-quota)
		}
		moved := 0
		for b := range owners {
			if slices.Contains(live, owners[b]) && owners[b] != got[b] {
				moved++
			}
		}
		require.Equal(t, need, moved)

		// A balanced assignment does not change any more.
		require.Equal(t, got, buckets.Assign(live, got))
	})
}

// In whatever order the buckets move one by one, the cluster reaches balanced shares. No owner loses a bucket that it
// may keep.
func TestAssignReachesBalanceStepByStep(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		live, owners := situation(t)
		live = live[:min(len(live), 12)]
		for round := 0; ; round++ {
			require.Less(t, round, buckets.Count*4, "never comes to rest")
			want := buckets.Assign(live, owners)
			var open []int
			for b := range owners {
				if owners[b] != want[b] {
					open = append(open, b)
				}
			}
			if len(open) == 0 {
				break
			}
			some := rapid.SliceOfNDistinct(rapid.SampledFrom(open), 1, len(open), rapid.ID).Draw(t, "some")
			for _, b := range some {
				if slices.Contains(live, owners[b]) {
					owners[b] = "" // its owner releases it first
				} else {
					owners[b] = want[b]
				}
			}
		}
	})
}

func TestAssignWithoutMembers(t *testing.T) {
	t.Parallel()
	var owners [buckets.Count]string
	owners[3] = "gone"
	require.Equal(t, [buckets.Count]string{}, buckets.Assign(nil, owners))
}

func TestAssignSpreadsTheBucketsOfADeadMember(t *testing.T) {
	t.Parallel()
	ten := names(10)
	owners := buckets.Assign(ten, [buckets.Count]string{})
	after := buckets.Assign(ten[1:], owners)
	gained := map[string]int{}
	for b := range owners {
		if owners[b] == ten[0] {
			gained[after[b]]++
		} else {
			require.Equal(t, owners[b], after[b], "a living owner lost a bucket")
		}
	}
	require.Len(t, gained, 9, "one member's work goes to all others, not to a neighbour")
}

func BenchmarkAssign(b *testing.B) {
	live := names(50)
	owners := buckets.Assign(live[1:], [buckets.Count]string{})
	for b.Loop() {
		buckets.Assign(live, owners)
	}
}

func TestAMemberListedTwiceGetsOneShare(t *testing.T) {
	t.Parallel()
	var nobody [buckets.Count]string
	require.Equal(t, buckets.Assign([]string{"a", "b", "c"}, nobody),
		buckets.Assign([]string{"b", "a", "c", "a", "a"}, nobody))
}

func TestAReleasedBucketWouldNotReturnToItsOwner(t *testing.T) {
	t.Parallel()
	var all, nobody [buckets.Count]string
	for b := range all {
		all[b] = "a"
	}
	kept, won := 0, 0
	free := buckets.Assign([]string{"a", "b"}, nobody)
	for b, o := range buckets.Assign([]string{"a", "b"}, all) {
		if o == "a" {
			kept++
			if free[b] == "a" {
				won++
			}
		}
	}
	require.Equal(t, buckets.Count/2, kept)
	require.Greater(t, won, buckets.Count/2*2/3, "chance alone would keep half of them")
}
