package system

import (
	"time"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// OwnApplication is the application through which Iris sends messages of its own.
const OwnApplication = auth.SessionApplication

// Purge selects the pending messages that an operator drops. Zero fields match everything.
type Purge struct {
	Application string
	Mode        users.Mode
	IncidentID  int64
	OutOfBand   bool          // only messages that belong to no incident
	OlderThan   time.Duration // since they were made
	Actor, Why  string        // for the timeline and the messages' audit log
}

// Purged is what a purge did.
type Purged struct {
	Dropped int  `json:"dropped"`
	More    bool `json:"more"` // more messages match; the purge ran out of time
}

// MayResend returns a Conflict fault if an operator cannot send a message again.
func MayResend(s messages.State, p messages.Purpose, application string) error {
	switch {
	case s == messages.Pending || s == messages.Taken || s == messages.Sending:
		return fault.New(fault.Conflict, "the message is not sent yet: wait until it was sent or failed")
	case s == messages.Aggregated || p == messages.Digest:
		return fault.New(fault.Conflict, "a digest cannot be sent again: send the pages of its incidents again")
	case p.Notice() || p == messages.TrackingMsg:
		return fault.New(fault.Conflict, "only pages and notifications can be sent again")
	case application == OwnApplication:
		return fault.New(fault.Conflict,
			"messages of Iris itself are not sent again, because they may have codes or links: ask for a new one")
	}
	return nil
}
