package messages

import "time"

const (
	// receiptRetries is how often a mode is retried after receipts like "busy" or "no answer".
	receiptRetries = 2
	// receiptPause is the pause before such a retry.
	receiptPause = 20 * time.Second
)

// Undelivered is the decision about a message that its vendor accepted but could not deliver.
type Undelivered struct {
	// Failed: the message is not sent again.
	Failed bool
	// Retry is the pause before the next attempt in the same mode; 0 = the next mode is tried at once.
	Retry time.Duration
}

// NotDelivered reports whether the vendor could not deliver the message.
func (r Receipt) NotDelivered() bool {
	return r.Outcome == OutcomeRejected || r.Outcome == OutcomeUnavailable
}

// Wanted is the state of a message that was not delivered, and of its incident.
type Wanted struct {
	OfIncident        bool // false: an out-of-band notification
	Open              bool // the incident escalates, or is exhausted
	Step, CurrentStep int  // of the message (0 = none) and of the incident, which stays in its last step when its plan is exhausted
	Repeated          bool // a later repeat to the same recipient exists
}

// Holds reports whether the message is still worth sending: it has no incident, or nothing stopped the pages of the
// incident, the incident is in the message's step, and no later repeat replaced the message.
func (w Wanted) Holds() bool {
	if !w.OfIncident {
		return true
	}
	return w.Open && (w.Step == 0 || w.Step == w.CurrentStep) && !w.Repeated
}

// Undelivered decides what happens to the message of a receipt that is NotDelivered. open reports whether the message
// is still wanted: its incident waits for an answer in the same step. attempts is how many were made in the mode.
func (r Receipt) Undelivered(open bool, attempts int) Undelivered {
	switch {
	case !open:
		return Undelivered{Failed: true}
	case r.Outcome == OutcomeUnavailable && attempts <= receiptRetries:
		return Undelivered{Retry: receiptPause}
	}
	return Undelivered{}
}
