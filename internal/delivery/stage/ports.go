package stage

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// Start is a message whose attempt begins.
type Start struct {
	ID          messages.ID
	Vendor      string
	Account     string
	Destination string
	Key         string        // idempotency key
	CallFor     time.Duration // how long the claim must last from now on
	Subject     string
	Body        string
	EmailHTML   string
	Problem     string // why the text is not the template's; "" = it is
	IncidentID  incidents.ID
	Replaced    string // why the template's text was replaced, for the audit log; "" = it was not
}

// Verdict is where a message goes next.
type Verdict struct {
	State       messages.State // Sent, Pending, Failed or Dropped
	RetryIn     time.Duration  // Pending: pause before it may be taken again
	Mode        users.Mode     // Pending: another mode; "" = the same
	Tried       []users.Mode   // with Mode or Failed: modes that were tried so far
	Refused     []users.Mode   // modes in which it was rejected for good
	SameKey     bool           // Pending: the last attempt is in doubt, its idempotency key stays
	AskFallback bool           // no mode worked: a fallback recipient must be notified
	ForGood     bool           // Failed: nothing can reach the recipient; never because of an outage
	Unstarted   bool           // Pending: the call was not begun, so an earlier attempt in doubt stays in doubt
	// Audit is the text for the message's audit log; "" = Why.
	Audit string
	Why   string // a sentence for the timeline and the message's audit log; "" = none
}

// Turn moves a taken message on without a vendor call.
type Turn struct {
	ID         messages.ID
	IncidentID incidents.ID
	Mode       users.Mode // before the move
	Verdict    Verdict
}

// Outcome is the result of an attempt and the next state of its message.
type Outcome struct {
	Turn
	Attempt int
	Result  messages.Result
	// ProcessID, when not empty, is the process that must have made the attempt: an attempt of another process with the
	// same number is not changed.
	ProcessID string
}

// Ledger records attempts. Its methods are safe for concurrent use.
type Ledger interface {
	// MarkSending begins attempts: for each message that this process still holds, and whose incident has not been
	// acknowledged or resolved, it writes the attempt and its text and returns the attempt's number. A message that is
	// missing from the answer must not be sent.
	MarkSending(ctx context.Context, processID string, starts []Start) (map[messages.ID]int, error)
	// StillOpen reads marked messages again and returns those that may be sent: they are still marked by this process,
	// and their incidents are not acknowledged or resolved. at is an instant just before the read was sent to the
	// database.
	StillOpen(ctx context.Context, processID string, ids []messages.ID) (open map[messages.ID]bool, at time.Time,
		err error)
	// Record completes attempts and moves their messages on, even if this process has lost the bucket. If another
	// process has moved a message meanwhile, only the attempt is completed, and the message's ID is returned.
	Record(ctx context.Context, outcomes []Outcome) (late []messages.ID, err error)
}

// Mover moves taken messages. Its methods are safe for concurrent use.
type Mover interface {
	// Release puts taken messages back as if they had not been taken. One whose incident, or every incident of its
	// digest, was stopped meanwhile is cancelled.
	Release(ctx context.Context, processID string, ids []messages.ID) error
	// Turn moves taken messages on without a vendor call.
	Turn(ctx context.Context, processID string, turns []Turn) error
}
