package pages

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBucketsOfAHandover(t *testing.T) {
	t.Parallel()
	require.Equal(t, "0–3, 7, 9–10", handover{Buckets: []int{0, 1, 2, 3, 7, 9, 10}}.Which())
	require.Equal(t, "0, 2, 4, 6, 8, 10, 12, 14 …", handover{Buckets: []int{0, 2, 4, 6, 8, 10, 12, 14, 16}}.Which())
	require.Empty(t, handover{}.Which())
}

// A member keeps its colour when others start, and no two members have the same colour while there are enough colours.
func TestColoursOfMembers(t *testing.T) {
	t.Parallel()
	var all []member
	for n := range colours {
		all = append(all, member{ProcessID: string(rune('a' + n))})
		had := make([]int, n)
		for i := range had {
			had[i] = all[i].Colour
		}
		paint(all)
		seen := map[int]bool{}
		for i, m := range all {
			seen[m.Colour] = true
			if i < n {
				require.Equal(t, had[i], m.Colour)
			}
		}
		require.Len(t, seen, n+1)
	}
	paint(append(all, member{ProcessID: "one more"}))
}

func TestClockOfAMember(t *testing.T) {
	t.Parallel()
	skew := func(seconds float64) *float64 { return &seconds }
	for want, m := range map[string]member{
		"not known":   {State: "running"},
		"2s ahead":    {State: "running", Skew: skew(2)},
		"8.1s behind": {State: "running", Skew: skew(-8.09)},
		"7s ahead":    {State: "dead", Skew: skew(7)},
	} {
		require.Equal(t, want, m.Clock())
		require.Equal(t, want == "8.1s behind", m.Wrong(), want)
	}
}
