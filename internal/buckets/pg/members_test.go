package pg_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/iris-oncall/iris/internal/buckets"
	pgbuckets "github.com/iris-oncall/iris/internal/buckets/pg"
	"github.com/iris-oncall/iris/internal/delivery/pg"
	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
	pgsystem "github.com/iris-oncall/iris/internal/system/pg"
)

const clusterPatience = 20 * time.Second

var clusterLimits = buckets.DefaultLimits()

func member(id string) buckets.Member {
	return buckets.Member{ProcessID: id, Host: "host-of-" + id, Version: "1.2.3", DataShape: 1, Modes: []string{}}
}

func acquire(t *testing.T, c *pgbuckets.Cluster, id string, bs buckets.Set, suspects ...string) []buckets.Lease {
	t.Helper()
	got, _, err := c.Acquire(t.Context(), buckets.Acquisition{
		ProcessID: id, Buckets: bs, Suspects: suspects, Limits: clusterLimits,
	})
	require.NoError(t, err)
	return got
}

// age moves a member's last heartbeat into the past by a duration.
func age(t *testing.T, d *postgres.DB, id string, by time.Duration) {
	t.Helper()
	_, err := d.Pool().Exec(t.Context(),
		"update members set heartbeat_at = heartbeat_at - $2::interval where process_id = $1", id, by)
	require.NoError(t, err)
}

func TestAcquireTakesNoBucketsOfLiveMembers(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	c := pgbuckets.NewCluster(d)
	ctx := t.Context()
	some := buckets.Of(0, 7, 255)

	require.Empty(t, acquire(t, c, "a", some), "not a member yet")
	require.NoError(t, c.Beat(ctx, member("a")))
	require.NoError(t, c.Beat(ctx, member("b")))
	require.Equal(t, []buckets.Lease{{Bucket: 0, Epoch: 1}, {Bucket: 7, Epoch: 1}, {Bucket: 255, Epoch: 1}},
		acquire(t, c, "a", some))
	require.Empty(t, acquire(t, c, "a", some), "one's own are no gain")
	require.Empty(t, acquire(t, c, "b", some))
	require.Empty(t, acquire(t, c, "b", some, "a"), "gossip's word alone")

	age(t, d, "a", 2*time.Second)
	require.Empty(t, acquire(t, c, "b", some))
	got, taken, err := c.Acquire(ctx, buckets.Acquisition{
		ProcessID: "b", Buckets: buckets.Of(7, 8), Suspects: []string{"a"}, Limits: clusterLimits,
	})
	require.NoError(t, err)
	require.ElementsMatch(t, []buckets.Lease{{Bucket: 7, Epoch: 2}, {Bucket: 8, Epoch: 1}}, got)
	require.Equal(t, 1, taken)
	age(t, d, "a", 2*time.Second)
	require.Len(t, acquire(t, c, "b", some), 2, "by the database's word alone")

	// Dead and draining members get no buckets.
	age(t, d, "b", 4*time.Second)
	require.Empty(t, acquire(t, c, "b", buckets.Of(100)))
	require.NoError(t, c.Beat(ctx, member("b")))
	require.True(t, fault.Is(pgsystem.New(d).SetDraining(ctx, "b", true), fault.Conflict),
		"nobody else would own its buckets")
	require.NoError(t, c.Beat(ctx, member("a")))
	require.NoError(t, pgsystem.New(d).SetDraining(ctx, "b", true))
	require.True(t, fault.Is(pgsystem.New(d).SetDraining(ctx, "a", true), fault.Conflict), "the other one drains")
	require.NoError(t, c.Beat(ctx, member("b")), "a heartbeat does not undo it")
	require.Empty(t, acquire(t, c, "b", buckets.Of(100)))
	require.True(t, fault.Is(pgsystem.New(d).SetDraining(ctx, "nobody", true), fault.NotFound))
	require.NoError(t, pgsystem.New(d).SetDraining(ctx, "b", false))

	moved, err := pgsystem.NewSystem(d).Handovers(ctx, 10)
	require.NoError(t, err)
	require.NotEmpty(t, moved)
	last := moved[0]
	require.Equal(t, []string{"b", "host-of-b", "a", "true"},
		[]string{last.Owner, last.Host, string(last.Previous), fmt.Sprint(last.TakenOver)})
	require.NotContains(t, last.Buckets, 8, "nobody had this one before")
}

