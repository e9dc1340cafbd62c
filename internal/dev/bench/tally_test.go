package bench

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var t0 = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func at(ms int) time.Time { return t0.Add(time.Duration(ms) * time.Millisecond) }

func TestTallyComparesAcceptedWithDelivered(t *testing.T) {
	t.Parallel()
	y := newTally(5, true, true)
	for i := range 6 {
		y.sending(at(i))
	}
	y.accept(101, at(0), at(10))
	y.deliver(delivery{At: at(30), MessageID: 1, IncidentID: 101, Marker: -1})
	y.deliver(delivery{At: at(5), MessageID: 2, IncidentID: 102}) // delivered before the answer was read
	y.accept(102, at(1), at(12))
	y.accept(103, at(2), at(20))
	y.deliver(delivery{At: at(1020), MessageID: 3, IncidentID: 103})
	y.deliver(delivery{At: at(4000), MessageID: 3, IncidentID: 103}) // a duplicate
	y.accept(104, at(3), at(25))                                     // never delivered
	y.refuse("404 Not Found")
	y.noAnswer()
	y.deliver(delivery{At: at(500), MessageID: 9, IncidentID: 999}) // its answer was lost

	p := y.progress(at(5000))
	require.Equal(t, progress{posted: 6, accepted: 4, reached: 3, arrived: 5, quiet: time.Second}, p)
	require.Equal(t, Result{
		Posted: 6, Accepted: 4, Delivered: 3, Lost: 1, LostIDs: []int64{104}, Duplicates: 1, AcceptSeconds: 0.025,
		LastDeliverySeconds: 1.02, DeliveriesPerSecond: 2.941, Refused: map[string]int{"404 Not Found": 1}, Unanswered: 1, Strays: 1,
		Latency: Percentiles{P50: 20, P95: 1000, P99: 1000, Max: 1000}, Accept: Percentiles{P50: 11, P95: 22, P99: 22,
			Max: 22},
	}, y.result())
}

func TestTallyOfAPlanWithSeveralRecipients(t *testing.T) {
	t.Parallel()
	y := newTally(1, true, false)
	y.sending(at(0))
	y.accept(1, at(0), at(1))
	for _, id := range []int64{7, 8, 8} { // two recipients, one of them twice
		y.deliver(delivery{At: at(2), MessageID: id, IncidentID: 1})
	}
	r := y.result()
	require.Equal(t, 1, r.Duplicates)
	require.Equal(t, 1, r.Delivered)
}

func TestTallyMatchesNotificationsByMarker(t *testing.T) {
	t.Parallel()
	y := newTally(2, false, true)
	y.accept(1, at(0), at(1))
	y.accept(2, at(0), at(1))
	y.deliver(delivery{At: at(2), MessageID: 55, Marker: 2})
	r := y.result()
	require.Equal(t, []int64{1}, r.LostIDs)
	require.Equal(t, 1, r.Delivered)
}

func TestTallyOfNothing(t *testing.T) {
	t.Parallel()
	y := newTally(1, true, true)
	require.Zero(t, y.progress(at(0)).quiet)
	raw, err := json.Marshal(y.result())
	require.NoError(t, err)
	var keys map[string]any
	require.NoError(t, json.Unmarshal(raw, &keys))
	for _, key := range []string{"posted", "accepted", "delivered", "lost", "duplicates", "accept_seconds", "last_delivery_seconds", "latency_ms", "deliveries_per_second"} {
		require.Contains(t, keys, key)
	}
	require.NotContains(t, keys, "reowned_seconds")
}

// In every order of events, accepted = delivered + lost, and every mail is counted once.
func TestTallyAcceptedIsDeliveredPlusLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		y := newTally(20, true, true)
		accepted := map[int64]bool{}
		mails := 0
		for range rapid.IntRange(0, 60).Draw(t, "events") {
			unit := int64(rapid.IntRange(1, 20).Draw(t, "unit"))
			if rapid.Bool().Draw(t, "mail") {
				y.deliver(delivery{At: at(rapid.IntRange(0, 1000).Draw(t, "at")), MessageID: unit, IncidentID: unit})
				mails++
			} else if !accepted[unit] {
				accepted[unit] = true
				y.sending(at(0))
				y.accept(unit, at(0), at(1))
			}
		}
		r := y.result()
		require.Equal(t, len(accepted), r.Accepted)
		require.Equal(t, r.Accepted, r.Delivered+r.Lost)
		require.Equal(t, mails, r.Delivered+r.Duplicates+r.Strays)
		require.Equal(t, r.Delivered, y.progress(at(0)).reached)
	})
}

func TestPercentilesAreNearestRanks(t *testing.T) {
	t.Parallel()
	var ms []float64
	for i := 100; i >= 1; i-- {
		ms = append(ms, float64(i))
	}
	require.Equal(t, Percentiles{P50: 50, P95: 95, P99: 99, Max: 100}, percentiles(ms))
	require.Equal(t, Percentiles{P50: 7, P95: 7, P99: 7, Max: 7}, percentiles([]float64{7}))
	require.Equal(t, Percentiles{}, percentiles(nil))
}
