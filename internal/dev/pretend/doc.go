// Package pretend simulates the vendors: a mail server, Slack, Twilio, Firebase and a webhook receiver, as real servers
// on loopback addresses. `iris dev` shows what they received, tests check promises against it.
//
// They are strict: they check credentials, required fields, sizes and sender identity as the real vendors do, so that a
// request that works here is not refused there. They enforce rates, and misbehave on request (see Behaviour). All
// requests are in one Log, in the order of the decisions.
package pretend

import "time"

// Rate is how many requests a pretend vendor accepts: Burst at once, then PerSecond. The zero value has no limit.
type Rate struct {
	PerSecond float64
	Burst     int
}

// Vendor names, as in the log.
const (
	SMTPVendor    = "smtp"
	SlackVendor   = "slack"
	TwilioVendor  = "twilio"
	WebhookVendor = "webhook"
	PushVendor    = "push"
)

// retryAfter is the Retry-After for a sender above the rate: whole seconds until the next request is accepted.
func retryAfter(wait time.Duration) int {
	return max(1, int((wait+time.Second-1)/time.Second))
}
