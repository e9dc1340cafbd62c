package delivery

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/messages"
)

func TestWhatFollowsAnAttempt(t *testing.T) {
	t.Parallel()
	b := DefaultBudgets()[messages.ClassUrgent]
	fresh := standing{modeAttempt: 1, inMode: 10 * time.Millisecond, age: time.Second}
	tired := standing{modeAttempt: 9, inMode: b.PerMode, age: 30 * time.Second}
	old := standing{modeAttempt: 1, inMode: 0, age: 2 * time.Minute}
	ancient := standing{modeAttempt: 1, age: b.GiveUp}
	for _, c := range []struct {
		name string
		s    standing
		r    messages.Result
		want move
	}{
		{"sent", fresh, messages.Result{Outcome: messages.OutcomeSent}, moveDone},
		{"rejected", fresh, messages.Result{Outcome: messages.OutcomeRejected}, moveNextOnly},
		{"rejected after ages", ancient, messages.Result{Outcome: messages.OutcomeRejected}, moveNextOnly},
		{"unavailable", fresh, messages.Result{Outcome: messages.OutcomeUnavailable}, moveRetry},
		{"unavailable for the mode's whole budget", tired, messages.Result{Outcome: messages.OutcomeUnavailable}, moveNext},
		{"unavailable when the whole budget is used up", old, messages.Result{Outcome: messages.OutcomeUnavailable}, moveNext},
		{"unavailable for hours", ancient, messages.Result{Outcome: messages.OutcomeUnavailable}, moveFail},
		{"throttled shortly", fresh, messages.Result{Outcome: messages.OutcomeThrottled, RetryAfter: 3 * time.Second}, moveRetry},
		{"throttled beyond the budget", fresh, messages.Result{Outcome: messages.OutcomeThrottled, RetryAfter: time.Minute}, moveNext},
		{"unknown", fresh, messages.Result{Outcome: messages.OutcomeUnknown}, moveRetry},
		{"not begun", fresh, messages.Result{Outcome: messages.OutcomeCancelled}, moveRetry},
		{"not begun for the mode's whole budget", tired, messages.Result{Outcome: messages.OutcomeCancelled}, moveNext},
	} {
		got, wait := b.after(c.s, c.r)
		require.Equal(t, c.want, got, c.name)
		if c.r.RetryAfter > 0 {
			require.GreaterOrEqual(t, wait, c.r.RetryAfter, c.name)
		}
	}
}

func TestBudgetsOfUrgentPagesAddUpToAMinute(t *testing.T) {
	t.Parallel()
	b := DefaultBudgets()[messages.ClassUrgent]
	require.LessOrEqual(t, b.Total, time.Minute)
	require.LessOrEqual(t, 3*b.PerMode, b.Total, "three modes get their chance")
}

func TestGapsGrowAndJitter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := DefaultBudgets()[rapid.IntRange(0, rate.ClassCount-1).Draw(t, "class")]
		n := rapid.IntRange(1, 10000).Draw(t, "attempts")
		g := b.gap(n, rapid.Float64Range(0, 0.999).Draw(t, "spread"))
		require.GreaterOrEqual(t, g, b.FirstGap/2)
		require.LessOrEqual(t, g, b.MostGap)
		require.LessOrEqual(t, b.gap(n, 0.5), b.gap(n+1, 0.5))
	})
}

func TestEveryAccountGetsItsPartOfTheBudget(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := Budget{PerMode: 20 * time.Second}
		n := rapid.IntRange(1, 5).Draw(t, "accounts")
		last := 0
		seen := map[int]bool{}
		for at := time.Duration(0); at < b.PerMode; at += 100 * time.Millisecond {
			i := b.accountAt(at, n)
			require.GreaterOrEqual(t, i, last)
			require.Less(t, i, n)
			last, seen[i] = i, true
		}
		require.Len(t, seen, n)
	})
}

func TestIdempotencyKeys(t *testing.T) {
	t.Parallel()
	c := Claimed{ID: 7, CreatedAt: time.UnixMicro(1_700_000_000_000_000)}
	first := idempotencyKey(c)
	c.Attempt, c.KeyAttempt = 1, 1
	require.Equal(t, first, idempotencyKey(c), "in doubt: the same")
	c.KeyAttempt = 0
	require.NotEqual(t, first, idempotencyKey(c), "definitely failed: another")
	other := Claimed{ID: 7, CreatedAt: c.CreatedAt.Add(time.Microsecond)}
	require.NotEqual(t, first, idempotencyKey(other), "another installation's message 7")
}

func TestABatchIsSplitUntilTheBadOneStandsAlone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 60).Draw(t, "items")
		bad := rapid.SliceOfDistinct(rapid.IntRange(0, n-1), rapid.ID).Draw(t, "bad ones")
		isBad := map[int]bool{}
		for _, b := range bad {
			isBad[b] = true
		}
		items := make([]int, n)
		for i := range items {
			items[i] = i
		}
		done, alone := map[int]int{}, map[int]int{}
		err := split(items, func(xs []int) error {
			for _, x := range xs {
				if isBad[x] {
					return errors.New("bad data")
				}
			}
			for _, x := range xs {
				done[x]++
			}
			return nil
		}, inData, func(x int, _ error) { alone[x]++ })
		require.NoError(t, err)
		for i := range n {
			require.Equal(t, 1, done[i]+alone[i])
			require.Equal(t, isBad[i], alone[i] == 1)
		}
	})
}

func TestABatcherLetsAFloodGather(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBatcher[int](10 * time.Millisecond)
		began := time.Now()
		next := func(most int) (int, time.Duration) { return len(b.next(t.Context(), most)), time.Since(began) }
		at := func(n int, after time.Duration, most int) {
			t.Helper()
			got, when := next(most)
			require.Equal(t, n, got)
			require.Equal(t, after, when)
		}
		b.add(1)
		at(1, 0, 100)
		b.add(2)
		at(1, 0, 100) // one after the other is no flood
		b.add(make([]int, crowd)...)
		at(crowd, 0, 100)
		b.add(1)
		go func() {
			<-time.After(4 * time.Millisecond)
			b.add(2, 3)
		}()
		at(3, 10*time.Millisecond, 100)
		b.add(make([]int, 2*crowd)...)
		at(crowd, 10*time.Millisecond, crowd)
		at(crowd, 10*time.Millisecond, crowd) // a full batch does not wait
	})
}

func TestABatcherLosesNothing(t *testing.T) {
	t.Parallel()
	b := newBatcher[int](time.Millisecond)
	ctx, cancel := context.WithCancel(t.Context())
	got := make(chan []int, 1000)
	done := make(chan struct{})
	for range 3 {
		go func() {
			for {
				batch := b.next(ctx, 7)
				if batch == nil {
					done <- struct{}{}
					return
				}
				got <- batch
			}
		}()
	}
	for i := range 500 {
		b.add(i)
	}
	seen := map[int]bool{}
	for len(seen) < 500 {
		batch := <-got
		require.LessOrEqual(t, len(batch), 7)
		for _, i := range batch {
			require.False(t, seen[i])
			seen[i] = true
		}
	}
	cancel()
	for range 3 {
		<-done
	}
}
