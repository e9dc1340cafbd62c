package incidents

import (
	"time"

	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// MaxSnooze is the longest snooze.
const MaxSnooze = 30 * 24 * time.Hour

// SnoozeEnd returns when a snooze that begins at now ends. The store calls it with the clock of the database, because a
// duration that is added on the clock of another machine ends early or late.
type SnoozeEnd func(now time.Time) time.Time

// SnoozeUntil ends a snooze at an instant.
func SnoozeUntil(until time.Time) SnoozeEnd { return func(time.Time) time.Time { return until } }

// SnoozeFor ends a snooze after a time.
func SnoozeFor(d time.Duration) SnoozeEnd { return func(now time.Time) time.Time { return now.Add(d) } }

// morning is the hour at which a snooze until tomorrow ends.
const morning = 9

// SnoozeTomorrow ends a snooze on the next day of a zone, at nine o'clock.
func SnoozeTomorrow(zone *time.Location) SnoozeEnd {
	return func(now time.Time) time.Time {
		now = now.In(zone)
		return time.Date(now.Year(), now.Month(), now.Day()+1, morning, 0, 0, 0, zone)
	}
}

// CheckSnooze returns an Invalid fault if a snooze cannot end at until.
func CheckSnooze(until, now time.Time) error {
	switch {
	case !until.After(now):
		return fault.Invalidf("until", "until must be in the future")
	case until.Sub(now) > MaxSnooze:
		return fault.Invalidf("until", "until must be within %d days", MaxSnooze/(24*time.Hour))
	}
	return nil
}

// NextRestart returns when escalation may start again at the earliest. restarts are those of the last day at least,
// oldest first.
func NextRestart(restarts []time.Time, now time.Time) time.Time {
	if n := len(restarts); n > 0 {
		now = clock.Later(now, restarts[n-1].Add(RestartPause))
		if n >= RestartsPerDay {
			now = clock.Later(now, restarts[n-RestartsPerDay].Add(24*time.Hour))
		}
	}
	return now
}
