package messages

import (
	"strconv"
	"strings"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/filters"
	"github.com/iris-oncall/iris/internal/users"
)

// ID is a message's number, also on the wire; people use it in replies.
type ID int64

// State of a message. See ARCHITECTURE.md for the diagram.
type State string

// The states.
const (
	Pending    State = "pending"
	Taken      State = "taken"   // claimed by a process, no call yet
	Sending    State = "sending" // a vendor call may be running
	Sent       State = "sent"    // the vendor accepted it
	Delivered  State = "delivered"
	Failed     State = "failed"     // every mode failed for good
	Cancelled  State = "cancelled"  // acknowledged or resolved before it was sent
	Aggregated State = "aggregated" // held for a digest
	Dropped    State = "dropped"    // deliberately discarded (mode drop, expired, purged)
)

// Purpose is why a message exists. It distinguishes messages of the same decision.
type Purpose string

// The purposes.
const (
	Primary     Purpose = "primary"
	Copy        Purpose = "copy"
	Fallback    Purpose = "fallback"
	TrackingMsg Purpose = "tracking"
	Direct      Purpose = "direct" // a person asked for it after the escalation was stopped: an acknowledgement does not stop it
	Digest      Purpose = "digest" // stands for several pages to one person; belongs to no single incident
	// FollowUp is the kind of later notifications about a page. Their purposes are numbered: see FollowUpNumber.
	FollowUp Purpose = "follow-up"
	// The notices page nobody: an acknowledgement does not stop them, and they have no other modes and no fallback.
	ResolvedNotice Purpose = "resolved-notice" // to people who were paged: the incident is resolved
	OwnerNotice    Purpose = "owner-notice"    // to the owner of an acknowledged incident: there is news
	// StatusUpdate is what subscribers of an incident get out of band. It never calls and sends no text.
	StatusUpdate Purpose = "update"
)

// Notice reports whether the message is a notice, not a page.
func (p Purpose) Notice() bool { return p == ResolvedNotice || p == OwnerNotice }

// OneMode reports whether the message is sent in its mode or not at all.
func (p Purpose) OneMode() bool { return p.Notice() || p == StatusUpdate }

// Allows reports whether the message may be sent by a mode.
func (p Purpose) Allows(m users.Mode) bool {
	return p != StatusUpdate || m == users.Email || m == users.Slack || m == users.Webhook || m == users.Drop
}

// FollowUpNumber returns the purpose of the n-th follow-up of a person's rule. The number distinguishes the follow-ups
// of a page (promise P3).
func FollowUpNumber(n int) Purpose { return FollowUp + "-" + Purpose(strconv.Itoa(n)) }

// Kind returns the purpose without the number of a follow-up.
func (p Purpose) Kind() Purpose {
	if strings.HasPrefix(string(p), string(FollowUp)+"-") {
		return FollowUp
	}
	return p
}

// Class orders messages of a mode. A lower class is sent first; the other classes keep a small guaranteed share.
type Class int

// The classes.
const (
	ClassUrgent    Class = 0 // urgent and high incident messages
	ClassRoutine   Class = 1 // other incident messages
	ClassOutOfBand Class = 2
)

// ClassOf returns the class of an incident message.
func ClassOf(p users.Priority) Class {
	if p == users.Urgent || p == users.High {
		return ClassUrgent
	}
	return ClassRoutine
}

// Outcome is the result of an attempt, independent of the vendor.
type Outcome string

// The outcomes.
const (
	OutcomeSent        Outcome = "sent"
	OutcomeRejected    Outcome = "rejected"    // permanent: next mode at once
	OutcomeThrottled   Outcome = "throttled"   // try again after RetryAfter
	OutcomeUnavailable Outcome = "unavailable" // definite failure, worth retrying
	OutcomeUnknown     Outcome = "unknown"     // request sent, no definite answer: in doubt
	OutcomeCancelled   Outcome = "cancelled"   // the call was not begun
)

// Recipient identifies the recipient of a message within its decision: a user or a literal destination.
type Recipient string

