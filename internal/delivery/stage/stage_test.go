package stage_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/delivery/stage"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
)

// store is a ledger and queue in memory. Message 13 can never be stored.
type store struct {
	mu       sync.Mutex
	down     bool
	recorded []messages.ID
	turned   []messages.ID
	released []messages.ID
}

const bad = 13

var errBad = errors.New("this cannot be stored")

// note appends ids, unless the store is down or a bad message is among them.
func (s *store) note(to *[]messages.ID, ids []messages.ID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.down:
		return fault.New(fault.Unavailable, "the database cannot be reached")
	case slices.Contains(ids, bad):
		return errBad
	}
	if to != nil {
		*to = append(*to, ids...)
	}
	return nil
}

func (s *store) set(down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down = down
}

func (s *store) MarkSending(_ context.Context, _ string, starts []stage.Start) (map[messages.ID]int, error) {
	attempts := map[messages.ID]int{}
	var ids []messages.ID
	for _, one := range starts {
		ids = append(ids, one.ID)
		if one.ID != 2 { // acknowledged
			attempts[one.ID] = 1
		}
	}
	return attempts, s.note(nil, ids)
}

func (s *store) StillOpen(_ context.Context, _ string, ids []messages.ID) (map[messages.ID]bool, time.Time, error) {
	open := map[messages.ID]bool{}
	for _, id := range ids {
		open[id] = id != 2
	}
	return open, time.Now(), s.note(nil, nil)
}

func (s *store) Record(_ context.Context, outcomes []stage.Outcome) ([]messages.ID, error) {
	var ids []messages.ID
	for _, o := range outcomes {
		ids = append(ids, o.ID)
	}
	return []messages.ID{3}, s.note(&s.recorded, ids)
}

func (s *store) Turn(_ context.Context, _ string, turns []stage.Turn) error {
	var ids []messages.ID
	for _, one := range turns {
		ids = append(ids, one.ID)
	}
	return s.note(&s.turned, ids)
}

func (s *store) Release(_ context.Context, _ string, ids []messages.ID) error {
	return s.note(&s.released, ids)
}

func (s *store) ProcessID() string { return "me" }

// reports ignores every report.
type reports struct{}

func (reports) Failed(string, error, ...zap.Field) {}
func (reports) Batch(string, int)                  {}

// inBubble runs f with a store, in a synctest bubble. The stages that use the context end with f.
func inBubble(t *testing.T, f func(s *store, run func(stages ...func(ctx context.Context)))) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		f(&store{}, func(stages ...func(ctx context.Context)) {
			for _, one := range stages {
				running.Go(func() { one(ctx) })
			}
		})
	})
}

func TestMarkAnswersEachMessage(t *testing.T) {
	inBubble(t, func(s *store, run func(...func(context.Context))) {
		m := stage.NewMark(s, s, reports{})
		run(func(ctx context.Context) { m.Run(ctx, ctx) })
		answers := map[messages.ID]stage.Marked{}
		var mu sync.Mutex
		var asked sync.WaitGroup
		for _, id := range []messages.ID{1, 2, bad, 4} {
			asked.Go(func() {
				got := m.Do(stage.Start{ID: id})
				mu.Lock()
				defer mu.Unlock()
				answers[id] = got
			})
		}
		asked.Wait()
		for id, got := range answers {
			require.Equal(t, id != 2 && id != bad, got.Attempt == 1, "message %d", id)
			require.False(t, got.Lost)
		}
		s.set(true)
		require.True(t, m.Do(stage.Start{ID: 1}).Lost)
	})
}

func TestRereadAnswersEachMessage(t *testing.T) {
	inBubble(t, func(s *store, run func(...func(context.Context))) {
		r := stage.NewReread(s, s, reports{})
		run(func(ctx context.Context) { r.Run(ctx, ctx) })
		require.True(t, r.Do(1).Open)
		require.False(t, r.Do(2).Open)
		s.set(true)
		require.Error(t, r.Do(1).Err)
	})
}

func TestRecordTriesUntilTheDatabaseIsBack(t *testing.T) {
	inBubble(t, func(s *store, run func(...func(context.Context))) {
		r := stage.NewRecord(s, reports{})
		s.set(true)
		run(r.Run, r.Run)
		var mu sync.Mutex
		got := map[messages.ID]stage.Recorded{}
		for _, id := range []messages.ID{1, 3, bad} {
			r.Add(stage.Outcome{Turn: stage.Turn{ID: id}}, func(one stage.Recorded) {
				mu.Lock()
				defer mu.Unlock()
				got[id] = one
			})
		}
		<-time.After(10 * time.Second)
		mu.Lock()
		require.Empty(t, got)
		mu.Unlock()
		s.set(false)
		<-time.After(2 * time.Second)
		mu.Lock()
		defer mu.Unlock()
		require.False(t, got[1].Late || got[1].Lost)
		require.True(t, got[3].Late)
		require.True(t, got[bad].Lost)
		require.ElementsMatch(t, []messages.ID{1, 3}, s.recorded)
	})
}

func TestMoveEndsForEveryMessage(t *testing.T) {
	inBubble(t, func(s *store, run func(...func(context.Context))) {
		m := stage.NewMove(s, s, reports{})
		run(func(ctx context.Context) { m.RunTurns(ctx, ctx) }, m.RunReleases)
		var ended sync.WaitGroup
		for _, id := range []messages.ID{1, bad, 4} {
			ended.Add(1)
			m.Turn(stage.Turn{ID: id}, ended.Done)
		}
		ended.Add(1)
		m.Release(5, ended.Done)
		ended.Wait()
		require.ElementsMatch(t, []messages.ID{1, 4}, s.turned)
		require.Equal(t, []messages.ID{5}, s.released)
	})
}
