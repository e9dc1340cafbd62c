package buckets_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
)

// table replaces the database: rows in memory, with one clock for all processes.
type table struct {
	mu      sync.Mutex
	members map[string]*buckets.MemberState
	leases  [buckets.Count]buckets.LeaseState
	inUse   buckets.Set // by running transactions
}

func newTable() *table { return &table{members: map[string]*buckets.MemberState{}} }

func (d *table) owned(id string) buckets.Set {
	d.mu.Lock()
	defer d.mu.Unlock()
	var s buckets.Set
	for b, l := range d.leases {
		if l.Owner == id {
			s.Add(b)
		}
	}
	return s
}

// steal gives buckets to another member, as if that member had acquired them.
func (d *table) steal(bs buckets.Set, by string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, b := range bs.List() {
		d.leases[b] = buckets.LeaseState{Owner: by, Epoch: d.leases[b].Epoch + 1}
	}
}

// link is the connection of one process to the table. A test can cut it or make it lose an answer.
type link struct {
	db         *table
	mu         sync.Mutex
	cut        bool
	loseAnswer bool
}

var errCut = errors.New("connection refused")

func (l *link) set(cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = cut
}

func (l *link) open() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		return errCut
	}
	return nil
}

func (l *link) Beat(_ context.Context, m buckets.Member) error {
	if err := l.open(); err != nil {
		return err
	}
	l.db.mu.Lock()
	defer l.db.mu.Unlock()
	row := l.db.members[m.ProcessID]
	if row == nil {
		row = &buckets.MemberState{StartedAt: time.Now()}
		l.db.members[m.ProcessID] = row
	}
	m.Draining = m.Draining || row.Draining
	row.Member, row.HeartbeatAt = m, time.Now()
	return nil
}

func (l *link) View(context.Context) (buckets.View, error) {
	if err := l.open(); err != nil {
		return buckets.View{}, err
	}
	l.db.mu.Lock()
	defer l.db.mu.Unlock()
	v := buckets.View{Leases: l.db.leases}
	for _, m := range l.db.members {
		row := *m
		row.Age = time.Since(m.HeartbeatAt)
		v.Members = append(v.Members, row)
	}
	return v, nil
}

func (l *link) Acquire(_ context.Context, a buckets.Acquisition) ([]buckets.Lease, int, error) {
	if err := l.open(); err != nil {
		return nil, 0, err
	}
	l.db.mu.Lock()
	defer l.db.mu.Unlock()
	live := func(id string) bool {
		m := l.db.members[id]
		limit := a.Limits.Fresh
		if slices.Contains(a.Suspects, id) {
			limit = a.Limits.SuspectFresh
		}
		return m != nil && time.Since(m.HeartbeatAt) < limit
	}
	if !live(a.ProcessID) {
		return nil, 0, nil
	}
	var got []buckets.Lease
	taken := 0
	for _, b := range a.Buckets.List() {
		row := &l.db.leases[b]
		if live(row.Owner) || l.db.inUse.Has(b) {
			continue
		}
		if row.Owner != "" {
			taken++
		}
		*row = buckets.LeaseState{Owner: a.ProcessID, Epoch: row.Epoch + 1, Since: time.Now()}
		got = append(got, buckets.Lease{Bucket: b, Epoch: row.Epoch})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.loseAnswer {
		l.loseAnswer = false
		return nil, 0, errCut
	}
	return got, taken, nil
}

func (l *link) Release(_ context.Context, id string, bs buckets.Set) (buckets.Set, error) {
	var freed buckets.Set
	if err := l.open(); err != nil {
		return freed, err
	}
	l.db.mu.Lock()
	defer l.db.mu.Unlock()
	for _, b := range bs.List() {
		if l.db.leases[b].Owner == id && !l.db.inUse.Has(b) {
			l.db.leases[b].Owner = ""
			freed.Add(b)
		}
	}
	return freed, nil
}

func (l *link) Leave(ctx context.Context, id string) error {
	if _, err := l.Release(ctx, id, buckets.All()); err != nil {
		return err
	}
	l.db.mu.Lock()
	defer l.db.mu.Unlock()
	delete(l.db.members, id)
	return nil
}

// detector is a Detector that the test controls.
type detector struct {
	mu   sync.Mutex
	dead []string
	tell func()
}

func (e *detector) Addr() string { return "10.0.0.1:7946" }
func (e *detector) Announce()    { e.tell() }
func (e *detector) Suspects() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.dead)
}

func (e *detector) suspect(ids ...string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.dead = ids
}

// process is a running holder that uses a table.
type process struct {
	*buckets.Holder
	link     *link
	detector *detector
	kill     context.CancelFunc
	done     chan error
	lastPass func(time.Time)
	mu       sync.Mutex
	gained   buckets.Set
	metrics  *prometheus.Registry
}

