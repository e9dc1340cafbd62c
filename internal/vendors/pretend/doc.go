// Package pretend plays the vendors: a mail server, Slack, Twilio, Firebase and a webhook receiver, as real servers on loopback
// addresses. `iris dev` shows what they received, `iris bench` counts it, tests check promises against it.
//
// They are strict: credentials, required fields, sizes and sender identity are checked the way the real ones do, so
// that what works here is not refused there. They enforce rates, and misbehave on request (see Behaviour), from Go
// or over HTTP. Everything they were asked is in one Log, in the order in which it was decided.
package pretend

import "time"

// Rate is how much a pretend vendor takes: Burst at once, then PerSecond. The zero value has no limit.
type Rate struct {
	PerSecond float64 `json:"per_second"`
	Burst     int     `json:"burst"`
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
