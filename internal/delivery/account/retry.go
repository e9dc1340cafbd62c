package account

import (
	"math"
	"time"

	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/messages"
)

// Budget is how long a message of a class is tried.
type Budget struct {
	PerMode  time.Duration // in one mode, spare accounts included; then the next mode is tried
	Total    time.Duration // after which each further mode gets one attempt only
	GiveUp   time.Duration // after which it fails for good; fallback recipients were notified long before
	FirstGap time.Duration // before the second attempt; doubles from there
	MostGap  time.Duration // the longest pause between two attempts
}

// DefaultBudgets returns the default budgets by class. An urgent page gets its next mode after 20 s. After 60 s in all,
// each further mode gets one attempt only.
func DefaultBudgets() [rate.ClassCount]Budget {
	return [rate.ClassCount]Budget{
		messages.ClassUrgent: {PerMode: 20 * time.Second, Total: time.Minute, GiveUp: time.Hour,
			FirstGap: 500 * time.Millisecond, MostGap: 5 * time.Second},
		messages.ClassRoutine: {PerMode: 2 * time.Minute, Total: 6 * time.Minute, GiveUp: 2 * time.Hour,
			FirstGap: time.Second, MostGap: 15 * time.Second},
		messages.ClassOutOfBand: {PerMode: 10 * time.Minute, Total: 30 * time.Minute, GiveUp: 2 * time.Hour,
			FirstGap: 2 * time.Second, MostGap: 30 * time.Second},
	}
}

// spareAfter is the part of a mode's budget that the first account gets while there is a spare.
const spareAfter = 0.6

// AccountAt returns the index of the account (of n) for a message that has been tried in its mode for inMode.
func (b Budget) AccountAt(inMode time.Duration, n int) int {
	if n < 2 || b.PerMode <= 0 {
		return 0
	}
	first := time.Duration(float64(b.PerMode) * spareAfter)
	if inMode < first {
		return 0
	}
	each := (b.PerMode - first) / time.Duration(n-1)
	if each <= 0 {
		return n - 1
	}
	return min(n-1, 1+int((inMode-first)/each))
}

// Gap is the pause after n failed attempts. It is random between half and all of the full pause: spread is in [0, 1).
func (b Budget) Gap(n int, spread float64) time.Duration {
	g := float64(b.FirstGap) * math.Pow(2, float64(max(0, n-1)))
	g = min(g, float64(b.MostGap))
	return time.Duration(g * (0.5 + spread/2))
}

// State is the input of Budget.After besides the result of the attempt.
type State struct {
	Class       messages.Class
	ModeAttempt int           // attempts in this mode, the last one included
	InMode      time.Duration // since it got the mode
	Age         time.Duration // since the message was made
	Spread      float64       // random, in [0, 1)
}

// Move is what follows an attempt.
type Move int

// What follows an attempt.
const (
	Done     Move = iota // the vendor has it
	Retry                // the same mode again
	Next                 // the next mode; when there is none left, begin again with the first
	NextOnly             // the next mode; when there is none left, it failed for good
	Fail                 // failed for good
)

// leastUnstarted is the number of attempts in a mode before a message leaves the mode because no call could be begun in
// time. A message that waited long for a slot may miss the slot by chance, and must get another try.
const leastUnstarted = 4

// After decides what follows an attempt, and for Retry the pause before it.
func (b Budget) After(s State, r messages.Result) (Move, time.Duration) {
	switch r.Outcome {
	case messages.OutcomeSent:
		return Done, 0
	case messages.OutcomeRejected:
		return NextOnly, 0
	case messages.OutcomeCancelled: // no call was begun, but the time counts for the mode's budget
		wait := b.Gap(1, s.Spread)
		if s.InMode+wait >= b.PerMode && s.ModeAttempt >= leastUnstarted {
			return Next, wait
		}
		return Retry, wait
	}
	if s.Age >= b.GiveUp {
		return Fail, 0
	}
	wait := b.Gap(s.ModeAttempt, s.Spread)
	if r.Outcome == messages.OutcomeThrottled {
		wait = max(wait, r.RetryAfter)
	}
	if s.Age >= b.Total || s.InMode+wait >= b.PerMode {
		return Next, wait
	}
	return Retry, wait
}
