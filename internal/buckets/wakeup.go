package buckets

import "strings"

// Wakeup is the buckets that have work for escalation, and those that have work for delivery.
type Wakeup struct{ Escalation, Delivery Set }

// Union adds the buckets of another wake-up.
func (w *Wakeup) Union(other Wakeup) {
	w.Escalation.Union(other.Escalation)
	w.Delivery.Union(other.Delivery)
}

// String returns one set if both are equal, else both. A release that knows only one set wakes all buckets for two.
func (w Wakeup) String() string {
	if w.Escalation == w.Delivery {
		return w.Escalation.String()
	}
	return w.Escalation.String() + " " + w.Delivery.String()
}

// ParseWakeup is the reverse of String. For a payload of another release it returns all buckets.
func ParseWakeup(payload string) Wakeup {
	escalation, delivery, two := strings.Cut(payload, " ")
	if !two {
		delivery = escalation
	}
	e, err := ParseSet(escalation)
	d, err2 := ParseSet(delivery)
	if err != nil || err2 != nil {
		return Wakeup{All(), All()}
	}
	return Wakeup{e, d}
}
