// Package pretend has fake vendors: a mail server, Slack, Twilio, Firebase and a webhook receiver, as real servers on loopback
// addresses. `iris dev` shows the messages that they received, `iris bench` counts them, tests compare them with the promises.
//
// The servers are strict: they check credentials, required fields, sizes and sender identity as the real ones do, so that a
// message that they accept is accepted there too. They enforce rates, and misbehave on request (see Behaviour), from Go or over
// HTTP. One Log has all requests, in the order of their decisions.
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
