package health

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/escalation/pg"
)

const (
	// overdueLimit is how late a step or a message may be before it is logged and reported.
	overdueLimit = 30 * time.Second
	// manyBuckets is how many buckets must have an overdue step before incidents count as not paged. In fewer buckets,
	// one bad incident may be stuck.
	manyBuckets = 3
	// pendingEvery is the interval between reads of the oldest unsent messages, which cost more than the oldest steps.
	pendingEvery = 5 * time.Second
)

// LateWork finds overdue work. *engine.Runner implements it.
type LateWork interface {
	OldestDue(ctx context.Context) ([]pg.BucketDue, error)
	OldestUnsent(ctx context.Context) ([]pg.UnsentMessage, error)
}

// Overdue watches the oldest due step and the oldest unsent message of every bucket, whoever owns it. Every process
// does it, so a failure of one is seen by the others. Overdue logs and exports what it finds. Each method is called by
// one goroutine at a time (Probes); steps and messages share no state.
type Overdue struct {
	work       LateWork
	log        *zap.Logger
	stepAge    prometheus.Gauge
	messageAge prometheus.Gauge

	stepLate    bool // last logged state
	messageLate bool
	readAt      time.Time // last read of messages
	found       error     // result of that read
}

// NewOverdue returns an Overdue with its gauges registered.
func NewOverdue(work LateWork, reg prometheus.Registerer, log *zap.Logger) *Overdue {
	return &Overdue{
		work: work, log: log.Named("watch"),
		stepAge: promauto.With(reg).NewGauge(prometheus.GaugeOpts{
			Name: "iris_app_oldest_due_step_seconds", Help: "How long the oldest due step of any bucket has been waiting to be taken.",
		}),
		messageAge: promauto.With(reg).NewGauge(prometheus.GaugeOpts{
			Name: "iris_app_oldest_pending_message_seconds",
			Help: "How long ago the oldest unsent message of any bucket became due, for whatever reason it waits.",
		}),
	}
}

// Checks returns the readiness checks "escalation" and "delivery".
func (w *Overdue) Checks() []Check { return []Check{{"escalation", w.steps}, {"delivery", w.messages}} }

// steps checks that no step is overdue.
func (w *Overdue) steps(ctx context.Context) error {
	due, err := w.work.OldestDue(ctx)
	if err != nil {
		return err
	}
	var oldest pg.BucketDue
	buckets := 0
	for _, d := range due {
		if d.Age > overdueLimit {
			buckets++
		}
		if d.Age > oldest.Age {
			oldest = d
		}
	}
	w.stepAge.Set(oldest.Age.Seconds())
	late := buckets > 0
	if late && !w.stepLate {
		w.log.Error("a step is overdue and no processor takes it", zap.Int64("incident_id", int64(oldest.IncidentID)),
			zap.Int("bucket", oldest.Bucket), zap.Duration("overdue", oldest.Age), zap.Int("buckets", buckets))
	}
	w.stepLate = late
	switch {
	case !late:
		return nil
	case buckets < manyBuckets:
		return Concern(fmt.Sprintf("a step of incident %d (bucket %d) is overdue by %v and no processor takes it",
			oldest.IncidentID, oldest.Bucket, oldest.Age.Round(time.Second)))
	}
	return fmt.Errorf("steps are overdue in %d buckets and no processor takes them; the oldest, of incident %d, by %v",
		buckets,
		oldest.IncidentID, oldest.Age.Round(time.Second))
}

// messages checks that no message is overdue. The result is only a concern: a vendor that is down or a limit that is
// used up is no reason to refuse incidents.
func (w *Overdue) messages(ctx context.Context) error {
	if time.Since(w.readAt) < pendingEvery {
		return w.found
	}
	unsent, err := w.work.OldestUnsent(ctx)
	w.readAt = time.Now()
	if err != nil {
		w.found = Concern("the oldest unsent message cannot be read: " + plain(err).Error())
		return w.found
	}
	var oldest pg.UnsentMessage
	for _, m := range unsent {
		if m.Age > oldest.Age {
			oldest = m
		}
	}
	w.messageAge.Set(oldest.Age.Seconds())
	late := oldest.Age > overdueLimit
	if late && !w.messageLate {
		w.log.Error("a message has not been sent in time", zap.Int64("message_id", int64(oldest.MessageID)),
			zap.Int("bucket", oldest.Bucket),
			zap.String("mode", string(oldest.Mode)), zap.String("application",
				oldest.Application), zap.Duration("waiting", oldest.Age))
	}
	w.messageLate, w.found = late, nil
	if late {
		w.found = Concern(fmt.Sprintf("message %d of application %s has been due for %v and has not been sent by %s (bucket %d)",
			oldest.MessageID, oldest.Application, oldest.Age.Round(time.Second), oldest.Mode, oldest.Bucket))
	}
	return w.found
}
