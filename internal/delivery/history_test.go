package delivery_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/delivery"
)

// first is a process that holds bucket 0 only.
type first struct{}

func (first) Leases() []buckets.Lease { return []buckets.Lease{{Bucket: 0}} }

// shelf is an archive that has settled messages until they were read.
type shelf struct {
	delivery.Archive
	mu    sync.Mutex
	left  int
	moves []time.Time
}

func (s *shelf) Prepare(context.Context) error { return nil }

func (s *shelf) Forget(context.Context, time.Duration) (bool, error) { return false, nil }

func (s *shelf) Move(_ context.Context, _ time.Duration, most int) (delivery.Round, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moves = append(s.moves, time.Now())
	<-time.After(100 * time.Millisecond)
	n := min(most, s.left)
	s.left -= n
	return delivery.Round{Moved: n, More: n == most, Through: time.Now().Add(-10 * time.Minute)}, nil
}

func TestTheHistorianRestsWhenAllMessagesWereRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{left: 5000}
		h, err := delivery.NewHistorian(s, first{}, delivery.HistorianConfig{}, zap.NewNop())
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		began := time.Now()
		go func() { done <- h.Run(ctx) }()
		<-time.After(30 * time.Minute)
		stop()
		require.NoError(t, <-done)
		require.Less(t, s.moves[2].Sub(began), time.Second, "rounds that were full are repeated soon")
		require.GreaterOrEqual(t, s.moves[1].Sub(s.moves[0]), 400*time.Millisecond,
			"and use the database a quarter of the time")
		require.LessOrEqual(t, len(s.moves), 182, "one round in ten seconds afterwards")
	})
}
