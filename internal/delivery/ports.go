package delivery

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// What callers of this package need of package rate.
type (
	Lane        = rate.Lane
	Rate        = rate.Limit
	Waiting     = rate.Waiting
	Reservation = rate.Reservation
	Granted     = rate.Granted
)

// Found is the answer to a look for waiting work.
type Found struct {
	Clock   time.Time // the database's, when it looked
	Oldest  time.Time // available_at of the oldest waiting message; zero = none
	Waiting []Waiting
}

// Take asks for messages of one lane.
type Take struct {
	Lane    Lane
	Max     int
	Buckets []int // where the lane has work, in the order in which to look
	// Waited and Older, when not 0, leave out messages that have had their mode for less than Waited, unless they are older than
	// Older.
	Waited, Older time.Duration
	// FirstWaited replaces Waited for messages that have not been tried in vain in every mode yet.
	FirstWaited time.Duration
}

// PerBucket is how many messages the take may get from one bucket.
func (t Take) PerBucket() int { return rate.PerBucket(t.Max, len(t.Buckets)) }

// TakeRequest asks for messages of several lanes at once.
type TakeRequest struct {
	ProcessID string
	Leases    []buckets.Lease // of the buckets named in Takes, at least
	Takes     []Take
	Low       time.Time     // nothing available earlier than that is waiting (see Watermark); zero = unknown
	ClaimFor  time.Duration // how long the claims last
}

// Claimed is a message that this process may bring on its way as long as the claim lasts.
type Claimed struct {
	ID              messages.ID
	Bucket          int
	IncidentID      incidents.ID
	RequestID       int64
	ApplicationID   int64
	ApplicationName string
	PlanID          int64
	Step            int
	Position        int
	Recipient       messages.Recipient
	Purpose         messages.Purpose
	UserID          users.ID // 0 = literal recipient
	Target          string
	Priority        users.Priority
	Class           messages.Class
	Mode            users.Mode
	Template        string
	Destination     string // contact for Mode, or the literal destination; "" = none
	Allowed         bool   // the application may use Mode
	Gone            bool   // the user has been deactivated since the message was made
	Attempt         int    // vendor attempts begun so far
	ModeAttempt     int    // of those, in this mode
	KeyAttempt      int    // attempt whose idempotency key is to be used again; 0 = a new key
	Takes           int    // takes since the last attempt began, this one included
	Tried           []users.Mode
	Refused         []users.Mode // modes in which it was rejected for good: never tried again
	FallbackAsked   bool         // every mode was tried in vain once: somebody else was asked to be told
	CreatedAt       time.Time    // by the database's clock
	IncidentAt      time.Time    // when the incident was opened; zero = out of band
	Age             time.Duration
	InMode          time.Duration // since it was made or got this mode; 0 = no attempt in it yet
	Waited          time.Duration // since it was made or got this mode
	Expired         bool          // too late to be of use
	Batch           string        // the digest that it is, or is part of; "" = none
	BatchSize       int           // of a digest: how many pages it stands for
	Sender          string        // of a digest: address from which its e-mail comes; "" = the configured one
	Override        bool          // an SMS whose recipient's carrier blocks what templates say
}

// Start is a message that is about to be handed to a vendor.
type Start struct {
	ID          messages.ID
	Vendor      string
	Account     string
	Destination string
	Key         string        // idempotency key
	CallFor     time.Duration // how long the claim must outlast now
	Subject     string
	Body        string
	EmailHTML   string
	Problem     string // why the words are not the template's; "" = they are
	IncidentID  incidents.ID
	Replaced    string // why the words are others than the template's, for the audit log; "" = they are not
}

// Verdict is where a message goes next.
type Verdict struct {
	State       messages.State // Sent, Pending, Failed or Dropped
	RetryIn     time.Duration  // Pending: not to be taken before
	Mode        users.Mode     // Pending: another mode; "" = the same
	Tried       []users.Mode   // with Mode or Failed: what was tried so far
	Refused     []users.Mode
	SameKey     bool // Pending: the last attempt is in doubt, its idempotency key stays
	AskFallback bool // every mode was tried in vain: somebody else must be told
	ForGood     bool // Failed: nothing can reach the recipient; never because of an outage
	Unstarted   bool // Pending: the call was not begun, so an earlier attempt in doubt stays in doubt
	// Audit is what the message's audit log says; "" = what Why says.
	Audit string
	Why   string // a sentence for the timeline and the message's audit log; "" = nothing worth telling
}

// Turn changes a message that was taken but goes elsewhere than to a vendor.
type Turn struct {
	ID         messages.ID
	IncidentID incidents.ID
	Mode       users.Mode // it had so far
	Verdict    Verdict
}