// room is a cluster in fake time (a synctest bubble).
type room struct {
	t  *testing.T
	db *table
	ps []*process
}

func newRoom(t *testing.T) *room {
	r := &room{t: t, db: newTable()}
	t.Cleanup(func() {
		for _, p := range r.ps {
			p.kill()
			require.NoError(t, p.wait())
		}
	})
	return r
}

func (r *room) start(id string) *process {
	r.t.Helper()
	p := &process{
		link: &link{db: r.db}, done: make(chan error, 1), metrics: prometheus.NewRegistry(),
		detector: &detector{tell: func() {
			for _, p := range r.ps {
				if p.ProcessID() != id {
					p.Hint()
				}
			}
		}},
	}
	var err error
	p.Holder, err = buckets.NewHolder(buckets.Deps{
		Store:    p.link,
		Self:     buckets.Member{ProcessID: id, DataShape: 1},
		Detector: p.detector,
		Gained: func(s buckets.Set) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.gained.Union(s)
		},
		Log:     zap.NewNop(),
		Metrics: p.metrics,
	}, buckets.Config{})
	require.NoError(r.t, err)
	var mark sync.Mutex
	var at time.Time
	hanging := false
	p.Watch("test", func() time.Time {
		mark.Lock()
		defer mark.Unlock()
		if !hanging {
			return time.Now()
		}
		return at
	})
	p.lastPass = func(t time.Time) {
		mark.Lock()
		defer mark.Unlock()
		hanging, at = !t.IsZero(), t
	}
	r.ps = append(r.ps, p)
	ctx, cancel := context.WithCancel(context.Background())
	p.kill = cancel
	go func() { p.done <- p.Run(ctx) }()
	return p
}

// wait returns what Run returned.
func (p *process) wait() error {
	err := <-p.done
	p.done <- err
	return err
}

// advance lets d pass. At every step it checks that no two live processes offer the same lease.
func (r *room) advance(d time.Duration) {
	r.t.Helper()
	step := max(5*time.Millisecond, d/200)
	for end := time.Now().Add(d); time.Now().Before(end); {
		<-time.After(min(step, time.Until(end)))
		synctest.Wait()
		r.check()
	}
}

func (r *room) check() {
	r.t.Helper()
	offered := map[buckets.Lease]string{}
	for _, p := range r.ps {
		last, owned := -1, p.Owned()
		for _, l := range p.Leases() {
			if other := offered[l]; other != "" || l.Bucket <= last || !owned.Has(l.Bucket) {
				r.t.Fatalf("%s offers %+v after bucket %d, %q offers it too, owned %v", p.ProcessID(), l, last, other,
					owned)
			}
			last, offered[l] = l.Bucket, p.ProcessID()
		}
		require.Equal(r.t, len(p.Leases()), owned.Len())
	}
}

// settled reports whether every bucket is offered by exactly one of ps, evenly.
func settled(ps ...*process) bool {
	var all buckets.Set
	n, least, most := 0, buckets.Count, 0
	for _, p := range ps {
		o := p.Owned()
		all.Union(o)
		n += o.Len()
		least, most = min(least, o.Len()), max(most, o.Len())
	}
	return n == buckets.Count && all == buckets.All() && most-least <= 1
}

func (r *room) settles(within time.Duration, ps ...*process) {
	r.t.Helper()
	begun := time.Now()
	for !settled(ps...) {
		require.LessOrEqual(r.t, time.Since(begun), within, "not settled in time")
		r.advance(5 * time.Millisecond)
	}
}

func TestSingleHolderOwnsAllBuckets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		p := r.start("a")
		require.Error(t, p.Ready())
		r.settles(50*time.Millisecond, p)
		require.NoError(t, p.Ready())
		require.Equal(t, buckets.All(), p.gained)
		require.Equal(t, buckets.Count, int(gauge(t, p, "iris_buckets_owned")))
		require.Zero(t, gauge(t, p, "iris_buckets_without_owner"))
		before := p.Leases()
		r.advance(time.Minute)
		require.Equal(t, before, p.Leases(), "nothing moves without need")
	})
}

func gauge(t *testing.T, p *process, name string) float64 {
	t.Helper()
	families, err := p.metrics.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() == name {
			m := f.GetMetric()[0]
			return m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}

func TestHolderReleasesBucketsForANewMember(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		a := r.start("a")
		r.settles(50*time.Millisecond, a)
		b := r.start("b")
		// a sees b at its next heartbeat, stops offering buckets, releases them after the grace, and notifies b.
		r.settles(1500*time.Millisecond, a, b)
		require.Equal(t, 128, b.gained.Len())
		require.Equal(t, b.gained, b.Owned())
		require.False(t, slices.ContainsFunc(b.gained.List(), a.Owned().Has), "no bucket is offered twice")
		c := r.start("c")
		c.detector.Announce() // gossip makes this much faster
		r.settles(400*time.Millisecond, a, b, c)
		require.Len(t, a.Peers(), 2)
	})
}