func TestConcurrentAcquiresGiveEachBucketOneOwner(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	c := pgbuckets.NewCluster(d)
	require.NoError(t, c.Beat(t.Context(), member("dead")))
	require.Len(t, acquire(t, c, "dead", buckets.All()), buckets.Count)
	age(t, d, "dead", time.Minute)

	const racers = 6
	for i := range racers {
		require.NoError(t, c.Beat(t.Context(), member(fmt.Sprint(i))))
	}
	var mu sync.Mutex
	owner := map[int]string{}
	var g errgroup.Group
	for i := range racers {
		id := fmt.Sprint(i)
		g.Go(func() error {
			for range 20 {
				got, _, err := c.Acquire(t.Context(), buckets.Acquisition{
					ProcessID: id, Buckets: buckets.All(), Suspects: []string{"dead"}, Limits: clusterLimits,
				})
				if err != nil {
					return err
				}
				mu.Lock()
				for _, l := range got {
					if other, taken := owner[l.Bucket]; taken || l.Epoch != 2 {
						mu.Unlock()
						return fmt.Errorf("bucket %d in epoch %d went to %s after %s", l.Bucket, l.Epoch, id, other)
					}
					owner[l.Bucket] = id
				}
				mu.Unlock()
			}
			return nil
		})
	}
	require.NoError(t, g.Wait())
	require.Len(t, owner, buckets.Count)
	rows, err := c.Buckets(t.Context())
	require.NoError(t, err)
	for b, l := range rows {
		require.Equal(t, owner[b], l.Owner)
		require.WithinDuration(t, time.Now(), l.Since, time.Hour)
	}
}

func TestFence(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	c := pgbuckets.NewCluster(d)
	ctx := t.Context()
	require.NoError(t, c.Beat(ctx, member("a")))
	require.NoError(t, c.Beat(ctx, member("b")))
	leases := acquire(t, c, "a", buckets.Of(1, 2, 3))
	check := func(id string, ls ...buckets.Lease) error {
		return d.InTx(ctx, func(ctx context.Context, q *db.Queries) error { return pgbuckets.Fence(ctx, q, id, ls) })
	}
	lost := func(err error, want ...int) {
		t.Helper()
		require.ErrorIs(t, err, buckets.ErrLost)
		require.Equal(t, fault.Conflict, fault.KindOf(err))
		var l *buckets.LostError
		require.ErrorAs(t, err, &l)
		require.Equal(t, want, l.Buckets.List())
	}
	require.NoError(t, check("a"))
	require.NoError(t, check("a", leases...))
	require.NoError(t, check("a", leases[2], leases[0], leases[0]))
	lost(check("b", leases...), 1, 2, 3)
	lost(check("a", leases[0], buckets.Lease{Bucket: 2, Epoch: 9}, buckets.Lease{Bucket: 77, Epoch: 1}), 2, 77)
	lost(check("a", leases[0], buckets.Lease{Bucket: 1}), 1)
}

