package account

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/messages"
)

func TestMoveAfterEachAttempt(t *testing.T) {
	t.Parallel()
	b := DefaultBudgets()[messages.ClassUrgent]
	fresh := State{ModeAttempt: 1, InMode: 10 * time.Millisecond, Age: time.Second}
	tired := State{ModeAttempt: 9, InMode: b.PerMode, Age: 30 * time.Second}
	old := State{ModeAttempt: 1, InMode: 0, Age: 2 * time.Minute}
	ancient := State{ModeAttempt: 1, Age: b.GiveUp}
	for _, c := range []struct {
		name string
		s    State
		r    messages.Result
		want Move
	}{
		{"sent", fresh, messages.Result{Outcome: messages.OutcomeSent}, Done},
		{"rejected", fresh, messages.Result{Outcome: messages.OutcomeRejected}, NextOnly},
		{"rejected after ages", ancient, messages.Result{Outcome: messages.OutcomeRejected}, NextOnly},
		{"unavailable", fresh, messages.Result{Outcome: messages.OutcomeUnavailable}, Retry},
		{"unavailable for the mode's whole budget", tired, messages.Result{Outcome: messages.OutcomeUnavailable}, Next},
		{"unavailable when the whole budget is used up", old, messages.Result{Outcome: messages.OutcomeUnavailable},
			Next},
		{"unavailable for hours", ancient, messages.Result{Outcome: messages.OutcomeUnavailable}, Fail},
		{"throttled shortly", fresh, messages.Result{Outcome: messages.OutcomeThrottled, RetryAfter: 3 * time.Second},
			Retry},
		{"throttled beyond the budget", fresh, messages.Result{Outcome: messages.OutcomeThrottled,
			RetryAfter: time.Minute}, Next},
		{"unknown", fresh, messages.Result{Outcome: messages.OutcomeUnknown}, Retry},
		{"not begun", fresh, messages.Result{Outcome: messages.OutcomeCancelled}, Retry},
		{"not begun for the mode's whole budget", tired, messages.Result{Outcome: messages.OutcomeCancelled}, Next},
	} {
		got, wait := b.After(c.s, c.r)
		require.Equal(t, c.want, got, c.name)
		if c.r.RetryAfter > 0 {
			require.GreaterOrEqual(t, wait, c.r.RetryAfter, c.name)
		}
	}
}

func TestUrgentPagesTryThreeModesWithinAMinute(t *testing.T) {
	t.Parallel()
	b := DefaultBudgets()[messages.ClassUrgent]
	require.LessOrEqual(t, b.Total, time.Minute)
	require.LessOrEqual(t, 3*b.PerMode, b.Total, "three modes get their chance")
}

func TestRetryGapsGrowWithJitter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := DefaultBudgets()[rapid.IntRange(0, rate.ClassCount-1).Draw(t, "class")]
		n := rapid.IntRange(1, 10000).Draw(t, "attempts")
		g := b.Gap(n, rapid.Float64Range(0, 0.999).Draw(t, "spread"))
		require.GreaterOrEqual(t, g, b.FirstGap/2)
		require.LessOrEqual(t, g, b.MostGap)
		require.LessOrEqual(t, b.Gap(n, 0.5), b.Gap(n+1, 0.5))
	})
}

func TestEveryAccountGetsAShareOfTheBudget(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := Budget{PerMode: 20 * time.Second}
		n := rapid.IntRange(1, 5).Draw(t, "accounts")
		last := 0
		seen := map[int]bool{}
		for at := time.Duration(0); at < b.PerMode; at += 100 * time.Millisecond {
			i := b.AccountAt(at, n)
			require.GreaterOrEqual(t, i, last)
			require.Less(t, i, n)
			last, seen[i] = i, true
		}
		require.Len(t, seen, n)
	})
}
