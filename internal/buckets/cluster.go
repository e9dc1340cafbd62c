package buckets

import (
	"context"
	"time"
)

// Member is a message processor as it describes itself.
type Member struct {
	// ProcessID is random for every start; it is never a host's name.
	ProcessID  string
	Host       string
	GossipAddr string // host:port where its gossip listens; empty while it has none
	Version    string
	DataShape  int      // the highest shape of data that it reads
	Modes      []string // that it has a vendor for
	Draining   bool     // it gives its buckets away and takes no new ones
}

// MemberState is a member as the database knows it.
type MemberState struct {
	Member
	StartedAt   time.Time
	HeartbeatAt time.Time
	Age         time.Duration // of the heartbeat, measured by the database
}

// LeaseState is the row of one bucket. Owner is empty when the bucket is free; Since is zero then.
type LeaseState struct {
	Owner string
	Epoch int64
	Since time.Time
}

// View is what the database says about the cluster at one moment.
type View struct {
	Members []MemberState // ascending by process id, dead ones included until they are reaped
	Leases  [Count]LeaseState
}

// Limits says how old a heartbeat may be before its member counts as dead.
type Limits struct {
	Fresh        time.Duration // on the database's word alone
	SuspectFresh time.Duration // for those whom gossip holds for dead too
}

// DefaultLimits are those of a production cluster. Every process must use the same.
func DefaultLimits() Limits {
	return Limits{Fresh: 3 * time.Second, SuspectFresh: 1500 * time.Millisecond}
}

// Acquisition asks for buckets that are free or whose owners are dead.
type Acquisition struct {
	ProcessID string
	Buckets   Set
	Suspects  []string // whom gossip holds for dead
	Limits    Limits
}

// Store is the database side of membership. All times are the database's. Implementations are safe for concurrent use.
type Store interface {
	// Beat writes m's heartbeat and removes members that have been dead for a minute. Others are told when m is new.
	// A member that an operator drains stays draining whatever m.Draining says.
	Beat(ctx context.Context, m Member) error
	// View reads members and leases.
	View(ctx context.Context) (View, error)
	// Acquire gives those of the wanted buckets to the asking process that nobody alive owns, raising their epochs; it
	// never waits for a lock and gives nothing to a process that is not live itself. The second result counts those
	// that were taken from a dead owner.
	Acquire(ctx context.Context, a Acquisition) ([]Lease, int, error)
	// Release frees what the process owns of bs and tells the others. Buckets in use by a running transaction stay
	// owned; the result is what was freed.
	Release(ctx context.Context, processID string, bs Set) (Set, error)
	// Leave frees everything the process owns, deletes its row and tells the others.
	Leave(ctx context.Context, processID string) error
}

// Ear is what gossip knows; it may be wrong and late, so it only makes the database's verdict quicker.
type Ear interface {
	// Addr is where our own gossip can be reached, empty when it is not running.
	Addr() string
	// Suspects are the process ids that gossip holds for dead or gone.
	Suspects() []string
	// Tell makes the others look at members and leases again. It does not block.
	Tell()
}

// deaf is the Ear of a process without gossip.
type deaf struct{}

func (deaf) Addr() string       { return "" }
func (deaf) Suspects() []string { return nil }
func (deaf) Tell()              {}

// alive reports whether a heartbeat of that age is good enough, and how long it will remain so.
func (l Limits) alive(m MemberState, suspects map[string]bool) (bool, time.Duration) {
	limit := l.Fresh
	if suspects[m.ProcessID] {
		limit = l.SuspectFresh
	}
	return m.Age < limit, limit - m.Age
}
