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

// maxFallbackBatches bounds how long failed messages prolong a pass: due incidents come first.
const maxFallbackBatches = 20

// fallbackGap is the least time between two searches for failed messages in passes that a wake-up started. Wake-ups are
// for due incidents. A full pass always searches, so a failed message waits for Config.Poll at most.
const fallbackGap = 200 * time.Millisecond

// fallbacks reads messages of the leased buckets that failed for good in every mode, and pages somebody else instead
// (promise P8). They belong to incidents or are out of band.
func (r *Runner) fallbacks(ctx context.Context, leases []buckets.Lease) error {
	for range maxFallbackBatches {
		failed, err := r.deps.Store.Failed(ctx, leases, Ask{
			Limit: r.cfg.Batch, PerBucket: r.cfg.PerBucket, Excluded: r.failedMessages.waiting(time.Now()), Now: r.now(),
		})
		if err != nil {
			return fmt.Errorf("read failed messages: %w", err)
		}
		if len(failed) == 0 {
			return nil
		}
		// One bucket alone gives no more than PerBucket at a time.
		if done, err := r.replace(ctx, failed); err != nil || !done || len(failed) < min(r.cfg.Batch, r.cfg.PerBucket) {
			return err
		}
	}
	return nil
}

// replace writes the fallbacks of a batch. A batch that fails because of its data is halved until the failing message
// is alone. done is false if a lease was lost: then the leases must be read again.
func (r *Runner) replace(ctx context.Context, failed []escalation.Failed) (done bool, err error) {
	err = try(ctx, failed, r.replaceBatch)
	var lost *buckets.LostError
	switch {
	case err == nil:
		r.passed()
		return true, nil
	case errors.As(err, &lost):
		r.metrics.errors.WithLabelValues("lease").Inc()
		r.deps.Holder.Lost(lost.Buckets)
		return false, nil
	case ctx.Err() != nil:
		return false, ctx.Err()
	case fault.Is(err, fault.Unavailable) && r.outages < 3:
		return false, err
	case len(failed) == 1:
		r.postponeMessage(failed[0], err)
		return true, nil
	}
	half := len(failed) / 2
	if done, err := r.replace(ctx, failed[:half]); err != nil || !done {
		return done, err
	}
	return r.replace(ctx, failed[half:])
}

// postponeMessage delays a failed message whose fallback cannot be made now.
func (r *Runner) postponeMessage(f escalation.Failed, cause error) {
	n, pause := r.failedMessages.failed(int64(f.ID), time.Now())
	r.metrics.errors.WithLabelValues("message").Inc()
	r.log.Error("fallback of a failed message could not be made, retrying later", zap.Int64("message_id", int64(f.ID)),
		zap.Int64("incident_id", int64(f.Made.IncidentID)), zap.Int("failures", n), zap.Duration("pause",
			pause), zap.Error(cause))
}

func (r *Runner) replaceBatch(ctx context.Context, failed []escalation.Failed) error {
	planIDs, appIDs := []escalation.PlanID{}, make([]int64, len(failed))
	for i, f := range failed {
		appIDs[i] = f.Made.ApplicationID
		if f.Made.PlanID != 0 {
			planIDs = append(planIDs, escalation.PlanID(f.Made.PlanID))
		}
	}
	plans, err := r.plans.Get(ctx, planIDs...)
	if err != nil {
		return fmt.Errorf("read plans: %w", err)
	}
	apps, err := r.apps.Get(ctx, appIDs...)
	if err != nil {
		return fmt.Errorf("read applications: %w", err)
	}
	now := r.now()
	at := now
	if at.IsZero() {
		at = r.deps.Clock.Now() // for resolving on-call roles only; stored times are the database's
	}
	changes := make([]escalation.FallbackChange, 0, len(failed))
	for _, f := range failed {
		c, err := r.replaceSafely(ctx, f, plans[escalation.PlanID(f.Made.PlanID)], apps[f.Made.ApplicationID], at)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			r.postponeMessage(f, err)
			continue
		}
		changes = append(changes, c)
	}
	if len(changes) == 0 {
		return nil
	}
	leases := leasesOf(changes, func(c escalation.FallbackChange) buckets.Lease { return c.Failed.Lease })
	if err := r.deps.Store.CommitFallbacks(ctx, r.deps.Holder.ProcessID(), leases, changes, now); err != nil {
		return err
	}
	var made buckets.Set
	for _, c := range changes {
		r.failedMessages.succeeded(int64(c.Failed.ID))
		if c.Nobody && !c.Failed.OutOfBand() { // a vendor's long outage would log every mail
			r.unreached(c.Failed, plans[escalation.PlanID(c.Failed.Made.PlanID)])
		}
		for _, m := range c.Messages {
			r.metrics.made.WithLabelValues(string(m.Purpose.Kind())).Inc()
			made.Add(c.Failed.Lease.Bucket)
		}
	}
	if !made.Empty() {
		r.deps.Waker(made)
	}
	return nil
}

// unreached logs that neither the recipient of a page nor a fallback could be reached. While the page is still being
// sent, it may arrive: that is a warning only.
func (r *Runner) unreached(f escalation.Failed, plan escalation.Plan) {
	about := []zap.Field{
		zap.Int64("message_id", int64(f.ID)), zap.Int64("incident_id", int64(f.Made.IncidentID)), zap.String("plan",
			plan.Name),
		zap.String("target", f.Made.Target), zap.Int("step", f.Made.Step),
	}
	if f.Trying {
		r.log.Warn("page could not be sent in any mode yet and has no fallback: it is tried again", about...)
		return
	}
	r.nobody(1, about...)
}

func (r *Runner) replaceSafely(ctx context.Context, f escalation.Failed, plan escalation.Plan, app escalation.Application, at time.Time) (c escalation.FallbackChange, err error) {
	defer fault.Recover(&err)
	return r.decider.ReplaceFailed(ctx, f, plan, app, at, r.failedMessages.failures(int64(f.ID)))
}
