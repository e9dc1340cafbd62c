package delivery

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/delivery/account"
	"github.com/iris-oncall/iris/internal/delivery/rate"
	"github.com/iris-oncall/iris/internal/delivery/stage"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// Found is the answer to a search for waiting work.
type Found struct {
	Clock   time.Time // the database's, when it searched
	Oldest  time.Time // available_at of the oldest waiting message; zero = none
	Waiting []rate.Waiting
}

// Take asks for messages of one lane.
type Take struct {
	Lane    rate.Lane
	Max     int
	Buckets []int // where the lane has work, in the order in which to search
	// Waited, when not 0, leaves out messages that have had their mode for a shorter time. Messages older than Older
	// are taken all the same.
	Waited, Older time.Duration
	// FirstWaited replaces Waited for messages that have not failed in every mode yet.
	FirstWaited time.Duration
}

// PerBucket is how many messages the take may get from one bucket.
func (t Take) PerBucket() int { return rate.PerBucket(t.Max, len(t.Buckets)) }

// TakeRequest asks for messages of several lanes at once.
type TakeRequest struct {
	ProcessID string
	Leases    []buckets.Lease // of the buckets named in Takes, at least
	StandIns  []buckets.Lease // the same, for buckets of owners that do not serve the mode of the lanes
	Takes     []Take
	Low       time.Time     // no message that became available earlier is waiting; zero = not known
	ClaimFor  time.Duration // how long the claims last
}

// Claimed is a message that this process may send as long as the claim lasts.
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
	FallbackAsked   bool         // every mode failed once, and a fallback recipient was asked for
	CreatedAt       time.Time    // by the database's clock
	IncidentAt      time.Time    // when the incident was opened; zero = out of band
	Age             time.Duration
	InMode          time.Duration // since it was made or got this mode; 0 = no attempt in it yet
	Waited          time.Duration // since it was made or got this mode
	Expired         bool          // too late to be of use
	Batch           string        // the digest that it is, or is part of; "" = none
	BatchSize       int           // of a digest: how many pages it stands for
	Sender          string        // of a digest: address from which its e-mail comes; "" = the configured one
	Override        bool          // an SMS whose recipient's carrier blocks the text of templates
}

// Recovered is a message whose attempt is in doubt.
type Recovered struct {
	ID         messages.ID
	IncidentID incidents.ID
	Bucket     int
	Mode       users.Mode
	Attempt    int
}

// Unsent is a page that has not been sent in time.
type Unsent struct {
	ID          messages.ID
	IncidentID  incidents.ID
	Mode        users.Mode
	Application string
	Age         time.Duration
}

// Queue is where messages wait. Its methods are safe for concurrent use.
type Queue interface {
	// Waiting finds the lanes that have messages to be taken in the given buckets. Messages available earlier than low
	// may be missed; the zero time misses none.
	Waiting(ctx context.Context, bs []int, low time.Time) (Found, error)
	// Take claims messages in the order of the request. It takes nothing from a bucket whose lease is not (or no
	// longer) this process's in that epoch, and nothing from a bucket of StandIns that has changed its owner. A message
	// that a process has taken may be taken again only when its claim is over or that process is not live.
	Take(ctx context.Context, r TakeRequest) ([]Claimed, error)
	stage.Mover
}

// Rescuer recovers the messages of dead processes. Its methods are safe for concurrent use.
type Rescuer interface {
	// Sending lists messages that are still marked as sending after their claim ended: in the given buckets those of
	// processes that are not live, and in every bucket those of this process.
	Sending(ctx context.Context, processID string, bs []int) ([]Recovered, error)
	// Doubt labels those attempts as in doubt and makes their messages pending again.
	Doubt(ctx context.Context, rs []Recovered) error
	// NoteUnsent finds pages of the given buckets that are unsent although the time after has passed since they became
	// due. It adds a line to their timelines and returns them, each page once. Pages made at or before low are left
	// out; the zero time leaves out none.
	NoteUnsent(ctx context.Context, bs []int, after time.Duration, low time.Time) ([]Unsent, error)
	// Expire drops pending messages that have expired. It returns their number.
	Expire(ctx context.Context, leases []buckets.Lease, processID string) (int, error)
}

// Limits keeps the rates and pauses of the whole cluster. Its methods are safe for concurrent use.
type Limits interface {
	rate.Limits
	// Pauses returns the accounts and modes that must not be used, and for how long.
	Pauses(ctx context.Context) ([]account.Pause, error)
	// SetPause pauses an account for all processes, unless it is paused for longer already.
	SetPause(ctx context.Context, key string, d time.Duration, reason string) error
}

// Leases returns the identity of this process and the buckets that it may work on now. Its methods do not block.
type Leases interface {
	ProcessID() string
	Leases() []buckets.Lease
	// StandIns are the buckets of members that lack modes which this process serves.
	StandIns() []buckets.StandIn
}

// Served knows which modes other processes serve.
type Served interface {
	// Unserved returns those of the modes that no live process has served for 30 seconds.
	Unserved(ctx context.Context, modes []users.Mode) ([]users.Mode, error)
}

// Directory reads how an application can reach a user. ok is false when there is no such user or application.
type Directory interface {
	Reach(ctx context.Context, user users.ID, application int64) (r users.Responder, app users.AppModes, ok bool,
		err error)
}

// Links makes the URLs in messages. Its methods return "" if no link can be made.
type Links interface {
	// AckURL returns the URL that acknowledges an incident. If incident is 0, it acknowledges all incidents of the
	// digest message.
	AckURL(incident incidents.ID, message messages.ID, user users.ID) string
	IncidentURL(incident incidents.ID) string
}

// Hints sends the other processes hints about the work that waits here. Demand must not block and may lose hints.
type Hints interface {
	Demand(hint []byte)
}
