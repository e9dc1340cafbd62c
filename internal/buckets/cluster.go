package buckets

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Member is a message processor as it describes itself.
type Member struct {
	// ProcessID is random for every start; it is never a host's name.
	ProcessID  string
	Host       string
	GossipAddr string // host:port where its gossip listens; empty without gossip
	Version    string
	DataShape  int      // the highest shape of data that it reads
	Modes      []string // the modes that it has a vendor for; they never change. nil = it is of a release that does not say
	Draining   bool     // it releases its buckets and acquires none
	// ClockSkew is how far its clock is ahead of the clock of the database; nil = it does not say.
	ClockSkew *time.Duration
}

// MemberState is a member as the database knows it.
type MemberState struct {
	Member
	StartedAt   time.Time
	HeartbeatAt time.Time
	Age         time.Duration // of the heartbeat, measured by the database
	Ended       bool          // EndedStore recorded that the process has ended
}

// LeaseState is the row of one bucket. If the bucket is free, Owner is empty and Since is zero.
type LeaseState struct {
	Owner string
	Epoch int64
	Since time.Time
}

// View is the state of the cluster in the database at one moment.
type View struct {
	Members []MemberState // ascending by process id, dead ones included until they are reaped
	Leases  [Count]LeaseState
}

// Limits are the ages of a heartbeat above which its member counts as dead.
type Limits struct {
	Fresh        time.Duration // by the database alone
	SuspectFresh time.Duration // for members that gossip also reports as dead
}

// DefaultLimits are the limits of a production cluster. Every process must use the same.
func DefaultLimits() Limits {
	return Limits{Fresh: 3 * time.Second, SuspectFresh: 1500 * time.Millisecond}
}

// Acquisition requests buckets that are free or whose owners are dead.
type Acquisition struct {
	ProcessID string
	Buckets   Set
	Suspects  []string // members that gossip reports as dead
	Limits    Limits
}

// Store is the database side of membership. All times are the database's. Implementations are safe for concurrent use.
type Store interface {
	// Beat writes m's heartbeat and deletes members that have been dead for a minute. It notifies the others if m is
	// new. A member that an operator drains stays draining, whatever m.Draining is.
	Beat(ctx context.Context, m Member) error
	// View reads members and leases.
	View(ctx context.Context) (View, error)
	// Acquire gives the process those of the wanted buckets that have no live owner, and raises their epochs. It does
	// not wait for a lock, and gives nothing to a process that is not live. The second result counts buckets taken from
	// a dead owner.
	Acquire(ctx context.Context, a Acquisition) ([]Lease, int, error)
	// Release frees those of bs that the process owns, and notifies the others. Buckets in use by a running transaction
	// stay owned. It returns the freed ones.
	Release(ctx context.Context, processID string, bs Set) (Set, error)
	// Leave frees all buckets of the process, deletes its row and notifies the others.
	Leave(ctx context.Context, processID string) error
}

// Detector reports members that seem dead, and notifies others. It may be wrong and late: a report only shortens the
// time after which the database's limits count a member as dead.
type Detector interface {
	// Addr is the gossip address of this process, empty when gossip is not running.
	Addr() string
	// Suspects are the process ids that gossip reports as dead or gone.
	Suspects() []string
	// Announce makes the others read members and leases again. It does not block.
	Announce()
}

// noDetector is the Detector without gossip.
type noDetector struct{}

func (noDetector) Addr() string       { return "" }
func (noDetector) Suspects() []string { return nil }
func (noDetector) Announce()          {}

// alive reports whether a heartbeat of that age is fresh, and for how long it stays fresh.
func (l Limits) alive(m MemberState, suspects map[string]bool) (bool, time.Duration) {
	limit := l.Fresh
	if suspects[m.ProcessID] {
		limit = l.SuspectFresh
	}
	return m.Age < limit, limit - m.Age
}

// MayDrain returns a Conflict fault if no other live member could own the buckets of the member, and a NotFound fault
// if there is no such member.
func MayDrain(members []MemberState, processID string) error {
	found, others := false, false
	for _, m := range members {
		found = found || m.ProcessID == processID
		others = others || m.ProcessID != processID && !m.Draining && m.Age < DefaultLimits().Fresh
	}
	switch {
	case !found:
		return fault.New(fault.NotFound, "there is no message processor "+processID)
	case !others:
		return fault.New(fault.Conflict,
			"this is the only running message processor: nobody would be paged. Start another one first")
	}
	return nil
}
