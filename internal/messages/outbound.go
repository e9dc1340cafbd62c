package messages

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/users"
)

// Outbound is a rendered message ready for one vendor call.
type Outbound struct {
	MessageID      ID
	Attempt        int
	Mode           users.Mode
	Destination    string
	Subject        string // see Content for what subject, body and HTML hold per mode
	Body           string // sms and call: the whole text to send or say, already cut
	EmailHTML      string // e-mail: always filled
	Slack          SlackText
	Application    string
	Plan           string
	Priority       users.Priority
	Target         string       // name of the recipient
	IncidentID     incidents.ID // 0 = out of band, a notice, or the recipient is no user
	Batch          string       // id of the digest, 32 hexadecimal digits: answers to it apply to all its incidents
	ShownTo        string       // e-mail: recipients that the mail names, separated by commas; it is sent to Destination only
	Sender         string       // custom sender address, "" = the vendor's configured one
	ReplyTo        string       // e-mail: address for answers; "" = the vendor's choice
	ThreadKey      string       // same for all messages of one incident to one recipient (e-mail threading)
	AckURL         string       // signed acknowledgement link, "" if there is nothing to acknowledge
	IncidentURL    string       // page of the incident
	IdempotencyKey string       // same for retries of an attempt in doubt
	// BeginBefore is the latest instant at which the vendor may write the first byte that can page: the SMTP command
	// MAIL, an HTTP request. A vendor checks it immediately before that byte, after pool, dial, TLS, greeting and
	// look-ups. If it has passed, the vendor sends nothing and returns NotBegun. Zero = no limit.
	BeginBefore time.Time
}

// TooLate reports whether BeginBefore has passed at now.
func (m Outbound) TooLate(now time.Time) bool {
	return !m.BeginBefore.IsZero() && now.After(m.BeginBefore)
}

// NotBegun is the result of a call that sent nothing because its BeginBefore had passed.
func NotBegun() Result {
	return Result{Outcome: OutcomeCancelled, Detail: "the call was not begun: it would have been too late"}
}

// Result is the result of a vendor call.
type Result struct {
	Outcome         Outcome
	Detail          string        // the vendor's answer, cleaned and cut; never secrets
	RetryAfter      time.Duration // Throttled: time until the next try; 0 = unknown
	VendorMessageID string
	// BeforeRecipient: the call failed before the recipient was named, in the connection, the log-in or the sender.
	// Such a failure is the account's; all others may be the recipient's.
	BeforeRecipient bool
	// DestinationGone: the destination itself was refused (no such user, opted out).
	DestinationGone bool
}

// Vendor sends messages of one or more modes through one account. Send returns within ctx's deadline and never panics.
// It maps every answer to an Outcome: Unknown if the request may have been accepted. It is called from many goroutines.
type Vendor interface {
	// Name is the vendor's kind (smtp, slack, twilio, webhook, push, drop); Account distinguishes accounts of one kind.
	Name() string
	Account() string
	Modes() []users.Mode
	Send(ctx context.Context, m Outbound) Result
}

// Preparer is a Vendor whose calls need preparation before the first byte that can page: a connection with TLS and
// greeting. The worker prepares before it marks the message, so that the call begins at once. It is safe for concurrent
// use.
type Preparer interface {
	// Prepare returns within ctx's deadline. If ok is false, r says why nothing can be sent now (never Unknown: nothing
	// was sent). Otherwise the caller calls exactly one of Send and Release on p.
	Prepare(ctx context.Context, m Outbound) (p Prepared, r Result, ok bool)
}

// Pooled is a Vendor with a bounded number of connections. The worker makes at most as many calls at once, so that no
// call waits for a connection.
type Pooled interface {
	// Connections is how many calls of one mode can have a connection at once.
	Connections() int
}

// Prober is a Vendor that can check its account without sending a message. The worker probes an account whose calls
// fail before the recipient is named. It is safe for concurrent use.
type Prober interface {
	// Probe returns within ctx's deadline.
	Probe(ctx context.Context) (reached bool)
}

// Prepared is one call whose connection is ready.
type Prepared interface {
	// Send makes the call, as Vendor.Send does.
	Send(ctx context.Context, m Outbound) Result
	// Release returns the connection to the pool without a call.
	Release()
}

// Receipt is a vendor's later report on a message (delivered, bounced).
type Receipt struct {
	Vendor          string
	VendorMessageID string
	Status          string  // the vendor's own status
	Outcome         Outcome // Sent = not settled yet, Rejected or Unavailable = failed
	Delivered       bool
	Detail          string
}
