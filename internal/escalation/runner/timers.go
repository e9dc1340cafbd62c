package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
)

// Timers starts the escalation of incidents again at a later time.
type Timers interface {
	// Fire starts the escalation of incidents with a late firing delivery that no resolve followed, of exhausted
	// incidents with a delayed new alert, of incidents whose snooze is over, and of acknowledged incidents that were
	// not resolved in time. It returns their buckets. It is one transaction that first checks the leases; if a lease
	// was lost, it writes nothing and returns a *buckets.LostError.
	Fire(ctx context.Context, processID string, leases []buckets.Lease, now time.Time) (buckets.Set, error)
}

// fireTimers calls Timers.Fire, at most once per Poll.
func (r *Runner) fireTimers(ctx context.Context, leases []buckets.Lease) error {
	if r.cfg.Now == nil && time.Since(r.timersAt) < r.cfg.Poll {
		return nil
	}
	r.timersAt = time.Now()
	started, err := r.deps.Timers.Fire(ctx, r.deps.Holder.ProcessID(), leases, r.now())
	var lost *buckets.LostError
	switch {
	case errors.As(err, &lost):
		r.deps.Holder.Lost(lost.Buckets)
		return nil
	case err != nil:
		return fmt.Errorf("start incidents again: %w", err)
	case !started.Empty():
		r.Wake(started)
	}
	return nil
}

// resume makes incidents due whose plan and application are no longer paused, at most every ResumeEvery. Each processor
// does so for all buckets, because it is cheap and needs no lease.
func (r *Runner) resume(ctx context.Context) error {
	if time.Since(r.resumedAt) < r.cfg.ResumeEvery {
		return nil
	}
	n, err := r.deps.Work.Resume(ctx, r.now())
	if err != nil {
		return fmt.Errorf("resume paused incidents: %w", err)
	}
	if n == 0 {
		r.resumedAt = time.Now()
		return nil
	}
	r.log.Info("paused incidents are resumed", zap.Int("incidents",
		n)) // the next pass resumes others, if there are any
	return nil
}