// ToUser is the Recipient of a user.
func ToUser(id users.ID) Recipient { return Recipient("user:" + strconv.FormatInt(int64(id), 10)) }

// ToLiteral is the Recipient of a literal destination.
func ToLiteral(dest string) Recipient { return Recipient("literal:" + dest) }

// User returns the user's id, or false for a literal recipient.
func (r Recipient) User() (users.ID, bool) {
	s, ok := strings.CutPrefix(string(r), "user:")
	if !ok {
		return 0, false
	}
	id, err := strconv.ParseInt(s, 10, 64)
	return users.ID(id), err == nil
}

// New is a message to be created. Its key (incident or request, reopen, step, repeat, position, recipient, purpose)
// makes it exist exactly once (promise P3).
type New struct {
	IncidentID    incidents.ID // 0 = out of band
	RequestID     int64        // 0 = of an incident
	ApplicationID int64
	PlanID        int64
	Reopen        int
	Step          int
	Position      int
	Repeat        int
	Recipient     Recipient
	Purpose       Purpose
	Target        string         // name shown on the wire
	Priority      users.Priority // "" for tracking and some out-of-band messages
	Class         Class
	Mode          users.Mode
	Literal       string // fixed destination, for literal recipients
	Template      string
	FallbackOf    ID
	ExpiresAt     time.Time // zero = never
	Wait          time.Duration
	Held          time.Time // when it was held for a digest; zero = it is sent at once
	// After is how long after it was made the message may be sent; 0 = at once. Until then it counts as sent for its
	// step.
	After     time.Duration
	Batch     string // of a digest: its number, 32 hexadecimal digits
	BatchSize int    // of a digest: how many pages it stands for
	// Changes are lines for the message's audit log: a mode or target other than the plan asked for.
	Changes []Change
}

// Attempt is one vendor call.
type Attempt struct {
	MessageID       ID
	Number          int
	Mode            users.Mode
	Vendor          string
	Account         string
	Destination     string
	ProcessID       string
	StartedAt       time.Time
	FinishedAt      time.Time // zero while it runs
	Outcome         Outcome   // "" while it runs
	InDoubt         bool
	Late            bool
	Detail          string
	VendorMessageID string
}

// Message is a message as the API and the pages show it, queued or settled.
type Message struct {
	ID                       ID
	State                    State
	IncidentID               incidents.ID
	RequestID                int64
	Application              string
	Target                   string
	Mode                     users.Mode
	Priority                 users.Priority
	Purpose                  Purpose
	Step                     int
	Repeat                   int
	Destination              string
	Subject, Body, EmailHTML string
	Plan, Template           string // Template "" = the built-in text
	Batch                    string // the digest that it belongs to, or is; "" = none
	CreatedAt                time.Time
	SentAt                   time.Time // zero if it was not sent
	ModeChanged              bool
	TargetChanged            bool
	Attempts                 []Attempt
}

// Change is one line of a message's audit log.
type Change struct {
	ID          int64     `json:"-"`
	At          time.Time `json:"at"`
	Type        string    `json:"type"` // mode-change, target-change, sent-change, content-change
	Old         string    `json:"old"`
	New         string    `json:"new"`
	Description string    `json:"description"`
}

// FilterSchema names the filter fields of GET /v0/messages.
var FilterSchema = filters.Schema{
	"id": filters.Int, "active": filters.Flag, "batch": filters.Text, "created": filters.Time, "sent": filters.Time,
	"destination": filters.Text, "subject": filters.Text, "incident_id": filters.Int, "mode": filters.Text,
	"application": filters.Text, "priority": filters.Text, "target": filters.Text, "body": filters.Text,
}

// QueueDepth is how many messages wait in one mode, class and application. Ages are on the database's clock.
type QueueDepth struct {
	Mode        users.Mode
	Application string
	Class       Class
	Waiting     int64         // pending
	InFlight    int64         // taken or sending
	OldestAge   time.Duration // of the oldest waiting message; 0 when none waits
}