// A bucket in use by a transaction of its owner is released only when that transaction has ended.
func TestHolderWaitsForRunningTransactions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		a := r.start("a")
		r.settles(50*time.Millisecond, a)
		r.db.inUse = buckets.All()
		b := r.start("b")
		r.advance(5 * time.Second)
		require.Empty(t, b.Leases())
		require.Equal(t, buckets.All(), r.db.owned("a"))
		r.db.mu.Lock()
		r.db.inUse = buckets.Set{}
		r.db.mu.Unlock()
		r.settles(1500*time.Millisecond, a, b)
	})
}

func TestHolderTakesOverBucketsOfADeadMember(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		a, b, c := r.start("a"), r.start("b"), r.start("c")
		r.settles(3*time.Second, a, b, c)
		b.kill()
		require.NoError(t, b.wait())
		// Without gossip: three seconds after the last heartbeat.
		r.settles(3100*time.Millisecond, a, c)
		require.Positive(t, gauge(t, a, "iris_buckets_takeovers_total"))

		c.kill()
		require.NoError(t, c.wait())
		a.detector.suspect("c")
		a.Hint()
		r.settles(1600*time.Millisecond, a) // half of that if gossip also reports the death
	})
}

func TestHolderNeedsTheDatabaseToConfirmADeath(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		a, b := r.start("a"), r.start("b")
		r.settles(3*time.Second, a, b)
		before := a.Leases()
		a.detector.suspect("b")
		b.detector.suspect("a")
		r.advance(time.Minute)
		require.Equal(t, before, a.Leases())
		require.True(t, settled(a, b))
		require.Zero(t, gauge(t, a, "iris_buckets_takeovers_total"))
	})
}

func TestHolderReleasesItsBucketsOnShutdown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		a, b := r.start("a"), r.start("b")
		r.settles(3*time.Second, a, b)
		a.Retire(t.Context())
		require.Empty(t, a.Leases(), "takes nothing from now on")
		r.settles(1300*time.Millisecond, b)
		require.Contains(t, r.db.members, "a", "still alive: it may be sending")
		a.lastPass(time.Now()) // its loops have ended
		r.advance(20 * time.Second)
		require.Less(t, time.Since(r.db.members["a"].HeartbeatAt), 2*time.Second)
		require.Error(t, a.Ready())

		require.NoError(t, a.Drain(t.Context()))
		require.NoError(t, a.wait(), "Run ends by itself")
		require.NotContains(t, r.db.members, "a")

		// Drain without Retire: the others also take over at once.
		c := r.start("c")
		r.settles(3*time.Second, b, c)
		require.NoError(t, c.Drain(t.Context()))
		r.settles(100*time.Millisecond, b)
		r.advance(10 * time.Second)
		require.NotContains(t, r.db.members, "c", "no heartbeat after the goodbye")
		require.NoError(t, c.Drain(t.Context()), "twice does no harm")
	})
}

func TestHolderObeysAnOperatorsDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(t)
		a, b := r.start("a"), r.start("b")
		r.settles(3*time.Second, a, b)
		drain := func(on bool) {
			r.db.mu.Lock()
			defer r.db.mu.Unlock()
			r.db.members["a"].Draining = on
		}
		drain(true)
		r.settles(2500*time.Millisecond, b)
		require.Empty(t, a.Leases())
		drain(false)
		r.settles(2500*time.Millisecond, a, b)
	})
}

func TestHolderConfigurationIsChecked(t *testing.T) {
	t.Parallel()
	good := buckets.Deps{Store: &link{}, Self: buckets.Member{ProcessID: "a"}, Log: zap.NewNop()}
	_, err := buckets.NewHolder(good, buckets.Config{Heartbeat: 2 * time.Second})
	require.Error(t, err)
	for _, d := range []buckets.Deps{
		{Self: good.Self, Log: good.Log}, {Store: good.Store, Log: good.Log}, {Store: good.Store, Self: good.Self},
	} {
		_, err := buckets.NewHolder(d, buckets.Config{})
		require.Error(t, err)
	}
	require.Len(t, buckets.NewProcessID(), 32)
	one, other := buckets.NewProcessID(), buckets.NewProcessID()
	require.NotEqual(t, one, other)
	problems, err := testutil.GatherAndLint(func() *prometheus.Registry {
		reg := prometheus.NewRegistry()
		d := good
		d.Metrics = reg
		_, err := buckets.NewHolder(d, buckets.Config{})
		require.NoError(t, err)
		return reg
	}())
	require.NoError(t, err)
	require.Empty(t, problems)
}
