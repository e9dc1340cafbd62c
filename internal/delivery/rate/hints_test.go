package rate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

func drawLanes(t *rapid.T, name string, most int) []Lane {
	return rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) Lane {
		return Lane{
			Mode:        rapid.SampledFrom(users.Modes).Draw(t, "mode"),
			Class:       messages.Class(rapid.IntRange(0, ClassCount-1).Draw(t, "class")),
			Application: rapid.Int64Range(0, 1<<40).Draw(t, "application"),
		}
	}), 0, most, rapid.ID).Draw(t, name)
}

func TestDemandIsEncodedAndDecoded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lanes := drawLanes(t, "lanes", 50)
		got, err := decodeDemand(EncodeDemand(lanes))
		require.NoError(t, err)
		require.ElementsMatch(t, lanes, got)
	})
}

func TestEncodedDemandIsCutToTheSizeLimit(t *testing.T) {
	t.Parallel()
	var lanes []Lane
	for i := range int64(5000) {
		lanes = append(lanes, Lane{users.Email, messages.ClassOutOfBand, i << 20})
	}
	hint := EncodeDemand(lanes)
	require.LessOrEqual(t, len(hint), maxHint)
	got, err := decodeDemand(hint)
	require.NoError(t, err)
	require.Greater(t, len(got), 1000)
}

func FuzzDecodeDemand(f *testing.F) {
	f.Add([]byte{hintVersion})
	f.Add(EncodeDemand([]Lane{{users.SMS, messages.ClassUrgent, 7}, {users.Email, messages.ClassOutOfBand, 1 << 50}}))
	f.Add([]byte{hintVersion, 0x10, 0x80})
	f.Fuzz(func(t *testing.T, b []byte) {
		lanes, err := decodeDemand(b)
		if err != nil {
			return
		}
		again, err := decodeDemand(EncodeDemand(lanes))
		require.NoError(t, err)
		require.ElementsMatch(t, lanes, again)
	})
}

func TestSharesAddUpToOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "processes")
		all := make([][]Lane, n)
		any := false
		for i := range all {
			for _, l := range drawLanes(t, "lanes", 12) {
				l.Mode, l.Application = users.SMS, l.Application%4
				all[i] = append(all[i], l)
			}
			all[i] = distinct(all[i])
			any = any || len(all[i]) > 0
		}
		if !any {
			return
		}
		sum := 0.0
		turns := map[Lane]float64{}
		for i, own := range all {
			var others []map[Lane]bool
			for j, o := range all {
				if j == i {
					continue
				}
				set := map[Lane]bool{}
				for _, l := range o {
					set[l] = true
				}
				others = append(others, set)
			}
			share, weights := shares(own, others, users.SMS, func(l Lane) bool { return l.Mode == users.SMS })
			if len(own) > 0 {
				sum += share
			}
			for k, w := range weights {
				turns[Lane{users.SMS, k.Class, k.Application}] += w
			}
		}
		require.InDelta(t, 1, sum, 0.01)
		for l, w := range turns {
			require.InDelta(t, 1, w, 1e-9, "the application's turn in the cluster: %v", l)
		}
	})
}

func distinct(ls []Lane) []Lane {
	seen := map[Lane]bool{}
	var out []Lane
	for _, l := range ls {
		if !seen[l] {
			seen[l] = true
			out = append(out, l)
		}
	}
	return out
}

func TestHintsExpire(t *testing.T) {
	t.Parallel()
	var d Peers
	now := time.Now()
	d.Update(now, "a", EncodeDemand([]Lane{{users.SMS, 0, 1}}))
	d.Update(now.Add(2*time.Second), "b", EncodeDemand([]Lane{{users.SMS, 0, 2}}))
	require.Len(t, d.fresh(now.Add(2*time.Second)), 2)
	require.Len(t, d.fresh(now.Add(4*time.Second)), 1)
	d.Update(epoch, "b", nil)
	require.Empty(t, d.fresh(now.Add(4*time.Second)))
}
