package incidents

import (
	"encoding/json"
	"time"

	"github.com/iris-oncall/iris/internal/instant"
)

// Alert is one alert of a group, as its sender described it. Its instants are of the sender's clock: they are compared with
// each other only. They are exact to the microsecond, because that is what PostgreSQL stores.
type Alert struct {
	Fingerprint string // the sender's name of the alert
	Firing      bool
	StartsAt    time.Time       // zero = the sender named none
	EndsAt      time.Time       // zero = not over, or unknown
	Labels      json.RawMessage // an object; empty = none
	Annotations json.RawMessage // an object; empty = none
}

// KnownAlert is what is stored of an alert.
type KnownAlert struct {
	Firing    bool
	StartsAt  time.Time
	Unchanged time.Duration // how long ago Firing or StartsAt changed, on our clock
}

// Late says which firing deliveries are late: another peer sent them, or meant to send them, before their group was resolved.
type Late struct {
	Within time.Duration // after the resolve; 0 = no delivery is late
	Hold   time.Duration // how long a late delivery waits for the resolve that follows it; 0 = none waits
}

// Holds reports whether a firing delivery waits on the incident that a delivery resolved sinceResolve ago. It does if it brings
// nothing but occurrences (fingerprint and start) that this incident knows to be resolved. An alert without a start matches none.
func (l Late) Holds(delivered []Alert, known map[string]KnownAlert, sinceResolve time.Duration) bool {
	if l.Within <= 0 || l.Hold <= 0 || sinceResolve > l.Within {
		return false
	}
	firing := false
	for _, a := range delivered {
		if !a.Firing {
			continue
		}
		firing = true
		k, ok := known[a.Fingerprint]
		if !ok || k.Firing || a.StartsAt.IsZero() || !a.StartsAt.Equal(k.StartsAt) {
			return false
		}
	}
	return firing
}

// New returns how many firing alerts of a delivery an open incident does not know yet. A known alert that starts anew counts. One
// that is resolved and fires again with the same start counts unless the delivery is late.
func (l Late) New(delivered []Alert, known map[string]KnownAlert) int {
	n := 0
	for _, a := range delivered {
		if !a.Firing {
			continue
		}
		k, ok := known[a.Fingerprint]
		again := ok && !a.StartsAt.IsZero() && !k.StartsAt.IsZero() && !a.StartsAt.Equal(k.StartsAt)
		back := ok && !k.Firing && (a.StartsAt.IsZero() || k.Unchanged > l.Within)
		if !ok || again || back {
			n++
		}
	}
	return n
}

// The limits of restarts.
const (
	RestartPause   = 5 * time.Minute
	RestartsPerDay = 24
)

// Exhaustion is what the decision about a restart needs to know of an incident whose plan is exhausted.
type Exhaustion struct {
	At          time.Time     // zero = before this was recorded
	Restarts    []time.Time   // of the last day at least, oldest first
	RepageAfter time.Duration // the plan's; 0 = never
}

// Restart returns when a delivery starts the escalation again: now, later, or never (zero). News is a delivery with a new alert:
// it is never forgotten, only put off until the limits allow it. A repeat without news counts only at the moment it comes.
func (e Exhaustion) Restart(news bool, now time.Time) time.Time {
	earliest := now
	if n := len(e.Restarts); n > 0 {
		earliest = instant.Later(earliest, e.Restarts[n-1].Add(RestartPause))
		if n >= RestartsPerDay {
			earliest = instant.Later(earliest, e.Restarts[n-RestartsPerDay].Add(24*time.Hour))
		}
	}
	repeat := !e.At.IsZero() && e.RepageAfter > 0 && now.Sub(e.At) >= e.RepageAfter
	if news || repeat && !earliest.After(now) {
		return earliest
	}
	return time.Time{}
}
