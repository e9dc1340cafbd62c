package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
)

// fireTimers calls Store.Fire, at most once per Poll.
func (r *Runner) fireTimers(ctx context.Context, leases []buckets.Lease) error {
	if r.cfg.Now == nil && time.Since(r.timersAt) < r.cfg.Poll {
		return nil
	}
	r.timersAt = time.Now()
	started, err := r.deps.Store.Fire(ctx, r.deps.Holder.ProcessID(), leases, r.now())
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
	n, err := r.deps.Store.Resume(ctx, r.now())
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
