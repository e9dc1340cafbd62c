package history_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/delivery/history"
)

// first is a process that holds bucket 0 only.
type first struct{}

func (first) Leases() []buckets.Lease { return []buckets.Lease{{Bucket: 0}} }

// shelf is an archive whose settled messages all belong to open incidents, so that none can be moved.
type shelf struct {
	history.Archive
	mu    sync.Mutex
	moves []history.Cursor
}

func (s *shelf) Prepare(context.Context) error { return nil }

func (s *shelf) Forget(context.Context, time.Duration) (bool, error) { return false, nil }

func (s *shelf) Move(_ context.Context, from history.Cursor, _ time.Duration, most int) (int, history.Cursor, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moves = append(s.moves, from)
	if from.ID >= 5000 {
		return 0, history.Cursor{}, nil
	}
	return 0, history.Cursor{SettledAt: time.Now().Add(-time.Hour), ID: from.ID + int64(most)}, nil
}

func TestSettledMessagesOfOpenIncidentsAreReadRarely(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{}
		h, err := history.New(s, first{}, history.Config{}, zap.NewNop())
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- h.Run(ctx) }()
		<-time.After(30 * time.Minute)
		stop()
		require.NoError(t, <-done)
		rounds := 0
		for _, m := range s.moves {
			if m.ID == 0 {
				rounds++
			}
		}
		require.Equal(t, 3, rounds, "about every ten minutes")
	})
}
