package buckets

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"
)

// Config configures a Holder. Zero values mean the defaults.
type Config struct {
	Heartbeat time.Duration // between heartbeats; default 1 s
	Limits    Limits        // default DefaultLimits
	Stall     time.Duration // a watched loop without a pass for this long stops the heartbeats; default 10 s
	Grace     time.Duration // from giving up a bucket until its release; default 150 ms
}

func (c Config) withDefaults() Config {
	c.Heartbeat = cmp.Or(c.Heartbeat, time.Second)
	c.Limits = cmp.Or(c.Limits, DefaultLimits())
	c.Stall = cmp.Or(c.Stall, 10*time.Second)
	c.Grace = cmp.Or(c.Grace, 150*time.Millisecond)
	return c
}

func (c Config) validate() error {
	if c.Heartbeat*2 >= c.Limits.Fresh || c.Heartbeat >= c.Limits.SuspectFresh || c.Limits.SuspectFresh > c.Limits.Fresh {
		return errors.New("buckets: heartbeats must come at least twice within the freshness limit and once within that of suspects")
	}
	return nil
}

// Deps are a Holder's collaborators. Store, Self.ProcessID and Log are required.
type Deps struct {
	Store    Store
	Self     Member     // GossipAddr is filled in from Detector, ClockSkew from Skew
	Detector Detector   // nil: no gossip
	Ended    EndedStore // nil: it is not checked whether dead members have ended
	// Skew returns how far the clock of this process is ahead of the clock of the database; false = it is not known.
	// nil: it is never known.
	Skew func() (time.Duration, bool)
	// Gained, if set, is called with newly held buckets: search them for work now. It is called on the holder's
	// goroutine and must return quickly.
	Gained  func(Set)
	Log     *zap.Logger
	Metrics prometheus.Registerer // nil: none
}

// NewProcessID returns a new random identity: 32 hexadecimal digits.
func NewProcessID() string {
	var raw [16]byte
	rand.Read(raw[:])
	return hex.EncodeToString(raw[:])
}

// Holder keeps this process a member of the cluster and holds the buckets that are assigned to it.
//
//	              assigned to us, free or its owner dead
//	(others') ------------------------------------------> held <---------------.
//	    ^                                                  |                    | assigned to us again
//	    |                    assigned to another           v                    |
//	    '------ released <------- grace over -------- given up (not offered) ---'
//	    ^                                                  |
//	    '------------ another's by the database -----------' (from anywhere, at once)
//
// Its Leases may be used until its own heartbeat or its last read of the database is older than the freshness limit.
// Then others may have taken everything over, and it offers nothing. That makes stale writes rare. The check of owner
// and epoch inside the transaction that writes makes them impossible.
//
// All methods are safe for concurrent use, except that Watch must be called before Run.
type Holder struct {
	cfg     Config
	deps    Deps
	log     *zap.Logger
	metrics *metrics
	loops   []watched

	base     time.Time    // monotonic origin of the instants below
	started  atomic.Int64 // when Run began; 0 = not yet
	beatAt   atomic.Int64 // when the last successful heartbeat began; 0 = never
	backAt   atomic.Int64 // when heartbeats succeeded again after a stale time; 0 = never
	viewAt   atomic.Int64 // when the last successful read of the view began; 0 = never
	offer    atomic.Pointer[offer]
	standIns atomic.Pointer[[]StandIn]
	view     atomic.Pointer[View]
	retiring atomic.Bool // stopping: acquires nothing, releases everything
	hints    chan struct{}
	problems problems
	probing  sync.Map       // members that are being probed, by process id
	probes   sync.WaitGroup // of probeDead

	beatMu sync.Mutex // held while a heartbeat is written
	left   bool       // under beatMu: the row was deleted for good

	passMu sync.Mutex // held during a pass; guards the fields below
	held   map[int]int64
	given  map[int]time.Time // held, but to be released at that time
}

type watched struct {
	name     string
	lastPass func() time.Time
}

// offer is an immutable snapshot of the held leases.
type offer struct {
	leases []Lease
	set    Set
}

// NewHolder returns a holder that holds no bucket until Run.
func NewHolder(deps Deps, cfg Config) (*Holder, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if deps.Store == nil || deps.Log == nil || deps.Self.ProcessID == "" {
		return nil, errors.New("buckets: store, log and process id are required")
	}
	if deps.Detector == nil {
		deps.Detector = noDetector{}
	}
	h := &Holder{
		cfg:     cfg,
		deps:    deps,
		log:     deps.Log.Named("buckets"),
		metrics: newMetrics(deps.Metrics),
		base:    time.Now(),
		hints:   make(chan struct{}, 1),
		held:    map[int]int64{},
		given:   map[int]time.Time{},
	}
	h.offer.Store(&offer{})
	h.metrics.unowned.Set(Count)
	return h, nil
}

// Watch makes the heartbeats depend on a loop. lastPass returns when the loop last completed a pass (the zero time: not
// yet; then the time counts from the start of Run). A pass over no buckets counts and must be made; otherwise a process
// that lost its leases could not recover. Call it before Run.
func (h *Holder) Watch(name string, lastPass func() time.Time) {
	h.loops = append(h.loops, watched{name, lastPass})
}

