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
	Slack          SlackWords
	Application    string
	Plan           string
	Priority       users.Priority
	Target         string       // name of the recipient
	IncidentID     incidents.ID // 0 = out of band or tracking without answers
	Batch          string       // number of the digest that it is, 32 hexadecimal digits: answers to it are about all its incidents
	ShownTo        string       // e-mail: recipients that the mail names, separated by commas; it goes to Destination alone
	Sender         string       // custom sender address, "" = the vendor's configured one
	ReplyTo        string       // e-mail: where answers go instead of the sender, "" = the vendor's choice
	ThreadKey      string       // same for all messages of one incident to one recipient (e-mail threading)
	AckURL         string       // signed acknowledgement link, "" when nothing can be acknowledged
	IncidentURL    string       // page of the incident
	IdempotencyKey string       // same for retries of an attempt in doubt
	// BeginBefore is the latest instant at which the vendor may write the first byte that can page: the SMTP command MAIL, an
	// HTTP request. A vendor checks it immediately before that byte, after pool, dial, TLS, greeting and look-ups. When it has
	// passed, the vendor sends nothing and answers NotBegun. Zero = no limit.
	BeginBefore time.Time
}

// TooLate reports whether BeginBefore has passed at now.
func (m Outbound) TooLate(now time.Time) bool {
	return !m.BeginBefore.IsZero() && now.After(m.BeginBefore)
}

// NotBegun is the result of a call that certainly sent nothing, because its BeginBefore had passed.
func NotBegun() Result {
	return Result{Outcome: OutcomeCancelled, Detail: "the call was not begun: it would have been too late"}
}

// Result is what a vendor call came to.
type Result struct {
	Outcome         Outcome
	Detail          string        // what the vendor said, cleaned and cut; never secrets
	RetryAfter      time.Duration // Throttled: when to come back; 0 = unknown
	VendorMessageID string
	// BeforeRecipient tells that the call failed before the recipient was named: the connection, the log-in, the sender. Such a
	// failure is the account's, all others may be the recipient's.
	BeforeRecipient bool
	// DestinationGone tells that the destination itself was refused (no such user, opted out).
	DestinationGone bool
}

// Vendor sends messages of one or more modes through one account. Send returns within ctx's deadline and never panics;
// every answer is mapped to an Outcome, Unknown when the request may have been accepted. It is called from many
// goroutines at once.
type Vendor interface {
	// Name is the vendor's kind (smtp, slack, twilio, webhook, push, drop); Account tells accounts of one kind apart.
	Name() string
	Account() string
	Modes() []users.Mode
	Send(ctx context.Context, m Outbound) Result
}

// Preparer is a Vendor whose calls need something that takes time before the first byte that can page: a connection with TLS
// and greeting. The worker prepares before it marks the message, so that the call itself begins at once. It is safe for
// concurrent use.
type Preparer interface {
	// Prepare returns within ctx's deadline. When ok is false, r says why nothing can be sent now (never Unknown: nothing was
	// sent). Otherwise exactly one of Send and Release is called on what it returns.
	Prepare(ctx context.Context, m Outbound) (p Prepared, r Result, ok bool)
}

// Pooled is a Vendor that bounds its connections. The worker makes at most as many calls at once, so that no call waits for a
// connection.
type Pooled interface {
	// Connections is how many calls of one mode have a connection at once.
	Connections() int
}

// Prober is a Vendor that finds out whether its account can be reached without sending a message. The worker probes an account
// with it whose calls fail before the recipient is named. It is safe for concurrent use.
type Prober interface {
	// Probe returns within ctx's deadline.
	Probe(ctx context.Context) (reached bool)
}

// Prepared is one call whose connection is ready.
type Prepared interface {
	// Send makes the call, as Vendor.Send does.
	Send(ctx context.Context, m Outbound) Result
	// Release gives the connection back without a call.
	Release()
}

// Receipt is a vendor's later word on a message (delivered, bounced).
type Receipt struct {
	Vendor          string
	VendorMessageID string
	Status          string  // the vendor's word
	Outcome         Outcome // Sent = still on its way, Rejected or Unavailable = failed
	Delivered       bool
	Detail          string
}
