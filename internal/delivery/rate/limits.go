package rate

import (
	"context"
	"math"
	"time"

	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/users"
)

// Limit is a rate that the cluster keeps as a whole.
type Limit struct {
	PerSecond float64
	Burst     int // starts that may come at once after a pause; 0 = 1
}

// interval is the time between two slots, rounded up to what the database counts in.
func (l Limit) interval() time.Duration {
	return time.Duration(math.Ceil(1e6/l.PerSecond)) * time.Microsecond
}

// ModeKey is the key of a mode's limit or pause.
func ModeKey(m users.Mode) string { return "mode:" + string(m) }

// AccountKey is the key of a vendor account's limit or pause.
func AccountKey(vendor, account string) string { return "account:" + vendor + "/" + account }

// ApplicationKey is the key of the limit of an application's messages in a mode.
func ApplicationKey(name string, m users.Mode) string { return "app:" + name + "/" + string(m) }

// keyKind returns the part of a limit's key before the colon, as a label of metrics.
func keyKind(key string) string {
	for _, kind := range []string{"mode", "account", "app"} {
		if len(key) > len(kind) && key[:len(kind)+1] == kind+":" {
			return kind
		}
	}
	return "other"
}

// Lane is the messages of one class and application in one mode.
type Lane struct {
	Mode        users.Mode
	Class       messages.Class
	Application int64
}

// Waiting is a lane's work in one bucket.
type Waiting struct {
	Lane
	ApplicationName string
	Bucket          int
	DueIn           time.Duration // until its first message may be taken; 0 or less = now
}

// Reservation asks for the next free slots of a limit, one for each offset. The slot of Offsets[i] begins at that
// offset after the database's now, or at most Tolerance later. Offsets without such a slot are left out of the answer.
type Reservation struct {
	Key      string
	Interval time.Duration // between slots: 1 / rate
	Burst    int           // slots that may lie at the same instant after a pause, at least 1
	Offsets  []time.Duration
	// Instants, when not empty, are instants of the database's clock that replace "now plus the offset", one for each
	// offset.
	Instants  []time.Time
	Tolerance time.Duration
	// OnlyIfWithin, when not 0: nothing is granted if the limit's next free slot is further away.
	OnlyIfWithin time.Duration
	// Lead is how long before a slot this process must have it. The limit remembers the longest of all processes for 10
	// s.
	Lead time.Duration
}

// Granted is the answer to a Reservation: instants of the database's clock.
type Granted struct {
	Before time.Time     // the database's clock before it waited for the limit's row
	Clock  time.Time     // the database's clock when it decided
	Next   time.Time     // the limit's next free slot after this reservation
	Lead   time.Duration // the longest lead of the processes that share the limit
	Index  []int         // which of the offsets were granted
	Slots  []time.Time
}

// Limits reserves slots of the cluster's limits. It is safe for concurrent use.
type Limits interface {
	Reserve(ctx context.Context, r Reservation) (Granted, error)
}

// Observer counts and logs failures. Its methods must not block.
type Observer interface {
	// SlotsExpired counts reserved slots of a limit that could not be used in time; kind is mode, account or app.
	SlotsExpired(kind string, n int)
	// ReserveFailed reports a failed reservation. It is tried again.
	ReserveFailed(key string, err error)
}

// Shared is the state that all Dealers of one process share: the limits, the database's clock, and the waiting work
// here and in other processes. It is safe for concurrent use.
type Shared struct {
	Demand *Demand
	Peers  Peers

	limits     Limits
	configured map[string]Limit
	observer   Observer
	clock      dbClock
}

// NewShared returns what the Dealers of one process share. A key without an entry in configured is not limited.
func NewShared(l Limits, configured map[string]Limit, o Observer) *Shared {
	return &Shared{Demand: NewDemand(), limits: l, configured: configured, observer: o}
}

// limit returns the configured limit of a key.
func (s *Shared) limit(key string) (Limit, bool) {
	l, ok := s.configured[key]
	return Limit{l.PerSecond, max(1, l.Burst)}, ok
}

// reserved is the result of a reservation, on this process's clock.
type reserved struct {
	slots map[int]Slot  // by the index of their offset
	next  time.Time     // the limit's next free instant
	far   time.Duration // the longest lead of the processes that share the limit
}

// reserveWithin bounds a reservation.
const reserveWithin = 2 * time.Second

// reserve asks for slots.
func (s *Shared) reserve(ctx context.Context, p *Pace, r Reservation) (reserved, error) {
	ctx, cancel := context.WithTimeout(ctx, reserveWithin)
	defer cancel()
	sent := time.Now()
	g, err := s.limits.Reserve(ctx, r)
	if err != nil {
		return reserved{}, err
	}
	received := time.Now()
	p.reserved(received.Sub(sent))
	s.clock.learn(g, sent, received)
	out := reserved{slots: make(map[int]Slot, len(g.Slots)), next: s.clock.instant(g.Next), far: g.Lead}
	for i, at := range g.Index {
		out.slots[at] = s.clock.slot(g.Slots[i])
	}
	return out, nil
}
