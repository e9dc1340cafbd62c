package escalation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/iris-oncall/iris/internal/buckets"
)

// Timers starts the escalation of incidents again whose time has come.
type Timers interface {
	// Ring starts the escalation of incidents whose late firing delivery no resolve followed, and of exhausted incidents whose
	// new alert had to wait. It returns their buckets. It is one transaction that first checks the leases; if one was lost it
	// writes nothing and returns a *buckets.LostError.
	Ring(ctx context.Context, processID string, leases []buckets.Lease, now time.Time) (buckets.Set, error)
}

// ring does so every second at most.
func (r *Runner) ring(ctx context.Context, leases []buckets.Lease) error {
	if r.cfg.Now == nil && time.Since(r.rung) < r.cfg.Poll {
		return nil
	}
	r.rung = time.Now()
	rung, err := r.deps.Store.Ring(ctx, r.deps.Holder.ProcessID(), leases, r.now())
	var lost *buckets.LostError
	switch {
	case errors.As(err, &lost):
		r.deps.Holder.Lost(lost.Buckets)
		return nil
	case err != nil:
		return fmt.Errorf("start incidents again: %w", err)
	case !rung.Empty():
		r.Wake(rung)
	}
	return nil
}
