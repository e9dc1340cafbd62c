package escalation

import (
	"context"
	"slices"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// Reader reads plans, applications and people in batches. The answer leaves out what does not exist. It is called from
// several goroutines.
type Reader interface {
	Plans(ctx context.Context, ids []PlanID) (map[PlanID]Plan, error)
	Applications(ctx context.Context, ids []int64) (map[int64]Application, error)
	Responders(ctx context.Context, keys []users.ResponderKey) (map[users.ResponderKey]users.Responder, error)
}

// Application is what escalation needs to know about an application.
type Application struct {
	ID       int64
	Name     string
	Modes    users.AppModes
	Fallback *Target
}

// Due is an incident that must be decided, as it was read.
type Due struct {
	ID                incidents.ID
	Lease             buckets.Lease // under which it was read
	PlanID            PlanID
	ApplicationID     int64
	CreatedAt         time.Time
	DueAt             time.Time
	ReadAt            time.Time // the instant at which it is decided
	Active            bool
	Version           int
	PlanPaused        bool
	ApplicationPaused bool
	Progress          Progress // with all observations
	ProgressErr       error    // the stored progress could not be read; Progress is empty
	Seen              Seen
	Dynamic           map[int]Target // targets given by the incident, by dynamic index
}

// Seen is the state of an incident's messages when the incident was read. Storage does not write a change if the state
// has changed since: the due time of the change would not count a message that settled meanwhile.
type Seen struct {
	Unsettled int
	LastAt    time.Time // when the last one settled
}

// Equal reports whether the messages are in the same state.
func (s Seen) Equal(other Seen) bool {
	return s.Unsettled == other.Unsettled && s.LastAt.Equal(other.LastAt)
}

// RoundFact is the state of the messages of one round.
type RoundFact struct {
	Step, Position, Repeat int
	Unsettled              int
	SettledAt              time.Time // zero = none settled
	Lost                   bool      // every message failed for good, and no fallback is pending
}

// Observe copies the state of the messages to p and returns its sum.
func Observe(p *Progress, facts []RoundFact) Seen {
	var seen Seen
	for _, f := range facts {
		seen.Unsettled += f.Unsettled
		if f.SettledAt.After(seen.LastAt) {
			seen.LastAt = f.SettledAt
		}
		if f.Step != p.Step || f.Position >= len(p.Notifications) || f.Position < 0 {
			continue
		}
		if r := &p.Notifications[f.Position]; f.Repeat == r.Made-1 {
			r.Unsettled, r.SettledAt, r.Lost = f.Unsettled, f.SettledAt, f.Lost
		}
	}
	p.Unsettled = seen.Unsettled
	return seen
}

// Change is what is written about one incident.
type Change struct {
	ID       incidents.ID
	Lease    buckets.Lease
	Version  int  // as it was read
	Seen     Seen // as it was read
	Progress Progress
	Active   bool
	DueAt    time.Time // zero = never
	Visible  bool      // clients see the change as an update of the incident
	Entries  []incidents.Entry
	Messages []messages.New
	Nobody   int // number of notifications that reached nobody, not even a fallback

	At          time.Time    // when it was decided
	Application string       // name, for the timeline entries about floods
	Plan        string       // name, for the log
	Aggregation *Aggregation // the plan's settings for floods; nil = none
}

// Failed is a message that failed for good in every mode, as it was read.
type Failed struct {
	ID    messages.ID
	Lease buckets.Lease
	// Trying: the message is still being sent. Its vendors have an outage, and it may still arrive.
	Trying bool
	Open   bool // nobody has acknowledged or resolved its incident; always false out of band
	// Made is the failed message as it was made. Wait, Template and all other fields carry over to the fallback.
	Made messages.New
	// Others are the other messages of the same round or request.
	Others []OtherMessage
}

// OtherMessage is a message of the same round or request to another recipient.
type OtherMessage struct {
	Recipient messages.Recipient
	Fate      Fate
}

// knows reports whether the round has a message for the user with one of the fates.
func (f Failed) knows(who users.ID, fates ...Fate) bool {
	to := messages.ToUser(who)
	return slices.ContainsFunc(f.Others, func(t OtherMessage) bool {
		return t.Recipient == to &&
			slices.Contains(fates, t.Fate)
	})
}

// OutOfBand reports whether the message belongs to no incident.
func (f Failed) OutOfBand() bool { return f.Made.IncidentID == 0 }

// FallbackChange is the decision about a failed message. Storage clears the failed mark in any case.
type FallbackChange struct {
	Failed   Failed
	Messages []messages.New
	Entries  []incidents.Entry // of its incident
	Changes  []messages.Change // for its audit log
	Nobody   bool              // there is no further fallback
}
