package runner

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"golang.org/x/sync/errgroup"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// pass reads the due work of the buckets once and does it. It returns the buckets in which there may be more.
func (r *Runner) pass(ctx context.Context, bs buckets.Set) (more buckets.Set, err error) {
	leases := r.held(bs)
	if len(leases) == 0 {
		return more, nil
	}
	now := r.now()
	if err := r.resume(ctx); err != nil {
		return more, err
	}
	due, err := r.deps.Store.Due(ctx, leases, Ask{
		Limit: r.cfg.ReadLimit, PerBucket: r.cfg.PerBucket, Excluded: r.failedIncidents.waiting(time.Now()), Now: now,
	})
	if err != nil {
		return more, fmt.Errorf("read due incidents: %w", err)
	}
	done, err := r.work(ctx, due)
	if err == nil && (bs == buckets.All() || time.Since(r.fallbacksAt) >= fallbackGap) {
		r.fallbacksAt = time.Now()
		err = r.fallbacks(ctx, leases)
	}
	if err == nil && bs == buckets.All() {
		err = errors.Join(r.digests(ctx, leases), r.fireTimers(ctx, leases), r.added(ctx, leases))
	}
	if err != nil {
		r.outages++
		return more, err
	}
	r.outages = 0
	if done > 0 && len(due) > 0 {
		more = r.unfinished(leases, due)
	}
	return more, nil
}

// unfinished returns the buckets whose due incidents the read may have cut off.
func (r *Runner) unfinished(leases []buckets.Lease, due []escalation.Due) (more buckets.Set) {
	counts := map[int]int{}
	for _, d := range due {
		counts[d.Lease.Bucket]++
		if counts[d.Lease.Bucket] >= r.cfg.PerBucket {
			more.Add(d.Lease.Bucket)
		}
	}
	if len(due) < r.cfg.ReadLimit {
		return more
	}
	last := due[len(due)-1].Lease.Bucket
	cut := false
	for _, l := range leases {
		if cut = cut || l.Bucket == last; cut {
			more.Add(l.Bucket)
		}
	}
	return more
}

// work decides and writes due incidents in batches, several at once. It returns how many were completed.
func (r *Runner) work(ctx context.Context, due []escalation.Due) (int, error) {
	r.noteLag(due)
	var live []escalation.Due
	var silenced []escalation.Due
	for _, d := range due {
		if d.Active {
			live = append(live, d)
		} else {
			silenced = append(silenced, d)
		}
	}
	var done atomic.Int64
	group, gctx := errgroup.WithContext(ctx)
	group.SetLimit(r.cfg.Parallel)
	for batch := range chunks(silenced, r.cfg.Batch) {
		group.Go(func() error { return r.split(gctx, batch, r.cancelBatch, &done) })
	}
	for batch := range chunks(live, r.cfg.Batch) {
		group.Go(func() error { return r.split(gctx, batch, r.advanceBatch, &done) })
	}
	err := group.Wait()
	r.metrics.backedOff.Set(float64(r.failedIncidents.len() + r.failedMessages.len() + r.failedDigests.len() +
		r.failedAdded.len()))
	return int(done.Load()), err
}

func (r *Runner) noteLag(due []escalation.Due) {
	var lag time.Duration
	for _, d := range due {
		lag = max(lag, d.ReadAt.Sub(d.DueAt))
	}
	r.metrics.dueLag.Set(lag.Seconds())
}

func chunks(due []escalation.Due, size int) func(yield func([]escalation.Due) bool) {
	return func(yield func([]escalation.Due) bool) {
		for len(due) > 0 {
			n := min(size, len(due))
			if !yield(due[:n:n]) {
				return
			}
			due = due[n:]
		}
	}
}

// split runs a batch. If the batch fails because of its data, split runs its halves, until the failing incident is
// alone and is postponed.
func (r *Runner) split(ctx context.Context, batch []escalation.Due, do func(context.Context, []escalation.Due) error, done *atomic.Int64) error {
	err := try(ctx, batch, do)
	if err == nil {
		done.Add(int64(len(batch)))
		r.passed()
		return nil
	}
	var lost *buckets.LostError
	if errors.As(err, &lost) {
		r.metrics.errors.WithLabelValues("lease").Inc()
		r.deps.Holder.Lost(lost.Buckets)
		rest := make([]escalation.Due, 0, len(batch))
		for _, d := range batch {
			if !lost.Buckets.Has(d.Lease.Bucket) {
				rest = append(rest, d)
			}
		}
		if len(rest) == 0 || len(rest) == len(batch) {
			return nil
		}
		return r.split(ctx, rest, do, done)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	// An outage of the database has no incident as its cause. But the database has just answered a read. If it refuses
	// writes in several passes, one incident may be the cause.
	if fault.Is(err, fault.Unavailable) && r.outages < 3 {
		return err
	}
	if len(batch) == 1 {
		return r.postpone(ctx, batch[0], err)
	}
	half := len(batch) / 2
	if err := r.split(ctx, batch[:half], do, done); err != nil {
		return err
	}
	return r.split(ctx, batch[half:], do, done)
}

// try calls do and returns its panic as an error: an object that causes a panic must not end the process, nor each
// process that takes the object over.
func try[T any](ctx context.Context, batch []T, do func(context.Context, []T) error) (err error) {
	defer fault.Recover(&err)
	return do(ctx, batch)
}

// postpone delays an incident that cannot be escalated, and adds a line to its timeline.
func (r *Runner) postpone(ctx context.Context, d escalation.Due, cause error) error {
	n, pause := r.failedIncidents.failed(int64(d.ID), time.Now())
	r.metrics.errors.WithLabelValues("incident").Inc()
	r.log.Error("incident cannot be escalated, retrying later", zap.Int64("incident_id", int64(d.ID)),
		zap.Int64("plan", int64(d.PlanID)), zap.Int("step", d.Progress.Step), zap.Int("failures", n),
		zap.Duration("pause", pause), zap.Error(cause))
	var entry incidents.Entry
	if n&(n-1) == 0 { // the 1st, 2nd, 4th, 8th ... time, not every time
		entry = escalation.FailureEntry(cause, n, pause)
	}
	err := r.deps.Store.Delay(ctx, r.deps.Holder.ProcessID(), d, pause, entry, r.now())
	switch {
	case errors.Is(err, buckets.ErrLost), err == nil:
		return nil
	case fault.Is(err, fault.Unavailable):
		return err
	}
	r.log.Error("incident cannot be postponed, this process skips it for now", zap.Int64("incident_id", int64(d.ID)),
		zap.Error(err))
	return nil
}

// cancelBatch cancels the unsent messages of incidents that were acknowledged or resolved.
func (r *Runner) cancelBatch(ctx context.Context, batch []escalation.Due) error {
	ids := make([]incidents.ID, len(batch))
	for i, d := range batch {
		ids[i] = d.ID
	}
	err := r.deps.Store.Cancel(ctx, r.deps.Holder.ProcessID(), leasesOfDue(batch), ids, r.now())
	if err == nil {
		r.metrics.decisions.WithLabelValues("cancel").Add(float64(len(batch)))
	}
	return err
}

func leasesOfDue(batch []escalation.Due) []buckets.Lease {
	return leasesOf(batch, func(d escalation.Due) buckets.Lease { return d.Lease })
}