// While a transaction of the owner runs, other members cannot take its buckets, and the owner cannot release them. If
// the lease expired during the transaction, the owner's next transaction fails.
func TestFenceHoldsUntilTheTransactionEnds(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	c := pgbuckets.NewCluster(d)
	ctx := t.Context()
	require.NoError(t, c.Beat(ctx, member("a")))
	require.NoError(t, c.Beat(ctx, member("b")))
	leases := acquire(t, c, "a", buckets.Of(1, 2, 3))

	tx, err := d.Pool().Begin(ctx)
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	require.NoError(t, pgbuckets.Fence(ctx, db.New(tx), "a", leases[:2]))
	// Two transactions of one owner do not block each other.
	require.NoError(t, d.InTx(ctx, func(ctx context.Context, q *db.Queries) error {
		return pgbuckets.Fence(ctx, q, "a",
			leases)
	}))

	age(t, d, "a", time.Minute)
	require.Equal(t, []buckets.Lease{{Bucket: 3, Epoch: 2}}, acquire(t, c, "b", buckets.Of(1, 2, 3)))
	freed, err := c.Release(ctx, "a", buckets.All())
	require.NoError(t, err)
	require.Equal(t, buckets.Set{}, freed)
	require.NoError(t, tx.Commit(ctx))

	require.Len(t, acquire(t, c, "b", buckets.Of(1, 2, 3)), 2)
	err = d.InTx(ctx, func(ctx context.Context, q *db.Queries) error { return pgbuckets.Fence(ctx, q, "a", leases) })
	require.ErrorIs(t, err, buckets.ErrLost)
}

func TestMembersJoinAndLeave(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	c := pgbuckets.NewCluster(d)
	ctx := t.Context()
	conn, err := pgx.ConnectConfig(ctx, d.Pool().Config().ConnConfig)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	_, err = conn.Exec(ctx, "listen "+pgbuckets.MembersChannel)
	require.NoError(t, err)
	told := func(by string) {
		t.Helper()
		wait, cancel := context.WithTimeout(ctx, clusterPatience)
		defer cancel()
		n, err := conn.WaitForNotification(wait)
		require.NoError(t, err)
		require.Equal(t, by, n.Payload)
	}

	n, err := c.BucketsWithoutLiveOwner(ctx)
	require.NoError(t, err)
	require.Equal(t, buckets.Count, n)
	require.NoError(t, c.Beat(ctx, member("a")))
	told("a")
	require.NoError(t, c.Beat(ctx, member("a")), "nothing to tell")
	moved := member("b")
	require.NoError(t, c.Beat(ctx, moved))
	told("b")
	moved.GossipAddr, moved.Draining = "10.1.1.1:7946", true
	require.NoError(t, c.Beat(ctx, moved))
	told("b")

	ms, err := c.Members(ctx)
	require.NoError(t, err)
	require.Len(t, ms, 2)
	require.Equal(t, member("a"), ms[0].Member)
	require.Equal(t, moved, ms[1].Member)
	require.Less(t, ms[1].Age, clusterPatience)
	require.False(t, ms[0].HeartbeatAt.Before(ms[0].StartedAt))

	require.Len(t, acquire(t, c, "a", buckets.All()), buckets.Count)
	n, err = c.BucketsWithoutLiveOwner(ctx)
	require.NoError(t, err)
	require.Zero(t, n)
	freed, err := c.Release(ctx, "a", buckets.Of(1, 2))
	require.NoError(t, err)
	require.Equal(t, buckets.Of(1, 2), freed)
	told("a")
	freed, err = c.Release(ctx, "b", buckets.Of(1, 3))
	require.NoError(t, err)
	require.Equal(t, buckets.Set{}, freed, "not its own")
	n, err = c.BucketsWithoutLiveOwner(ctx)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	v, err := c.View(ctx)
	require.NoError(t, err)
	require.Equal(t, buckets.LeaseState{Epoch: 1}, v.Leases[1])
	require.Equal(t, "a", v.Leases[3].Owner)

	require.NoError(t, c.Leave(ctx, "a"))
	told("a")
	v, err = c.View(ctx)
	require.NoError(t, err)
	require.Len(t, v.Members, 1)
	for _, l := range v.Leases {
		require.Empty(t, l.Owner)
	}

	// A minute after its last heartbeat a member is no longer listed.
	age(t, d, "b", time.Minute)
	require.NoError(t, c.Beat(ctx, member("a")))
	told("a")
	ms, err = c.Members(ctx)
	require.NoError(t, err)
	require.Len(t, ms, 1)
}

