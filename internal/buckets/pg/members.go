package pg

import (
	"context"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	postgresdb "github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// reapAfter is how long the row of a dead member is kept for the cluster page.
const reapAfter = time.Minute

// Cluster reads and writes members and leases of buckets. It is a buckets.Store; readiness and the cluster page read
// it. Safe for concurrent use.
type Cluster struct {
	db *postgres.DB
}

var (
	_ buckets.Store      = (*Cluster)(nil)
	_ buckets.EndedStore = (*Cluster)(nil)
)

// NewCluster returns the adapter. A message processor gives it a small pool of its own, so that heartbeats never wait
// for busy workers.
func NewCluster(d *postgres.DB) *Cluster { return &Cluster{db: d} }

// Beat implements buckets.Store.
func (c *Cluster) Beat(ctx context.Context, m buckets.Member) error {
	var joined bool
	err := c.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) (err error) {
		joined, err = q.BeatMember(ctx, postgresdb.BeatMemberParams{
			ProcessID:        m.ProcessID,
			Host:             m.Host,
			GossipAddr:       m.GossipAddr,
			Version:          m.Version,
			DataShape:        m.DataShape,
			Modes:            postgres.NonNil(m.Modes),
			Draining:         m.Draining,
			ClockSkewSeconds: seconds(m.ClockSkew),
		})
		if err != nil {
			return err
		}
		_, err = q.ReapMembers(ctx, reapAfter.Seconds())
		return err
	})
	if err == nil && (joined || m.Draining) {
		c.hint(ctx, m.ProcessID)
	}
	return err
}

// MarkEnded implements buckets.EndedStore.
func (c *Cluster) MarkEnded(ctx context.Context, processID string, fresh time.Duration) error {
	return c.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		return q.MarkMemberEnded(ctx, postgresdb.MarkMemberEndedParams{ProcessID: processID,
			FreshSeconds: fresh.Seconds()})
	})
}

// View implements buckets.Store. Leases are read before members: an owner that is not among the members has
// left, and is not newer than the list.
func (c *Cluster) View(ctx context.Context) (buckets.View, error) {
	var v buckets.View
	err := c.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) (err error) {
		if v.Leases, err = leaseStates(ctx, q); err != nil {
			return err
		}
		v.Members, err = memberStates(ctx, q)
		return err
	})
	return v, err
}

// Acquire implements buckets.Store.
func (c *Cluster) Acquire(ctx context.Context, a buckets.Acquisition) ([]buckets.Lease, int, error) {
	var got []buckets.Lease
	var taken int
	err := c.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		got, taken = nil, 0
		locked, err := q.LockLeasesForAcquire(ctx, a.Buckets.List())
		if err != nil || len(locked) == 0 {
			return err
		}
		rows, err := q.AcquireLeases(ctx, postgresdb.AcquireLeasesParams{
			ProcessID:      a.ProcessID,
			Suspects:       a.Suspects,
			SuspectSeconds: a.Limits.SuspectFresh.Seconds(),
			FreshSeconds:   a.Limits.Fresh.Seconds(),
			Buckets:        locked,
		})
		if err != nil {
			return err
		}
		for _, r := range rows {
			got = append(got, buckets.Lease{Bucket: r.Bucket, Epoch: r.Epoch})
			if r.TakenOver {
				taken++
			}
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	return got, taken, nil
}

// Release implements buckets.Store.
func (c *Cluster) Release(ctx context.Context, processID string, bs buckets.Set) (buckets.Set, error) {
	var freed buckets.Set
	err := c.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		rows, err := q.ReleaseLeases(ctx, postgresdb.ReleaseLeasesParams{Buckets: bs.List(), ProcessID: processID})
		for _, b := range rows {
			freed.Add(b)
		}
		return err
	})
	if !freed.Empty() {
		c.hint(ctx, processID)
	}
	return freed, err
}

// Leave implements buckets.Store. Without the row of the member, its leases that could not be freed count as those of a
// dead member.
func (c *Cluster) Leave(ctx context.Context, processID string) error {
	err := c.db.InTx(ctx, func(ctx context.Context, q *postgresdb.Queries) error {
		all := postgresdb.ReleaseLeasesParams{Buckets: buckets.All().List(), ProcessID: processID}
		if _, err := q.ReleaseLeases(ctx, all); err != nil {
			return err
		}
		return q.DeleteMember(ctx, processID)
	})
	if err == nil {
		c.hint(ctx, processID)
	}
	return err
}

// Members lists the members by process id, with those that died in the last minute: see their Age.
func (c *Cluster) Members(ctx context.Context) ([]buckets.MemberState, error) {
	var out []buckets.MemberState
	err := c.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) (err error) {
		out, err = memberStates(ctx, q)
		return err
	})
	return out, err
}

// Buckets returns owner, epoch and time of acquisition of every bucket.
func (c *Cluster) Buckets(ctx context.Context) ([buckets.Count]buckets.LeaseState, error) {
	var out [buckets.Count]buckets.LeaseState
	err := c.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) (err error) {
		out, err = leaseStates(ctx, q)
		return err
	})
	return out, err
}

// BucketsWithoutLiveOwner counts the buckets that no live member owns now.
func (c *Cluster) BucketsWithoutLiveOwner(ctx context.Context) (int, error) {
	var n int
	err := c.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) (err error) {
		n, err = q.CountBucketsWithoutLiveOwner(ctx, buckets.DefaultLimits().Fresh.Seconds())
		return err
	})
	return n, err
}

// hint sends a hint to the other members. They read the change within a second anyway, so errors are ignored.
func (c *Cluster) hint(ctx context.Context, processID string) {
	_ = c.db.Do(ctx, func(ctx context.Context, q *postgresdb.Queries) error { return q.NotifyMembers(ctx, processID) })
}

func memberStates(ctx context.Context, q *postgresdb.Queries) ([]buckets.MemberState, error) {
	rows, err := q.ListMembers(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]buckets.MemberState, 0, len(rows))
	for _, r := range rows {
		out = append(out, buckets.MemberState{
			Member: buckets.Member{
				ProcessID:  r.ProcessID,
				Host:       r.Host,
				GossipAddr: r.GossipAddr,
				Version:    r.Version,
				DataShape:  r.DataShape,
				Modes:      r.Modes,
				Draining:   r.Draining,
				ClockSkew:  duration(r.ClockSkewSeconds),
			},
			StartedAt:   r.StartedAt,
			HeartbeatAt: r.HeartbeatAt,
			Age:         time.Duration(r.AgeSeconds * float64(time.Second)),
			Ended:       r.Ended,
		})
	}
	return out, nil
}

func seconds(d *time.Duration) *float64 {
	if d == nil {
		return nil
	}
	out := d.Seconds()
	return &out
}

func duration(seconds *float64) *time.Duration {
	if seconds == nil {
		return nil
	}
	out := postgres.FloatSeconds(*seconds)
	return &out
}

func leaseStates(ctx context.Context, q *postgresdb.Queries) ([buckets.Count]buckets.LeaseState, error) {
	var out [buckets.Count]buckets.LeaseState
	rows, err := q.ListLeases(ctx)
	if err != nil {
		return out, err
	}
	for _, r := range rows {
		l := buckets.LeaseState{Epoch: r.Epoch}
		if r.Owner != nil {
			l.Owner = *r.Owner
		}
		if r.AcquiredAt != nil {
			l.Since = *r.AcquiredAt
		}
		out[r.Bucket] = l
	}
	return out, nil
}
