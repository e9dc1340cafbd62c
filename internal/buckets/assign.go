package buckets

import (
	"cmp"
	"hash/fnv"
	"slices"
)

// Assign returns the owner of each bucket for the live members and the present owners ("" = nobody). The same input
// gives every process the same result, whatever the order of members.
//
// Each live owner keeps its buckets up to its quota, which is 256/n rounded down or up. The members with the most
// buckets get the rounding up, then the smaller id. All other buckets (free, of dead owners, above a quota) go by
// rendezvous rank to members below their quota. Shares differ by at most one, and no bucket moves without need. Without
// members all owners are "".
func Assign(members []string, owners [Count]string) [Count]string {
	var out [Count]string
	ms := slices.Clone(members)
	slices.Sort(ms)
	ms = slices.Compact(ms)
	if len(ms) == 0 {
		return out
	}
	room := quotas(ms, owners)

	// An owner above its quota releases the buckets in which its rank is lowest: it would not get those again.
	held := make(map[string][]int, len(ms))
	for b, o := range owners {
		if _, live := room[o]; live {
			held[o] = append(held[o], b)
		}
	}
	for m, bs := range held {
		slices.SortFunc(bs, func(a, b int) int {
			return cmp.Or(cmp.Compare(rank(m, b), rank(m, a)), cmp.Compare(a, b))
		})
		keep := min(len(bs), room[m])
		for _, b := range bs[:keep] {
			out[b] = m
		}
		room[m] -= keep
	}

	for b := range out {
		if out[b] != "" {
			continue
		}
		best, bestRank := "", uint64(0)
		for _, m := range ms {
			if room[m] == 0 {
				continue
			}
			if r := rank(m, b); best == "" || r > bestRank {
				best, bestRank = m, r
			}
		}
		out[b] = best
		room[best]--
	}
	return out
}

// quotas returns how many buckets each member may have; the sum is Count. Members are sorted and distinct.
func quotas(members []string, owners [Count]string) map[string]int {
	n := len(members)
	holds := make(map[string]int, n)
	for _, o := range owners {
		holds[o]++
	}
	byHolding := slices.Clone(members)
	slices.SortStableFunc(byHolding, func(a, b string) int { return cmp.Compare(holds[b], holds[a]) })
	out := make(map[string]int, n)
	for i, m := range byHolding {
		out[m] = Count / n
		if i < Count%n {
			out[m]++
		}
	}
	return out
}

// rank is the rendezvous weight of a member for a bucket: the same on every machine.
func rank(member string, bucket int) uint64 {
	h := fnv.New64a()
	h.Write([]byte(member))
	h.Write([]byte{0, byte(bucket)})
	// FNV mixes its last byte poorly; the finalizer of splitmix64 spreads it over all bits.
	x := h.Sum64()
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
