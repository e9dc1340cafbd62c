package buckets_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
)

func TestHolderWithoutDatabaseStopsOfferingItsBuckets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		a, b := r.start("a"), r.start("b")
		r.settles(3*time.Second, a, b)
		a.link.set(true)
		r.advance(1500 * time.Millisecond)
		require.NotEmpty(t, a.Leases(), "a hiccup is no reason")
		r.advance(1510 * time.Millisecond)
		require.Empty(t, a.Leases())
		require.Equal(t, buckets.Set{}, a.Owned())
		require.ErrorContains(t, a.Ready(), "heartbeat")
		r.settles(time.Second, b)
		r.advance(time.Minute)
		a.link.set(false)
		r.settles(3*time.Second, a, b)
		require.NoError(t, a.Ready())
	})
}

// After a database outage, the first member that reconnects does not count the others as dead.
func TestHolderAfterADatabaseOutageTakesNoLiveBuckets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		a, b := r.start("a"), r.start("b")
		r.settles(3*time.Second, a, b)
		before := a.Leases()
		a.link.set(true)
		b.link.set(true)
		r.advance(20 * time.Second)
		require.Empty(t, a.Leases())
		a.link.set(false)
		r.advance(1100 * time.Millisecond)
		require.Equal(t, before, a.Leases(), "its own at once, the others' not yet")
		b.link.set(false)
		r.settles(1200*time.Millisecond, a, b)
		require.Equal(t, before, a.Leases())
		require.Zero(t, gauge(t, a, "iris_buckets_takeovers_total"))

		// A member that does not reconnect counts as dead in the end.
		a.link.set(true)
		b.link.set(true)
		r.advance(20 * time.Second)
		a.link.set(false)
		r.settles(3600*time.Millisecond, a)
		b.link.set(false)
		r.settles(3*time.Second, a, b)
	})
}

func TestHolderReleasesItsBucketsWhenItsLoopsHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		a, b := r.start("a"), r.start("b")
		r.settles(3*time.Second, a, b)
		a.lastPass(time.Now())
		r.advance(9 * time.Second)
		require.True(t, settled(a, b))
		r.advance(5 * time.Second)
		require.Empty(t, a.Leases())
		require.ErrorContains(t, a.Ready(), "test loop")
		require.True(t, settled(b))
		a.lastPass(time.Time{})
		r.settles(3*time.Second, a, b)
	})
}

func TestHolderStopsOfferingLostBuckets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		a := r.start("a")
		r.settles(50*time.Millisecond, a)
		gone := buckets.Of(3, 200)
		stranger := &link{db: r.db}
		require.NoError(t, stranger.Beat(t.Context(), buckets.Member{ProcessID: "stranger", Draining: true}))
		r.db.steal(gone, "stranger")
		a.Lost(buckets.Of(3))
		require.False(t, a.Owned().Has(3), "a transaction said so")
		r.advance(50 * time.Millisecond)
		require.False(t, a.Owned().Has(200), "the row says so")
		require.Equal(t, buckets.Count-gone.Len(), a.Owned().Len(), "the other buckets stay")
		// The stranger dies: a gets its buckets back in a new epoch.
		r.settles(3100*time.Millisecond, a)
		require.Equal(t, int64(3), a.Leases()[3].Epoch)

		// A false report of a lost lease only causes a read of the database.
		a.Lost(buckets.Of(9))
		require.False(t, a.Owned().Has(9))
		r.settles(50*time.Millisecond, a)
		require.Equal(t, int64(1), a.Leases()[9].Epoch)
	})
}

func TestHolderFindsBucketsAfterALostAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		l := &link{db: r.db, loseAnswer: true}
		h, err := buckets.NewHolder(buckets.Deps{
			Store: l, Self: buckets.Member{ProcessID: "a"}, Log: zap.NewNop(),
		}, buckets.Config{})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- h.Run(ctx) }()
		r.advance(1500 * time.Millisecond)
		require.Len(t, h.Leases(), buckets.Count)
		require.Equal(t, int64(1), h.Leases()[0].Epoch)
		cancel()
		require.NoError(t, <-done)
	})
}
