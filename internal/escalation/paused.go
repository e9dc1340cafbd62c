package escalation

import (
	"context"
	"fmt"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/incidents"
)

const (
	// pausedFor is how long a paused incident is not due. The runner makes it due as soon as its plan and application are resumed;
	// this is only the safety net. It is spread over pausedSpread, so that many incidents are not due at one instant.
	pausedFor    = time.Hour
	pausedSpread = 10 * time.Minute
)

// pauseIncident puts an incident off whose plan or application an operator has paused. The timeline says so once.
func pauseIncident(w *draft) {
	w.DueAt = w.due.ReadAt.Add(pausedFor + time.Duration(w.ID)*time.Second%pausedSpread)
	if w.Progress.Paused {
		return
	}
	w.Progress.Paused = true
	what := "plan " + w.plan.Name
	if w.due.ApplicationPaused {
		what = "application " + w.app.Name
	}
	w.add(incidents.EntryOperator, nil, "escalation waits: %s is paused", what)
}

// resume makes incidents due whose plan and application are no longer paused, at most every PauseLook. Every processor does it for
// all buckets, because it costs little and needs no lease.
func (r *Runner) resume(ctx context.Context) error {
	if time.Since(r.resumed) < r.cfg.PauseLook {
		return nil
	}
	n, err := r.deps.Store.Resume(ctx, r.now())
	if err != nil {
		return fmt.Errorf("resume paused incidents: %w", err)
	}
	if n == 0 {
		r.resumed = time.Now()
		return nil
	}
	r.log.Info("paused incidents are resumed", zap.Int("incidents", n)) // there may be more: the next look goes on
	return nil
}
