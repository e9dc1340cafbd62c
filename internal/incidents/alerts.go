package incidents

import (
	"encoding/json"
	"time"
)

// Alert is one alert of a group, as its sender described it. Its instants are on the sender's clock and compared only
// with each other. Their precision is a microsecond, as PostgreSQL stores them.
type Alert struct {
	Fingerprint string // the sender's id of the alert
	Firing      bool
	StartsAt    time.Time       // zero = unknown
	EndsAt      time.Time       // zero = not over, or unknown
	Labels      json.RawMessage // an object; empty = none
	Annotations json.RawMessage // an object; empty = none
}

// KnownAlert is the stored state of an alert.
type KnownAlert struct {
	Firing    bool
	StartsAt  time.Time
	Unchanged time.Duration // how long ago Firing or StartsAt changed, on our clock
}

// Late decides which firing deliveries are late. A late delivery comes from a peer of the sender's cluster that did not
// know yet that the group was resolved.
type Late struct {
	Within time.Duration // after the resolve; 0 = no delivery is late
	Hold   time.Duration // how long a late delivery waits for a further resolve; 0 = none waits
}

// Holds reports whether a firing delivery waits on an incident that another delivery resolved sinceResolve ago. It
// waits if the incident knows each of its firing alerts, by fingerprint and start, as resolved. An alert without a
// start is never known.
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

// KeepEarlyResolves is how long a resolve that found no open incident is remembered.
const KeepEarlyResolves = 2 * time.Minute

// EarlyResolve is a resolve that found no open incident.
type EarlyResolve struct {
	Starts map[string]time.Time // of the resolved alerts by fingerprint; zero = unknown
	At     time.Time            // when it arrived, on our clock
	Ago    time.Duration
	// Repeated: the source resolved this key several times in a short time. Such a source reports a state again and
	// again, so a firing delivery without a start is a new occurrence.
	Repeated bool
}

// keepWithoutStart is how long a resolve without a start holds a firing delivery: only the order of two deliveries that
// were sent at the same time is in doubt. Later, it is more likely a new outage.
const keepWithoutStart = 15 * time.Second

// HoldsEarly reports whether a firing delivery is late because a resolve of the same occurrence came before it: the
// resolve names each of its firing alerts, and none with a later start. If that is in doubt, it is not late.
func (l Late) HoldsEarly(delivered []Alert, r EarlyResolve) bool {
	if l.Within <= 0 || l.Hold <= 0 || r.Ago > min(l.Within, KeepEarlyResolves) {
		return false
	}
	firing := false
	for _, a := range delivered {
		if !a.Firing {
			continue
		}
		firing = true
		start, ok := r.Starts[a.Fingerprint]
		switch {
		case !ok:
			return false
		case start.IsZero() && (r.Repeated || a.StartsAt.After(r.At) || r.Ago > keepWithoutStart):
			return false
		case !start.IsZero() && (a.StartsAt.IsZero() || a.StartsAt.After(start)):
			return false
		}
	}
	return firing
}

// New returns the number of firing alerts of a delivery that are new to an open incident. A known alert with another
// start counts. A resolved alert that fires again with the same start counts unless the delivery is late.
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

// Exhaustion is what the decision about a restart needs to know about an incident whose plan is exhausted.
type Exhaustion struct {
	At          time.Time     // zero = before this was recorded
	Restarts    []time.Time   // of the last day at least, oldest first
	RepageAfter time.Duration // the plan's; 0 = never
}

// Restart returns when a delivery starts the escalation again: now, later, or never (zero). news means that the
// delivery has a new alert: then the restart is never lost, only delayed until the limits allow it. A delivery without
// news restarts now or not at all.
func (e Exhaustion) Restart(news bool, now time.Time) time.Time {
	earliest := NextRestart(e.Restarts, now)
	repeat := !e.At.IsZero() && e.RepageAfter > 0 && now.Sub(e.At) >= e.RepageAfter
	if news || repeat && !earliest.After(now) {
		return earliest
	}
	return time.Time{}
}

// AlertCount is how many alerts an incident has, and how many of them fire.
type AlertCount struct{ Alerts, Firing int }
