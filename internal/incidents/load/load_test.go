package load_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/incidents/load"
)

type fakePending struct {
	mu     sync.Mutex
	counts map[int64]int64
	err    error
}

func (f *fakePending) Pending(context.Context) (map[int64]int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts, f.err
}

func (f *fakePending) set(counts map[int64]int64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts, f.err = counts, err
}

func TestUnderLoadNotificationsAreRefusedFirstAndIncidentsLast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := &fakePending{counts: map[int64]int64{1: 9}}
		l := load.New(p, zaptest.NewLogger(t))
		app := auth.Application{ID: 1, PendingCap: 10}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = l.Run(ctx) }()
		over := func() (bool, bool) {
			_ = l.Notifications(t.Context(), app) // requests a count
			synctest.Wait()
			wait, err := l.Overloaded(t.Context(), app)
			require.NoError(t, err)
			return l.Notifications(t.Context(), app) > 0, wait > 0
		}
		n, i := over()
		require.False(t, n || i)
		l.Accepted(1, 1) // counted before the next read
		n, i = over()
		require.True(t, n)
		require.False(t, i)
		p.set(map[int64]int64{1: 40}, nil)
		<-time.After(2 * time.Second)
		n, i = over()
		require.True(t, n && i)
		p.set(nil, errors.New("away"))
		l.Accepted(1, 1)
		<-time.After(2 * time.Second)
		n, i = over()
		require.True(t, n && i, "the last counts go on counting")
		p.set(nil, nil)
		<-time.After(2 * time.Second)
		n, i = over()
		require.False(t, n || i)
	})
}

// blockedPending returns no count before its context ends.
type blockedPending struct{}

func (blockedPending) Pending(ctx context.Context) (map[int64]int64, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// A request must not wait for the count of pending messages. An earlier version counted inside a POST, once a second.
func TestNoRequestWaitsForACount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := load.New(blockedPending{}, zaptest.NewLogger(t))
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _ = l.Run(ctx) }()
		for range 3 {
			wait, err := l.Overloaded(t.Context(), auth.Application{ID: 1,
				PendingCap: 10}) // a deadlock of the bubble if it waits
			require.NoError(t, err)
			require.Zero(t, wait)
			<-time.After(time.Second)
		}
	})
}
