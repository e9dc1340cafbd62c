package pages

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/system"
)

func TestBucketsOfAHandover(t *testing.T) {
	t.Parallel()
	shown := func(buckets ...int) handover { return handover{system.Handover{Buckets: buckets}} }
	require.Equal(t, "0–3, 7, 9–10", shown(0, 1, 2, 3, 7, 9, 10).Which())
	require.Equal(t, "0, 2, 4, 6, 8, 10, 12, 14 …", shown(0, 2, 4, 6, 8, 10, 12, 14, 16).Which())
	require.Empty(t, shown().Which())
}

// A member keeps its colour when others start, and no two members have the same colour while there are enough colours.
func TestColoursOfMembers(t *testing.T) {
	t.Parallel()
	var all []member
	for n := range colours {
		all = append(all, member{Member: system.Member{ProcessID: string(rune('a' + n))}})
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
	paint(append(all, member{Member: system.Member{ProcessID: "one more"}}))
}

func TestClockOfAMember(t *testing.T) {
	t.Parallel()
	skew := func(seconds float64) *float64 { return &seconds }
	for want, one := range map[string]system.Member{
		"not known":   {State: "running"},
		"2s ahead":    {State: "running", Skew: skew(2)},
		"8.1s behind": {State: "running", Skew: skew(-8.09)},
		"7s ahead":    {State: "dead", Skew: skew(7)},
	} {
		m := member{Member: one}
		require.Equal(t, want, m.Clock())
		require.Equal(t, want == "8.1s behind", m.Wrong(), want)
	}
}
