package messages

import "time"

const (
	// receiptRetries is how often a mode is retried after receipts like "busy" or "no answer".
	receiptRetries = 2
	// receiptPause is the pause before such a retry.
	receiptPause = 20 * time.Second
)

// Undelivered is what happens to a message that its vendor accepted and could not deliver.
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

// Undelivered decides what happens to the message of a receipt that is NotDelivered. open reports whether the message is still
// wanted: its incident waits for an answer in the same step. attempts is how many were made in the mode.
func (r Receipt) Undelivered(open bool, attempts int) Undelivered {
	switch {
	case !open:
		return Undelivered{Failed: true}
	case r.Outcome == OutcomeUnavailable && attempts <= receiptRetries:
		return Undelivered{Retry: receiptPause}
	}
	return Undelivered{}
}
