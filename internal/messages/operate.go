package messages

import (
	"time"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/users"
)

// Purge selects the pending messages that an operator drops. Zero fields match everything.
type Purge struct {
	Application string
	Mode        users.Mode
	IncidentID  incidents.ID
	OutOfBand   bool          // only messages that belong to no incident
	OlderThan   time.Duration // since they were made
	Actor, Why  string        // for the timeline and the messages' audit log
}

// ownApplication sends links that give access and codes. They are not sent again: they may have been used or replaced.
const ownApplication = "iris"

// MayResend returns a Conflict fault if an operator cannot send a message again.
func MayResend(s State, p Purpose, application string) error {
	switch {
	case s == Pending || s == Taken || s == Sending:
		return fault.New(fault.Conflict, "the message is not sent yet: wait until it was sent or failed")
	case s == Aggregated || p == Digest:
		return fault.New(fault.Conflict, "a digest cannot be sent again: send the pages of its incidents again")
	case p.Notice() || p == TrackingMsg:
		return fault.New(fault.Conflict, "only pages and notifications can be sent again")
	case application == ownApplication:
		return fault.New(fault.Conflict, "messages of Iris itself are not sent again, because they may have codes or links: ask for a new one")
	}
	return nil
}
