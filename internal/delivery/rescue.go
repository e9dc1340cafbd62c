package delivery

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/delivery/account"
)

// rescuer makes attempts that dead processes left behind pending again, once every Poll. It also reads which accounts
// are paused, reports late pages, and drops expired messages. One goroutine runs it.
type rescuer struct {
	queue    Rescuer
	limits   Limits
	leases   Leases
	finder   *finder
	pauses   *account.Pauses
	inFlight *inFlight
	report   *reporter
	poll     time.Duration

	searched, swept time.Time // the latest search for late pages, and the latest that covered all pages
}

const (
	// unsentAfter is the time after which an unsent page counts as late.
	unsentAfter = 30 * time.Second
	// unsentEvery is the time between searches for late pages. A search covers the pages that became late since the
	// previous one. It begins unsentMargin earlier, for transactions that were slow to commit.
	unsentEvery  = 5 * time.Second
	unsentMargin = time.Minute
	// unsentSweep is how often the search covers all pages.
	unsentSweep = time.Minute
)

// run works until ctx ends.
func (r *rescuer) run(ctx context.Context) {
	ticker := time.NewTicker(r.poll)
	defer ticker.Stop()
	var expired time.Time
	for {
		r.learnPauses(ctx)
		r.rescue(ctx)
		r.noteUnsent(ctx)
		if time.Since(expired) > sweepEvery {
			expired = time.Now()
			r.expire(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (r *rescuer) learnPauses(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	ps, err := r.limits.Pauses(ctx)
	if err != nil {
		r.report.Failed("pauses", err)
		return
	}
	r.pauses.Set(time.Now(), ps)
}

// rescue finds attempts in doubt and makes their messages pending again.
func (r *rescuer) rescue(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	leases := r.leases.Leases()
	me := r.leases.ProcessID()
	overdue, err := r.queue.Sending(ctx, me, setOf(leases).List())
	if err != nil {
		r.report.Failed("rescue", err)
		return
	}
	var lost []Recovered
	var touched buckets.Set
	for _, one := range overdue {
		if !r.inFlight.has(one.ID) {
			lost = append(lost, one)
			touched.Add(one.Bucket)
		}
	}
	if len(lost) > 0 {
		if err := r.queue.Doubt(ctx, lost); err != nil {
			r.report.Failed("rescue", err)
			return
		}
		r.report.metrics.inDoubt.Add(float64(len(lost)))
		r.report.log.Warn("attempts in doubt are made again", zap.Int("messages", len(lost)))
		r.finder.Wake(touched)
	}
}

// noteUnsent notes pages that have not been sent in time on their timelines, in the log and in a metric.
func (r *rescuer) noteUnsent(ctx context.Context) {
	now := time.Now()
	if now.Sub(r.searched) < unsentEvery {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var low time.Time
	sweep := now.Sub(r.swept) >= unsentSweep
	if !sweep {
		low = r.searched.Add(-unsentAfter - unsentMargin)
	}
	late, err := r.queue.NoteUnsent(ctx, setOf(r.leases.Leases()).List(), unsentAfter, low)
	if err != nil {
		r.report.Failed("note unsent pages", err)
		return
	}
	r.searched = now
	if sweep {
		r.swept = now
	}
	for _, u := range late {
		r.report.metrics.unsent.WithLabelValues(string(u.Mode)).Inc()
	}
	if len(late) > 0 {
		u := late[0]
		r.report.log.Error("pages have not been sent in time and are still tried", zap.Int("pages", len(late)),
			zap.Int64("incident_id", int64(u.IncidentID)), zap.Int64("message_id", int64(u.ID)), zap.String("mode",
				string(u.Mode)),
			zap.String("application", u.Application), zap.Duration("waiting", u.Age))
	}
}

func (r *rescuer) expire(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	leases := r.leases.Leases()
	if len(leases) == 0 {
		return
	}
	n, err := r.queue.Expire(ctx, leases, r.leases.ProcessID())
	if err != nil {
		r.report.Failed("expire", err)
		return
	}
	if n > 0 {
		r.report.log.Info("dropped messages that expired before they could be sent", zap.Int("messages", n))
	}
}