// Outcome is what became of an attempt.
type Outcome struct {
	Turn
	Attempt int
	Result  messages.Result
	// ProcessID, when not empty, says whose attempt this must be: that of somebody else with the same number is let be.
	ProcessID string
}

// Recovered is a message whose attempt is in doubt.
type Recovered struct {
	ID         messages.ID
	IncidentID incidents.ID
	Bucket     int
	Mode       users.Mode
	Attempt    int
}

// Unsent is a page that has not left in time.
type Unsent struct {
	ID          messages.ID
	IncidentID  incidents.ID
	Mode        users.Mode
	Application string
	Age         time.Duration
}

// Queue is where messages wait. Its methods are safe for concurrent use.
type Queue interface {
	// Waiting finds the lanes that have messages to be taken in the given buckets. Messages available earlier than low may be
	// overlooked; the zero time overlooks none.
	Waiting(ctx context.Context, bs []int, low time.Time) (Found, error)
	// Take claims messages in the order of the request. It takes nothing from a bucket whose lease is not (or no longer)
	// this process's in that epoch, and nothing that somebody is working on: what was taken is taken again when its claim is
	// over or its process is not live.
	Take(ctx context.Context, r TakeRequest) ([]Claimed, error)
	// Release puts taken messages back as if they had not been taken.
	Release(ctx context.Context, processID string, ids []messages.ID) error
	// Turn moves taken messages on without a vendor call.
	Turn(ctx context.Context, processID string, turns []Turn) error
}

// Ledger records attempts. Its methods are safe for concurrent use.
type Ledger interface {
	// MarkSending begins attempts: for each message that this process still holds, and whose incident nobody has
	// acknowledged or resolved, it writes the attempt and its words and returns the attempt's number. A message that is
	// missing from the answer must not be sent.
	MarkSending(ctx context.Context, processID string, starts []Start) (map[messages.ID]int, error)
	// StillOpen reads marked messages again and returns those that may be sent: this process is sending them, and nobody has
	// acknowledged or resolved their incident. at is an instant just before the read was sent to the database.
	StillOpen(ctx context.Context, processID string, ids []messages.ID) (open map[messages.ID]bool, at time.Time, err error)
	// Record completes attempts and moves their messages on, whatever happened to the bucket meanwhile. Where the message
	// has moved on without us only the attempt is completed; those are returned.
	Record(ctx context.Context, outcomes []Outcome) (late []messages.ID, err error)
}

// Rescuer repairs what dead processes left behind. Its methods are safe for concurrent use.
type Rescuer interface {
	// Sending lists messages that are being sent, although their claim is over, by processes that are not live, in the
	// given buckets; and by this process, in any bucket.
	Sending(ctx context.Context, processID string, bs []int) ([]Recovered, error)
	// Doubt labels those attempts as in doubt and makes their messages pending again.
	Doubt(ctx context.Context, rs []Recovered) error
	// NoteUnsent notes on their timelines that pages of the given buckets have not left that long after they became due, each
	// page once. Pages made at or before low are overlooked; the zero time overlooks none.
	NoteUnsent(ctx context.Context, bs []int, after time.Duration, low time.Time) ([]Unsent, error)
	// Expire drops pending messages that are no longer of use.
	Expire(ctx context.Context, leases []buckets.Lease, processID string) (int, error)
}

// Pause keeps everybody from using an account ("account:twilio/main") or a mode ("mode:sms").
type Pause struct {
	Key    string
	For    time.Duration
	Reason string
}

// Limits is what slows the whole cluster down. Its methods are safe for concurrent use.
type Limits interface {
	rate.Limits
	// Pauses returns the accounts and modes that must not be used, and for how long.
	Pauses(ctx context.Context) ([]Pause, error)
	// SetPause pauses an account for everybody, unless it is paused for longer already.
	SetPause(ctx context.Context, key string, d time.Duration, reason string) error
}

// Leases tells which buckets this process may work on now.
type Leases interface {
	ProcessID() string
	Leases() []buckets.Lease
}

// Renderer puts messages into words, in the order given. An error means that nothing could be rendered for want of data.
type Renderer interface {
	Render(ctx context.Context, reqs []messages.Request) ([]messages.Content, error)
}

// Directory knows how a user can be reached for an application. ok is false when there is no such user or application.
type Directory interface {
	Reach(ctx context.Context, user users.ID, application int64) (r users.Responder, app users.AppModes, ok bool, err error)
}

// Links makes the addresses that stand in messages. Both return "" when there is nothing to link to.
type Links interface {
	// AckURL acknowledges an incident; without one, all those of the digest that the message is.
	AckURL(incident incidents.ID, message messages.ID, user users.ID) string
	IncidentURL(incident incidents.ID) string
}

// Hints tells the other processes what waits here. Demand must not block and may lose what it is given.
type Hints interface {
	Demand(hint []byte)
}
