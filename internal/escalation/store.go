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

// Work reads due work, without locks. Of its errors, and those of Ledger, Digests and Timers, one of kind Unavailable is about
// the database, any other about the data. A zero `now` means the database's clock. All are used from several goroutines.
type Work interface {
	// Due returns incidents of the leased buckets that are due, in the order of the leases.
	Due(ctx context.Context, leases []buckets.Lease, ask Ask) ([]Due, error)
	// NextDue returns how long it is until an incident of the leased buckets is due; 0 or less when one is.
	NextDue(ctx context.Context, leases []buckets.Lease, now time.Time) (time.Duration, error)
	// Resume makes paused incidents of any bucket due whose plan and application are no longer paused, and returns how many.
	Resume(ctx context.Context, now time.Time) (int, error)
	// Failed returns messages of the leased buckets that failed for good in every mode.
	Failed(ctx context.Context, leases []buckets.Lease, ask Ask) ([]Failed, error)
}

// Ledger writes what the runner decided. Every method is one transaction that first checks the leases. If one was lost, it
// writes nothing and returns a *buckets.LostError.
type Ledger interface {
	// Commit writes the changes of incidents that are still as they were read, and returns which those were.
	Commit(ctx context.Context, processID string, leases []buckets.Lease, changes []Change) ([]incidents.ID, error)
	// Cancel cancels what has not left of those of the incidents that are no longer active.
	Cancel(ctx context.Context, processID string, leases []buckets.Lease, ids []incidents.ID, now time.Time) error
	// Delay puts an incident off that cannot be decided, with a line for its timeline (no line if it has no text), unless it
	// was changed since it was read.
	Delay(ctx context.Context, processID string, d Due, by time.Duration, entry incidents.Entry, now time.Time) error
	// CommitFallbacks writes what becomes of failed messages that are still as they were read.
	CommitFallbacks(ctx context.Context, processID string, leases []buckets.Lease, changes []FallbackChange, now time.Time) error
}

// Reader reads plans, applications and people in batches. What does not exist is missing from the answer. It is called
// from several goroutines.
type Reader interface {
	Plans(ctx context.Context, ids []PlanID) (map[PlanID]Plan, error)
	Applications(ctx context.Context, ids []int64) (map[int64]Application, error)
	Responders(ctx context.Context, keys []users.ResponderKey) (map[users.ResponderKey]users.Responder, error)
}

// Application is what escalation must know of an application.
type Application struct {
	ID       int64
	Name     string
	Modes    users.AppModes
	Fallback *Target
}

// Ask limits a read of due work.
type Ask struct {
	Limit     int       // in all
	PerBucket int       // so that one bucket's backlog does not hide the others'
	Excluded  []int64   // messages, or incidents that still escalate, not to return
	Now       time.Time // tests only; zero = the database's clock
}

// Due is an incident that must be looked at, as it was read.
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
	Progress          Progress // with everything observed
	ProgressErr       error    // the stored progress could not be read; Progress is empty
	Seen              Seen
	Dynamic           map[int]Target // targets given by the incident, by dynamic index
}

// Seen is what was seen of an incident's messages. A change written after one of them settled must not be built on it,
// because it would put the incident's next look off beyond the end of a wait.
type Seen struct {
	Unsettled int
	LastAt    time.Time // when the last one settled
}

// RoundFact is what became of the messages of one round.
type RoundFact struct {
	Step, Position, Repeat int
	Unsettled              int
	SettledAt              time.Time // zero = none settled
	Lost                   bool      // every message failed for good, and no fallback is to come
}

// Observe puts what became of the messages into p and sums it up.
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
	Visible  bool      // something happened that clients see as an update
	Entries  []incidents.Entry
	Messages []messages.New
	Nobody   int // notifications of it that nobody at all hears of

	At          time.Time    // when it was decided
	Application string       // name, for the words about floods
	Plan        string       // name, for the log
	Aggregation *Aggregation // what the plan says about floods; nil = nothing
}

// Failed is a message that failed for good in every mode, as it was read.
type Failed struct {
	ID    messages.ID
	Lease buckets.Lease
	// Trying tells that the message is still being sent: its vendors are away, and it may arrive yet.
	Trying bool
	Open   bool // nobody has acknowledged or resolved its incident; always false out of band
	// Made is how it was made; Wait, Template and everything else carry over to the fallback.
	Made messages.New
	// Others are those whom the same round, or request, has further messages for.
	Others []Told
}

// Told is somebody whom there is a message for, and what became of it.
type Told struct {
	Recipient messages.Recipient
	Fate      Fate
}

// knows reports whether the round has a message for who with one of the fates.
func (f Failed) knows(who users.ID, fates ...Fate) bool {
	to := messages.ToUser(who)
	return slices.ContainsFunc(f.Others, func(t Told) bool { return t.Recipient == to && slices.Contains(fates, t.Fate) })
}

// OutOfBand reports whether the message belongs to no incident.
func (f Failed) OutOfBand() bool { return f.Made.IncidentID == 0 }

// FallbackChange is what becomes of a failed message. Its mark is cleared in any case.
type FallbackChange struct {
	Failed   Failed
	Messages []messages.New
	Entries  []incidents.Entry // of its incident
	Changes  []messages.Change // of its audit log
	Nobody   bool              // there is no further fallback
}

// LeasesOf returns the leases of works, ascending by bucket, each once; of a bucket met under two epochs the older, so
// that the fence refuses it.
func LeasesOf[T any](works []T, of func(T) buckets.Lease) []buckets.Lease {
	epochs := map[int]int64{}
	for _, w := range works {
		l := of(w)
		if e, ok := epochs[l.Bucket]; !ok || l.Epoch < e {
			epochs[l.Bucket] = l.Epoch
		}
	}
	out := make([]buckets.Lease, 0, len(epochs))
	for b, e := range epochs {
		out = append(out, buckets.Lease{Bucket: b, Epoch: e})
	}
	slices.SortFunc(out, func(a, b buckets.Lease) int { return a.Bucket - b.Bucket })
	return out
}
