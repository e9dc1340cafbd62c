package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/clock"
	"github.com/iris-oncall/iris/internal/messages"
	"github.com/iris-oncall/iris/internal/oncall"
)

// Holder returns the leases of this process. buckets.Holder implements it. Its methods do not block and are called from
// several goroutines.
type Holder interface {
	ProcessID() string
	// Leases returns the leases that may be used now, ascending by bucket. The runner does not change the slice.
	Leases() []buckets.Lease
	// Lost gives up leases that a transaction found to be lost.
	Lost(buckets.Set)
}

// Deps are the runner's collaborators. All but Silences, Waker, NoteNew and Registerer are required.
type Deps struct {
	Store    Store
	Silences Silences // nil = there are none
	Reader   escalation.Reader
	Resolver *oncall.Resolver
	Holder   Holder
	Clock    *clock.Database // who is on call is read at its time where no statement gives one; nil = the clock of this process
	// Waker is called after a commit with the buckets in which messages were made. It must not block. It is called from
	// several goroutines.
	Waker func(buckets.Set)
	// NoteNew is called instead for messages of due incidents. Default: Waker with their buckets.
	NoteNew    func([]NewMessage)
	Log        *zap.Logger
	Registerer prometheus.Registerer // nil: none
}

// Silences stops the escalation of incidents that page nobody for some time.
type Silences interface {
	// Hide stops the escalation of the incidents that a silence matches, and returns them.
	Hide(ctx context.Context, ids []incidents.ID) ([]incidents.ID, error)
}

// NewMessage is a message that may be sent now.
type NewMessage struct {
	Bucket      int
	Application string
	messages.New
}

// Config tunes a Runner. Zero values mean the defaults.
type Config struct {
	Poll        time.Duration // longest sleep, which bounds the cost of a lost hint; default 1 s
	Batch       int           // incidents per transaction; default 200
	ReadLimit   int           // incidents per read; default 5 batches
	PerBucket   int           // of those from one bucket; default 64
	Parallel    int           // transactions at once; default 2
	Keep        time.Duration // how long applications and contacts are cached; default oncall.DefaultKeep, negative: not at all
	RetryMin    time.Duration // first pause of an incident that cannot be decided; default 1 s
	RetryMax    time.Duration // longest such pause; default 5 min
	ResumeEvery time.Duration // time between searches for resumed plans and applications; default 5 s
	// Now replaces the database's clock. Tests only.
	Now func() time.Time
}

func (c Config) withDefaults() Config {
	c.Poll = cmp.Or(c.Poll, time.Second)
	c.Batch = cmp.Or(c.Batch, 200)
	c.ReadLimit = cmp.Or(c.ReadLimit, 5*c.Batch)
	c.PerBucket = cmp.Or(c.PerBucket, 64)
	c.Parallel = cmp.Or(c.Parallel, 2)
	c.Keep = cmp.Or(c.Keep, oncall.DefaultKeep)
	c.RetryMin = cmp.Or(c.RetryMin, time.Second)
	c.RetryMax = cmp.Or(c.RetryMax, 5*time.Minute)
	c.ResumeEvery = cmp.Or(c.ResumeEvery, 5*time.Second)
	return c
}

func (c Config) validate() error {
	if c.Poll < 0 || c.Batch < 0 || c.ReadLimit < 0 || c.PerBucket < 0 || c.Parallel < 0 || c.RetryMin < 0 || c.RetryMax < c.RetryMin {
		return errors.New("escalation: the configuration is negative or contradictory")
	}
	return nil
}

// planKeep is how long a plan is cached. Its steps never change, but the names of its targets may.
const planKeep = 30 * time.Second

// passGap is the least time between the starts of two passes. After an idle time a wake-up starts a pass at once. In a
// flood the gap makes passes fewer and larger.
const passGap = 10 * time.Millisecond

// minRetryPause is the first pause before due incidents are read again that are locked or failed.
const minRetryPause = 20 * time.Millisecond

