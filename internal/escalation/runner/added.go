package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/escalation"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// added makes the messages of added pages, at most once per Poll. A page that cannot be made is postponed alone.
func (r *Runner) added(ctx context.Context, leases []buckets.Lease) error {
	if r.cfg.Now == nil && time.Since(r.addedAt) < r.cfg.Poll {
		return nil
	}
	r.addedAt = time.Now()
	waiting, err := r.deps.Store.Added(ctx, leases, Ask{Limit: r.cfg.Batch,
		Excluded: r.failedAdded.waiting(time.Now()), Now: r.now()})
	if err != nil {
		return fmt.Errorf("read added pages: %w", err)
	}
	for _, a := range waiting {
		err := r.add(ctx, a)
		var lost *buckets.LostError
		switch {
		case err == nil:
			r.failedAdded.succeeded(a.ID)
		case errors.As(err, &lost):
			r.metrics.errors.WithLabelValues("lease").Inc()
			r.deps.Holder.Lost(lost.Buckets)
			return nil
		case ctx.Err() != nil, fault.Is(err, fault.Unavailable):
			return err
		default:
			n, pause := r.failedAdded.failed(a.ID, time.Now())
			r.metrics.errors.WithLabelValues("message").Inc()
			r.log.Error("added page could not be made, retrying later", zap.Int64("incident_id", int64(a.IncidentID)),
				zap.Int("failures", n), zap.Duration("pause", pause), zap.Error(err))
		}
	}
	return nil
}

func (r *Runner) add(ctx context.Context, a escalation.Added) (err error) {
	defer fault.Recover(&err)
	plans, err := r.plans.Get(ctx, a.PlanID)
	if err != nil {
		return fmt.Errorf("read plans: %w", err)
	}
	apps, err := r.apps.Get(ctx, a.ApplicationID)
	if err != nil {
		return fmt.Errorf("read applications: %w", err)
	}
	c, err := r.decider.Add(ctx, a, plans[a.PlanID], apps[a.ApplicationID], r.failedAdded.failures(a.ID))
	if err != nil {
		return err
	}
	if err := r.deps.Store.CommitAdded(ctx, r.deps.Holder.ProcessID(), c); err != nil {
		return err
	}
	if c.Nobody > 0 {
		r.nobody(c.Nobody, zap.Int64("incident_id", int64(a.IncidentID)), zap.String("application", c.Application))
	}
	for _, m := range c.Messages {
		r.metrics.made.WithLabelValues(string(m.Purpose.Kind())).Inc()
	}
	if len(c.Messages) > 0 {
		r.deps.Waker(buckets.Of(a.Lease.Bucket))
	}
	return nil
}
