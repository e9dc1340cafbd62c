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
