package delivery_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/delivery/rate"
)

func TestReservationsAgreeWithTheModel(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	l := pg.NewLimits(o.db)
	ms := time.Millisecond
	r := rate.Reservation{Key: "mode:sms", Interval: 100 * ms, Burst: 1, Tolerance: 250 * ms,
		Offsets: make([]time.Duration, 5)}
	g, err := l.Reserve(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, []int{0, 1, 2}, g.Index, "250 ms of the rate, and not more")
	require.Equal(t, g.Clock, g.Slots[0], "an idle limit gives a slot at once")
	require.Equal(t, 100*ms, g.Slots[1].Sub(g.Slots[0]))
	require.Equal(t, g.Slots[2].Add(100*ms), g.Next)

	idle := r
	idle.OnlyIfWithin = 10 * ms
	again, err := l.Reserve(t.Context(), idle)
	require.NoError(t, err)
	require.Empty(t, again.Index, "it is not idle")
	require.Equal(t, g.Next, again.Next)

	exact := rate.Reservation{Key: "mode:call", Interval: 100 * ms, Burst: 1, Tolerance: 50 * ms,
		Offsets: []time.Duration{0, 20 * ms, 200 * ms, 240 * ms}}
	g, err = l.Reserve(t.Context(), exact)
	require.NoError(t, err)
	require.Equal(t, []int{0, 2}, g.Index, "what would be more than 50 ms off is refused")

	at := rate.Reservation{Key: "mode:push", Interval: 100 * ms, Burst: 1, Tolerance: 50 * ms, Lead: 300 * ms,
		Offsets: make([]time.Duration, 2), Instants: []time.Time{g.Clock.Add(time.Minute),
			g.Clock.Add(time.Minute + 200*ms)}}
	g, err = l.Reserve(t.Context(), at)
	require.NoError(t, err)
	require.Len(t, g.Slots, 2)
	require.True(t, g.Slots[0].Equal(at.Instants[0]) && g.Slots[1].Equal(at.Instants[1]),
		"exactly when they were wanted")
	at.Lead = 20 * ms
	g, err = l.Reserve(t.Context(), at)
	require.NoError(t, err)
	require.Equal(t, 300*ms, g.Lead, "the longest lead of all processes")
	o.exec(`update limits set lead_at = clock_timestamp() - interval '11 seconds' where key = 'mode:push'`)
	g, err = l.Reserve(t.Context(), at)
	require.NoError(t, err)
	require.Equal(t, 20*ms, g.Lead, "which is forgotten when its process asks no more")

	burst := rate.Reservation{Key: "mode:slack", Interval: 100 * ms, Burst: 3, Tolerance: 0,
		Offsets: make([]time.Duration, 6)}
	_, err = l.Reserve(t.Context(), burst)
	require.NoError(t, err)
	o.exec(`update limits set next_at = clock_timestamp() - interval '1 minute' where key = 'mode:slack'`)
	g, err = l.Reserve(t.Context(), burst)
	require.NoError(t, err)
	require.Len(t, g.Slots, 3, "after a pause the burst is there at once")
	for _, s := range g.Slots {
		require.False(t, s.Before(g.Clock))
	}
}

func TestConcurrentReservationsAreExact(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	l := pg.NewLimits(o.db)
	var mu sync.Mutex
	var slots []time.Time
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			for range 40 {
				g, err := l.Reserve(context.Background(), rate.Reservation{
					Key: "mode:email", Interval: 2 * time.Millisecond, Burst: 1, Tolerance: 100 * time.Millisecond, Offsets: make([]time.Duration, 3),
				})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				slots = append(slots, g.Slots...)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	slices.SortFunc(slots, time.Time.Compare)
	for i := 1; i < len(slots); i++ {
		require.GreaterOrEqual(t, slots[i].Sub(slots[i-1]), 2*time.Millisecond)
	}
	require.Equal(t, int64(0), o.number(`select coalesce(n_tup_upd - n_tup_hot_upd, 0) from pg_stat_user_tables where relname = 'limits'`),
		"the row stays on its page")
}