func TestListenerReceivesMemberChanges(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	c := pgbuckets.NewCluster(d)
	changed, woken := make(chan struct{}, 10), make(chan buckets.Set, 10)
	l := pgbuckets.NewListener(d, pgbuckets.WakeupHandlers{Escalation: func(s buckets.Set) { woken <- s },
		Delivery: func(buckets.Set) {}, Members: func() { changed <- struct{}{} }})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var g errgroup.Group
	g.Go(func() error { return l.Run(ctx) })
	require.Equal(t, buckets.All(), <-woken)
	<-changed // sent after the listener connected
	require.NoError(t, c.Beat(ctx, member("a")))
	<-changed
	require.Empty(t, woken, "no work because of that")
	cancel()
	require.NoError(t, g.Wait())
}

func TestBenchReadsOwnersAndQueues(t *testing.T) {
	t.Parallel()
	d := pgtest.New(t)
	c, b := pgbuckets.NewCluster(d), pg.NewBench(d)
	ctx := t.Context()
	before, err := d.Clock(ctx)
	require.NoError(t, err)
	require.NoError(t, c.Beat(ctx, member("a")))
	owned, after, err := b.OwnedSince(ctx, before)
	require.NoError(t, err)
	require.False(t, owned)
	require.Positive(t, after)
	require.Len(t, acquire(t, c, "a", buckets.All()), buckets.Count)
	owned, _, err = b.OwnedSince(ctx, before)
	require.NoError(t, err)
	require.True(t, owned)
	later, err := d.Clock(ctx)
	require.NoError(t, err)
	owned, _, err = b.OwnedSince(ctx, later)
	require.NoError(t, err)
	require.False(t, owned, "no heartbeat since")

	for _, n := range []func(context.Context, string) (int, error){b.AttemptsInDoubt, b.MessagesUnsettled} {
		got, err := n(ctx, "iris")
		require.NoError(t, err)
		require.Zero(t, got)
	}
	_, err = d.Pool().Exec(ctx, `
		with m as (
			insert into messages (bucket, application_id, recipient, target, class, mode, state)
			select 0, a.id, 'literal:' || s, 'x', 2, 'email', s
			from applications a, unnest('{pending,taken,sending,sent,failed}'::text[]) s where a.name = 'iris'
			returning id
		)
		insert into attempts (message_id, attempt, mode, vendor, destination, process_id, in_doubt)
		select id, n, 'email', 'smtp', 'x', 'p', n = 1 from m, generate_series(1, 2) n`)
	require.NoError(t, err)
	n, err := b.AttemptsInDoubt(ctx, "IRIS")
	require.NoError(t, err)
	require.Equal(t, 5, n)
	n, err = b.MessagesUnsettled(ctx, "IRIS")
	require.NoError(t, err)
	require.Equal(t, 3, n)

	_, err = d.Pool().Exec(ctx, `update messages set created_at = created_at - interval '1 hour',
		settled_at = case when state in ('sent', 'failed') then clock_timestamp() - interval '10 minutes' end`)
	require.NoError(t, err)
	size, err := b.Size(ctx)
	require.NoError(t, err)
	require.Equal(t, []int{3, 2}, []int{size.Waiting, size.Finished})
	require.GreaterOrEqual(t, size.Oldest, time.Hour)
	require.GreaterOrEqual(t, size.Settled, 10*time.Minute)
}

// wire is the database connection of one process; a test can cut it.
type wire struct {
	*pgbuckets.Cluster
	mu  sync.Mutex
	cut bool
}

var errCut = errors.New("network is unreachable")

func (w *wire) set(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = cut
}

func (w *wire) up() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cut {
		return errCut
	}
	return nil
}