// Runner moves the incidents of the leased buckets along their plans. It keeps no state of incidents: due work is found
// by index. Its cost depends on the due incidents only, and a hand-over transfers nothing.
//
// An incident that cannot be decided or written is postponed alone, with a growing pause and a line on its timeline.
// The other incidents continue.
type Runner struct {
	cfg     Config
	deps    Deps
	log     *zap.Logger
	metrics *metrics

	decider *escalation.Decider
	plans   *oncall.Recent[escalation.PlanID, escalation.Plan]
	apps    *oncall.Recent[int64, escalation.Application]

	lastPass atomic.Int64 // Unix nanoseconds; 0 = none yet
	wakes    chan struct{}
	mu       sync.Mutex
	woken    buckets.Set

	failedIncidents backoff       // incidents that could not be decided or written
	leftOut         backoff       // incidents whose decision was not written because they had changed; only the count is used
	failedMessages  backoff       // failed messages whose fallback could not be made
	failedDigests   backoff       // floods whose digest could not be made
	fallbacksAt     time.Time     // last search for failed messages
	digestsAt       time.Time     // last read of floods whose digest is due
	timersAt        time.Time     // last read of timers
	failedAdded     backoff       // added pages whose messages could not be made
	addedAt         time.Time     // last read of added pages
	resumedAt       time.Time     // last read of paused incidents whose plan and application were resumed
	firstLease      int           // where the next pass starts, so that no bucket is always last
	outages         int           // passes in a row whose writes the database refused
	retryPause      time.Duration // before the next read of incidents that were due but could not be advanced
}

// New returns a runner that does nothing until Run.
func New(deps Deps, cfg Config) (*Runner, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	if deps.Store == nil || deps.Reader == nil ||
		deps.Resolver == nil || deps.Holder == nil || deps.Log == nil {
		return nil, errors.New("escalation runner: work, ledger, digests, timers, additions, reader, resolver, holder and log are required")
	}
	if deps.Waker == nil {
		deps.Waker = func(buckets.Set) {}
	}
	if deps.NoteNew == nil {
		deps.NoteNew = func(made []NewMessage) {
			var bs buckets.Set
			for _, m := range made {
				bs.Add(m.Bucket)
			}
			deps.Waker(bs)
		}
	}
	m, err := newMetrics(deps.Registerer)
	if err != nil {
		return nil, fmt.Errorf("escalation metrics: %w", err)
	}
	r := &Runner{
		cfg:             cfg,
		deps:            deps,
		log:             deps.Log.Named("escalation"),
		metrics:         m,
		plans:           oncall.NewRecent(min(planKeep, max(cfg.Keep, 0)*30), deps.Reader.Plans),
		apps:            oncall.NewRecent(cfg.Keep, deps.Reader.Applications),
		wakes:           make(chan struct{}, 1),
		failedIncidents: newBackoff(cfg.RetryMin, cfg.RetryMax),
		leftOut:         newBackoff(cfg.RetryMin, cfg.RetryMax),
		failedMessages:  newBackoff(cfg.RetryMin, cfg.RetryMax),
		failedDigests:   newBackoff(cfg.RetryMin, cfg.RetryMax),
		failedAdded:     newBackoff(cfg.RetryMin, cfg.RetryMax),
		retryPause:      minRetryPause,
	}
	r.decider = r.newDecider(deps.Resolver)
	return r, nil
}

func (r *Runner) newDecider(resolver *oncall.Resolver) *escalation.Decider {
	return escalation.NewDecider(resolver, oncall.NewRecent(r.cfg.Keep, r.deps.Reader.Responders),
		func(id incidents.ID) bool { return r.failedIncidents.failures(int64(id)) >= escalation.MaxLookups })
}

// Wake reports that there is work in the buckets. It is a hint, does not block and may be called from any goroutine at
// any time.
func (r *Runner) Wake(bs buckets.Set) {
	r.mu.Lock()
	r.woken.Union(bs)
	r.mu.Unlock()
	select {
	case r.wakes <- struct{}{}:
	default:
	}
}

// LastPass returns when the runner last completed a pass or a batch without an error; the zero time if it never did.
func (r *Runner) LastPass() time.Time {
	ns := r.lastPass.Load()
	if ns == 0 {
		return time.Time{}
	}
	return time.Unix(0, ns)
}

func (r *Runner) passed() { r.lastPass.Store(time.Now().UnixNano()) }