// ProcessID returns the identity of this process in the database.
func (h *Holder) ProcessID() string { return h.deps.Self.ProcessID }

// Leases returns the leases that this process may use now, ascending by bucket. The slice is shared: do not change it.
func (h *Holder) Leases() []Lease {
	if !h.current() {
		return nil
	}
	return h.offer.Load().leases
}

// Owned returns the buckets of Leases.
func (h *Holder) Owned() Set {
	if !h.current() {
		return Set{}
	}
	return h.offer.Load().set
}

// Lost stops offering leases that a transaction found to be lost. It starts a new read of the view, which decides
// again.
func (h *Holder) Lost(bs Set) {
	h.hideFromOffer(bs)
	h.Hint()
}

// Hint makes the holder read members and leases now and not at the next heartbeat. It does not block.
func (h *Holder) Hint() {
	select {
	case h.hints <- struct{}{}:
	default:
	}
}

// Members returns the members as last seen. The error is always nil.
func (h *Holder) Members(context.Context) ([]MemberState, error) {
	if v := h.view.Load(); v != nil {
		return v.Members, nil
	}
	return nil, nil
}

// Peers returns the gossip addresses of the other live members, as last seen.
func (h *Holder) Peers() []string {
	v := h.view.Load()
	if v == nil {
		return nil
	}
	var out []string
	for _, m := range v.Members {
		if m.ProcessID != h.ProcessID() && m.GossipAddr != "" && m.Age < h.cfg.Limits.Fresh {
			out = append(out, m.GossipAddr)
		}
	}
	return out
}

// Ready returns nil if this process is a live member that knows the state of the cluster, else what is missing.
func (h *Holder) Ready() error {
	if h.retiring.Load() {
		return errors.New("leaving the cluster")
	}
	if name := h.stalled(time.Now()); name != "" {
		return fmt.Errorf("the %s loop has not completed a pass for %v", name, h.cfg.Stall)
	}
	if !h.fresh(&h.beatAt) {
		return errors.New("no recent heartbeat could be written to the database")
	}
	if !h.fresh(&h.viewAt) {
		return errors.New("members and buckets could not be read from the database recently")
	}
	return nil
}

// Run writes heartbeats. After each heartbeat and each hint it reads the view and adjusts the held buckets. It returns
// nil when ctx ends or after Drain. It retries every failure of the database. It releases nothing: call Drain.
func (h *Holder) Run(ctx context.Context) error {
	h.started.Store(h.since(time.Now()))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var g errgroup.Group
	g.Go(func() error { defer cancel(); h.beatLoop(ctx); return nil })
	g.Go(func() error { h.passLoop(ctx); return nil })
	err := g.Wait()
	h.probes.Wait()
	return err
}

// Retire releases all buckets and acquires none, while Run continues the heartbeats, so that calls in flight still
// belong to a live process. It is the first step of an orderly stop; Drain is the last. It returns after a heartbeat,
// which may have failed; the buckets are free a moment later.
func (h *Holder) Retire(ctx context.Context) {
	h.retiring.Store(true)
	h.beat(ctx)
	h.Hint()
}

// Drain leaves the cluster: it frees all buckets, deletes the row of this process and notifies the others, which take
// over at once. Afterwards nothing is offered and no heartbeat is written, also after an error. Call it when the loops
// have stopped and their calls are recorded.
func (h *Holder) Drain(ctx context.Context) error {
	h.retiring.Store(true)
	h.beatMu.Lock()
	h.left = true
	h.beatMu.Unlock()

	h.passMu.Lock()
	defer h.passMu.Unlock()
	clear(h.held)
	clear(h.given)
	h.publish()
	h.Hint() // ends the loops
	err := h.deps.Store.Leave(ctx, h.ProcessID())
	h.deps.Detector.Announce()
	if err != nil {
		return fmt.Errorf("leave the cluster: %w", err)
	}
	h.log.Info("left the cluster")
	return nil
}

// current reports whether the held leases may be used.
func (h *Holder) current() bool {
	return !h.retiring.Load() && h.fresh(&h.beatAt) && h.fresh(&h.viewAt)
}

func (h *Holder) fresh(at *atomic.Int64) bool {
	begun := at.Load()
	return begun != 0 && time.Since(h.base)-time.Duration(begun) < h.cfg.Limits.Fresh
}

// since converts an instant for beatAt and viewAt; it never returns 0.
func (h *Holder) since(t time.Time) int64 { return max(1, int64(t.Sub(h.base))) }

// ErrLost matches (errors.Is) every error about a lost lease.
var ErrLost = errors.New("bucket lease lost")

// LostError names the leases that were no longer valid when a transaction checked them. The transaction wrote nothing.
// The caller passes Buckets to Holder.Lost and continues with the other buckets.
type LostError struct {
	Buckets Set
}

// Error names the buckets.
func (e *LostError) Error() string { return fmt.Sprintf("%v: buckets %v", ErrLost, e.Buckets.List()) }

// Unwrap makes errors.Is(err, ErrLost) true.
func (e *LostError) Unwrap() error { return ErrLost }