func (w *wire) Beat(ctx context.Context, m buckets.Member) error {
	if err := w.up(); err != nil {
		return err
	}
	return w.Cluster.Beat(ctx, m)
}

func (w *wire) View(ctx context.Context) (buckets.View, error) {
	if err := w.up(); err != nil {
		return buckets.View{}, err
	}
	return w.Cluster.View(ctx)
}

func (w *wire) Acquire(ctx context.Context, a buckets.Acquisition) ([]buckets.Lease, int, error) {
	if err := w.up(); err != nil {
		return nil, 0, err
	}
	return w.Cluster.Acquire(ctx, a)
}

// rumours is a gossip that reports the members that the test sets.
type rumours struct {
	mu   sync.Mutex
	dead []string
}

func (*rumours) Addr() string { return "" }
func (*rumours) Announce()    {}
func (r *rumours) Suspects() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.dead
}

func (r *rumours) spread(dead ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dead = dead
}

// processor is a holder on real PostgreSQL, with a loop that works on all leases of the holder in fenced transactions.
type processor struct {
	*buckets.Holder
	wire    *wire
	rumours *rumours
	kill    context.CancelFunc
	wg      errgroup.Group
}

func startProcessor(t *testing.T, d *postgres.DB, id string) *processor {
	t.Helper()
	p := &processor{wire: &wire{Cluster: pgbuckets.NewCluster(d)}, rumours: &rumours{}}
	var err error
	p.Holder, err = buckets.NewHolder(buckets.Deps{
		Store: p.wire, Self: member(id), Detector: p.rumours, Log: zap.NewNop(),
	}, buckets.Config{
		Heartbeat: 100 * time.Millisecond,
		Limits:    buckets.Limits{Fresh: 1500 * time.Millisecond, SuspectFresh: 750 * time.Millisecond},
		Grace:     20 * time.Millisecond,
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	p.kill = cancel
	p.wg.Go(func() error { return p.Run(ctx) })
	p.wg.Go(func() error { return p.work(ctx, d) })
	t.Cleanup(func() {
		p.kill()
		require.NoError(t, p.wg.Wait())
	})
	return p
}

// work records, in fenced transactions, which buckets this process holds in which epoch.
func (p *processor) work(ctx context.Context, d *postgres.DB) error {
	for ctx.Err() == nil {
		var ids []int
		var epochs []int64
		leases := p.Leases()
		for _, l := range leases {
			ids, epochs = append(ids, l.Bucket), append(epochs, l.Epoch)
		}
		err := d.InTxRaw(ctx, func(ctx context.Context, tx pgx.Tx) error {
			if err := pgbuckets.Fence(ctx, db.New(tx), p.ProcessID(), leases); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, `insert into work (bucket, epoch, owner)
				select unnest($1::smallint[]), unnest($2::bigint[]), $3`, ids, epochs, p.ProcessID())
			return err
		})
		var lost *buckets.LostError
		switch {
		case errors.As(err, &lost):
			p.Lost(lost.Buckets)
		case err != nil && ctx.Err() == nil:
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

func settledOn(ps ...*processor) func() bool {
	return func() bool {
		var all buckets.Set
		n := 0
		for _, p := range ps {
			o := p.Owned()
			all.Union(o)
			n += o.Len()
			if o.Len() < buckets.Count/len(ps) {
				return false
			}
		}
		return n == buckets.Count && all == buckets.All()
	}
}

// requireOneHand checks the history of every bucket: epochs only rise, and each epoch has one owner. Sequence numbers,
// drawn inside the fenced transactions, give the order.
func requireOneHand(t *testing.T, d *postgres.DB) {
	t.Helper()
	var total, wrong int
	require.NoError(t, d.Pool().QueryRow(context.Background(), `
		select count(*), count(*) filter (where epoch < before or (epoch = before and owner <> owner_before))
		from (select *, lag(epoch) over w as before, lag(owner) over w as owner_before
		      from work window w as (partition by bucket order by n)) h`).Scan(&total, &wrong))
	require.Positive(t, total)
	require.Zero(t, wrong, "two hands on the wheel")
}

func workTable(t *testing.T, d *postgres.DB) {
	t.Helper()
	_, err := d.Pool().Exec(t.Context(), "create table work (n bigserial, bucket smallint, epoch bigint, owner text)")
	require.NoError(t, err)
}

func TestClusterOnPostgres(t *testing.T) {
	t.Parallel()
	d := pgtest.Open(t, pgtest.URL(t), postgres.Config{MaxConns: 12})
	workTable(t, d)
	settles := func(what string, ps ...*processor) {
		t.Helper()
		require.Eventually(t, settledOn(ps...), clusterPatience, 5*time.Millisecond, what)
	}
	a := startProcessor(t, d, "a")
	settles("alone", a)
	b := startProcessor(t, d, "b")
	settles("joined", a, b)

	// A partition of the gossip changes nothing while all members reach PostgreSQL.
	before, since := a.Leases(), time.Now()
	a.rumours.spread("b")
	b.rumours.spread("a")
	require.Eventually(t, func() bool { return time.Since(since) > time.Second }, clusterPatience, 50*time.Millisecond)
	require.Equal(t, before, a.Leases())
	a.rumours.spread()
	b.rumours.spread()

	// One member is killed.
	b.kill()
	require.NoError(t, b.wg.Wait())
	settles("taken over", a)

	// One member loses the database while its gossip and its loops continue. It gives up its buckets without help, and
	// returns later.
	c := startProcessor(t, d, "c")
	settles("joined again", a, c)
	c.wire.set(true)
	settles("taken over from the cut off", a)
	require.Eventually(t, func() bool { return c.Owned().Empty() }, clusterPatience, 5*time.Millisecond)
	c.wire.set(false)
	settles("back", a, c)

	// One member drains.
	require.NoError(t, c.Drain(t.Context()))
	settles("left", a)
	requireOneHand(t, d)
}

func TestProcessorsPublishTheSkewOfTheirClocks(t *testing.T) {
	t.Parallel()
	c := pgbuckets.NewCluster(pgtest.New(t))
	a, b := member("a"), member("b")
	skew := 8 * time.Second
	a.ClockSkew = &skew
	require.NoError(t, c.Beat(t.Context(), a))
	require.NoError(t, c.Beat(t.Context(), b))
	all, err := c.Members(t.Context())
	require.NoError(t, err)
	require.Equal(t, skew, *all[0].ClockSkew)
	require.Nil(t, all[1].ClockSkew)
	skew = -3 * time.Second
	require.NoError(t, c.Beat(t.Context(), a), "each heartbeat says it anew")
	all, err = c.Members(t.Context())
	require.NoError(t, err)
	require.Equal(t, skew, *all[0].ClockSkew)
}

// A heartbeat does not wait for a slow synchronous standby: otherwise a live process would look dead.
func TestHeartbeatsDoNotWaitForAStandby(t *testing.T) {
	t.Parallel()
	d := pgtest.Open(t, pgtest.URL(t), postgres.Config{})
	exec := func(sql string) {
		t.Helper()
		_, err := d.Pool().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	exec(`create table commits (how text)`)
	exec(`create function note_commit() returns trigger language plpgsql as $$
		begin insert into commits values (current_setting('synchronous_commit')); return null; end $$`)
	exec(`create constraint trigger note_commit after insert or update on members
		deferrable initially deferred for each row execute function note_commit()`)
	c := pgbuckets.NewCluster(d)
	require.NoError(t, c.Beat(t.Context(), member("a")))
	require.NoError(t, c.Beat(t.Context(), member("a")))
	var how string
	require.NoError(t, d.Pool().QueryRow(t.Context(), `select string_agg(how, ' ') from commits`).Scan(&how))
	require.Equal(t, "off off", how)
}
