package receiving

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	_ "github.com/iris-oncall/iris/internal/dev/golden" // defines -update
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// grants answers TakeAllowance with fixed values, one after the other.
type grants struct {
	ActivityStore
	granted []int
	left    float64
	err     error
	wanted  []int
}

func (g *grants) TakeAllowance(_ context.Context, _ intake.ID, _ Rate, wanted int) (int, float64, error) {
	g.wanted = append(g.wanted, wanted)
	if len(g.granted) == 0 {
		return 0, g.left, g.err
	}
	n := g.granted[0]
	g.granted = g.granted[1:]
	return n, g.left, g.err
}

func TestPartsOfAnAllowanceAreUsedUp(t *testing.T) {
	t.Parallel()
	store := &grants{granted: []int{10, 2}, left: 0.5}
	a, err := NewActivity(store, zap.NewNop(), nil, nil)
	require.NoError(t, err)
	from := intake.Integration{ID: 1, Content: intake.Content{Name: "am", RatePerMinute: 600}}
	now := time.Unix(1_000_000, 0)
	for range 12 {
		require.NoError(t, a.Allow(t.Context(), from, now))
	}
	require.Equal(t, []int{10, 10}, store.wanted, "a second's deliveries at once")
	err = a.Allow(t.Context(), from, now)
	require.Equal(t, fault.Throttled, fault.KindOf(err))
	require.ErrorContains(t, err, "the integration am sent more than 600 deliveries per minute")
	require.Error(t, a.Allow(t.Context(), from, now.Add(49*time.Millisecond)))
	require.Len(t, store.wanted, 3, "half a delivery at 10 per second is there after 50 ms, and nothing is asked before")
	store.granted = []int{1, 10}
	require.NoError(t, a.Allow(t.Context(), from, now.Add(50*time.Millisecond)))
	require.NoError(t, a.Allow(t.Context(), from, now.Add(60*time.Millisecond)))
	require.Len(t, store.wanted, 5)
	require.Error(t, a.Allow(t.Context(), from, now.Add(11*time.Second)), "an old part is not used")

	from.RatePerMinute = 30
	store.granted = []int{1}
	require.NoError(t, a.Allow(t.Context(), from, now.Add(12*time.Second)), "a new rate holds at once")
	require.Equal(t, 1, store.wanted[len(store.wanted)-1])
	store.err = errors.New("no database")
	require.Equal(t, fault.Unavailable, fault.KindOf(a.Allow(t.Context(), from, now.Add(13*time.Second))))
}
