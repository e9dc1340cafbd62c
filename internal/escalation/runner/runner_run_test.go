package runner

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

func TestRunReadsWokenBucketsAtOnceAndAllBucketsEverySecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, Config{})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- g.runner.Run(ctx) }()
		synctest.Wait()
		reads, looks, _ := g.seen()
		require.Equal(t, 1, reads)
		require.Equal(t, 8, looks[0].Len())
		before := g.runner.LastPass()

		<-time.After(300 * time.Millisecond)
		g.open(5)
		g.runner.Wake(buckets.Of(5, 77))
		synctest.Wait()
		_, looks, changes := g.seen()
		require.Equal(t, buckets.Of(5), looks[1], "only what was woken and is ours")
		require.Equal(t, 1, changes)

		<-time.After(750 * time.Millisecond)
		synctest.Wait()
		reads, looks, _ = g.seen()
		require.Equal(t, 8, looks[len(looks)-1].Len())
		require.True(t, g.runner.LastPass().After(before))

		<-time.After(10*time.Second + 10*time.Millisecond)
		synctest.Wait()
		now, _, _ := g.seen()
		require.InDelta(t, 10, now-reads, 1, "once a second when idle")
		stop()
		require.NoError(t, <-done)
	})
}

func TestRunLimitsReadsDuringManyWakeUps(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, Config{})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- g.runner.Run(ctx) }()
		synctest.Wait()
		for range 100 {
			g.runner.Wake(buckets.Of(5))
			<-time.After(time.Millisecond)
		}
		synctest.Wait()
		reads, _, _ := g.seen()
		require.InDelta(t, 100*time.Millisecond/passGap, reads, 2)
		stop()
		require.NoError(t, <-done)
	})
}

func TestRunWakesUpWhenSomethingIsDue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, Config{})
		g.next = 200 * time.Millisecond
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- g.runner.Run(ctx) }()
		<-time.After(199 * time.Millisecond)
		synctest.Wait()
		reads, _, _ := g.seen()
		require.Equal(t, 1, reads)
		<-time.After(time.Millisecond)
		synctest.Wait()
		reads, looks, _ := g.seen()
		require.Equal(t, 2, reads)
		require.Equal(t, 8, looks[1].Len())
		stop()
		require.NoError(t, <-done)
	})
}

func TestRunDoesNotSpinOnLockedIncidents(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, Config{})
		g.next = -time.Second // due, but locked by another transaction
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- g.runner.Run(ctx) }()
		<-time.After(10 * time.Second)
		synctest.Wait()
		reads, _, _ := g.seen()
		require.Less(t, reads, 20)
		stop()
		require.NoError(t, <-done)
	})
}

func TestRunContinuesAfterADatabaseOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, Config{})
		g.readErr = fault.New(fault.Unavailable, "the database cannot be reached")
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- g.runner.Run(ctx) }()
		<-time.After(30*time.Second + time.Millisecond)
		synctest.Wait()
		reads, _, _ := g.seen()
		require.InDelta(t, 30, reads, 2, "it neither exits nor spins")
		require.True(t, g.runner.LastPass().IsZero(), "and does not pretend to work")
		require.Len(t, g.logs.FilterMessageSnippet("escalation failed").All(), 1, "logged once")
		leases := g.hold(nil) // the holder also gives up its buckets if it cannot reach the database
		<-time.After(10 * time.Second)
		synctest.Wait()
		require.Empty(t, g.logs.FilterMessage("escalation works again").All(),
			"an empty pass does not count as working")
		g.mu.Lock()
		g.readErr = nil
		g.mu.Unlock()
		g.hold(leases)
		g.open(1)
		<-time.After(time.Second)
		synctest.Wait()
		_, _, changes := g.seen()
		require.Equal(t, 1, changes)
		require.Len(t, g.logs.FilterMessage("escalation works again").All(), 1)
		stop()
		require.NoError(t, <-done)
	})
}

func TestRunWithoutLeasesRecordsPasses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, Config{})
		g.leases = nil
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- g.runner.Run(ctx) }()
		<-time.After(5 * time.Second)
		synctest.Wait()
		require.WithinDuration(t, time.Now(), g.runner.LastPass(), time.Second+time.Millisecond)
		reads, _, _ := g.seen()
		require.Zero(t, reads)
		stop()
		require.NoError(t, <-done)
	})
}
