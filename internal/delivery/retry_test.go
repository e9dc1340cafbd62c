package delivery

import (
	"testing"
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