// Run works until ctx ends, and returns nil then. It logs and retries errors of the database and never returns them.
// Call it once.
func (r *Runner) Run(ctx context.Context) error {
	var pending buckets.Set  // to be read now
	var searched buckets.Set // read since the last sleep
	var fullAt, dueAt time.Time
	failing := false
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		pending.Union(r.takeWoken())
		if now := time.Now(); now.Sub(fullAt) >= r.cfg.Poll || !now.Before(dueAt) {
			fullAt, pending = now, buckets.All()
		}
		began := time.Now()
		more, err := r.pass(ctx, pending)
		if err != nil && ctx.Err() == nil {
			if !failing {
				r.log.Error("escalation failed, retrying every second", zap.Error(err))
			}
			failing = true
			r.metrics.errors.WithLabelValues("database").Inc()
			fullAt = time.Time{}
			r.sleep(ctx, timer, r.cfg.Poll, nil)
			continue
		}
		// A process that lost the database holds no bucket. Its passes succeed because there is nothing to read.
		if failing && ctx.Err() == nil && len(r.deps.Holder.Leases()) > 0 {
			r.log.Info("escalation works again")
			failing = false
		}
		r.passed()
		searched.Union(pending)
		if pending = more; !pending.Empty() {
			continue
		}
		dueAt = r.nextDue(ctx, searched, dueAt)
		searched = buckets.Set{}
		wake := fullAt.Add(r.cfg.Poll)
		if dueAt.Before(wake) {
			wake = dueAt
		}
		r.sleep(ctx, timer, time.Until(wake), r.wakes)
		r.sleep(ctx, timer, time.Until(began.Add(passGap)), nil)
	}
	return nil
}

// Pass does all due work of the leased buckets once. Tests and benchmarks call it in place of Run. Do not call it while
// Run runs.
func (r *Runner) Pass(ctx context.Context) error {
	pending := buckets.All()
	for !pending.Empty() {
		more, err := r.pass(ctx, pending)
		if err != nil {
			return err
		}
		pending = more
	}
	r.passed()
	return nil
}

// nextDue returns when the next incident of the leased buckets is due, on this machine's clock. It reads the buckets in
// searched; known is the earlier result for the other buckets.
func (r *Runner) nextDue(ctx context.Context, searched buckets.Set, known time.Time) time.Time {
	read := time.Now()
	latest := read.Add(r.cfg.Poll) // a full pass begins by then anyway
	if searched == buckets.All() || known.IsZero() || known.After(latest) {
		known = latest
	}
	leases := r.held(searched)
	if len(leases) == 0 {
		return known
	}
	next, err := r.deps.Store.NextDue(ctx, leases, r.now())
	if err != nil {
		return known // the next pass returns the error
	}
	if next > 0 {
		r.retryPause = minRetryPause
	} else {
		// It was due a moment ago and was not advanced, because it is locked or failed. Do not spin on it.
		next = r.retryPause
		r.retryPause = min(2*r.retryPause, r.cfg.Poll)
	}
	if at := read.Add(next); at.Before(known) {
		return at
	}
	return known
}

// sleep waits for d, or until a wake-up.
func (r *Runner) sleep(ctx context.Context, timer *time.Timer, d time.Duration, wakes <-chan struct{}) {
	if d <= 0 {
		return
	}
	timer.Reset(d)
	select {
	case <-ctx.Done():
	case <-wakes:
	case <-timer.C:
	}
}

func (r *Runner) takeWoken() buckets.Set {
	r.mu.Lock()
	defer r.mu.Unlock()
	woken := r.woken
	r.woken = buckets.Set{}
	return woken
}

func (r *Runner) now() time.Time {
	if r.cfg.Now == nil {
		return time.Time{}
	}
	return r.cfg.Now()
}

// held returns the leases of the given buckets. It begins at another lease each time.
func (r *Runner) held(bs buckets.Set) []buckets.Lease {
	all := r.deps.Holder.Leases()
	out := make([]buckets.Lease, 0, len(all))
	if len(all) == 0 {
		return out
	}
	r.firstLease++
	for i := range all {
		if l := all[(i+r.firstLease)%len(all)]; bs.Has(l.Bucket) {
			out = append(out, l)
		}
	}
	return out
}
