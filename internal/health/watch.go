package health

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/postgres/engine"
)

const (
	// overdueLimit is how late a step, or a message, may be before that is an alarm.
	overdueLimit = 30 * time.Second
	// manyBuckets with an overdue step mean that an incident posted now would not be paged. In fewer of them one bad
	// incident may be stuck, and a server that is not ready because of it would turn away all the others.
	manyBuckets = 3
	// pendingEvery is how often the oldest unsent messages are looked up: that costs more than the oldest step.
	pendingEvery = 5 * time.Second
)

// LateWork is where overdue work is found.
type LateWork interface {
	OldestDue(ctx context.Context) ([]engine.BucketDue, error)
	OldestUnsent(ctx context.Context) ([]engine.UnsentMessage, error)
}

// Overdue looks at the oldest due step and the oldest unsent message of every bucket, whoever owns it: every process
// watches all, so that a failure of those that work is seen by those that do not. It logs and exports what it sees. Each
// method is called by one goroutine at a time (health); steps and messages share no state.
type Overdue struct {
	work       LateWork
	log        *zap.Logger
	stepAge    prometheus.Gauge
	messageAge prometheus.Gauge

	stepLate    bool // as last logged
	messageLate bool
	looked      time.Time // for messages
	found       error     // by that look
}

// NewOverdue returns a watch of work, with its gauges registered.
func NewOverdue(work LateWork, reg prometheus.Registerer, log *zap.Logger) *Overdue {
	w := &Overdue{
		work: work, log: log.Named("watch"),
		stepAge: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "iris_app_oldest_due_step_seconds", Help: "How long the oldest due step of any bucket has been waiting to be taken.",
		}),
		messageAge: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "iris_app_oldest_pending_message_seconds",
			Help: "How long ago the oldest unsent message of any bucket became due, whatever keeps it from being sent.",
		}),
	}
	reg.MustRegister(w.stepAge, w.messageAge)
	return w
}

// Checks are the conditions that the watch contributes to readiness.
func (w *Overdue) Checks() []Check { return []Check{{"escalation", w.steps}, {"delivery", w.messages}} }

// steps wants steps to happen when they are due.
func (w *Overdue) steps(ctx context.Context) error {
	due, err := w.work.OldestDue(ctx)
	if err != nil {
		return err
	}
	var oldest engine.BucketDue
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
		w.log.Error("a step is overdue and nobody takes it", zap.Int64("incident_id", int64(oldest.IncidentID)),
			zap.Int("bucket", oldest.Bucket), zap.Duration("overdue", oldest.Age), zap.Int("buckets", buckets))
	}
	w.stepLate = late
	switch {
	case !late:
		return nil
	case buckets < manyBuckets:
		return Concern(fmt.Sprintf("a step of incident %d (bucket %d) has been due for %v and nobody takes it",
			oldest.IncidentID, oldest.Bucket, oldest.Age.Round(time.Second)))
	}
	return fmt.Errorf("steps are overdue in %d buckets and nobody takes them, that of incident %d for %v", buckets,
		oldest.IncidentID, oldest.Age.Round(time.Second))
}

// messages wants messages to leave when they are due. A vendor that is away or a limit that is used up is no reason to turn
// incidents away, so it is only a concern.
func (w *Overdue) messages(ctx context.Context) error {
	if time.Since(w.looked) < pendingEvery {
		return w.found
	}
	unsent, err := w.work.OldestUnsent(ctx)
	w.looked = time.Now()
	if err != nil {
		w.found = Concern("the oldest unsent message cannot be looked up: " + plain(err).Error())
		return w.found
	}
	var oldest engine.UnsentMessage
	for _, m := range unsent {
		if m.Age > oldest.Age {
			oldest = m
		}
	}
	w.messageAge.Set(oldest.Age.Seconds())
	late := oldest.Age > overdueLimit
	if late && !w.messageLate {
		w.log.Error("a message has not been sent in time", zap.Int64("message_id", int64(oldest.MessageID)), zap.Int("bucket", oldest.Bucket),
			zap.String("mode", string(oldest.Mode)), zap.String("application", oldest.Application), zap.Duration("waiting", oldest.Age))
	}
	w.messageLate, w.found = late, nil
	if late {
		w.found = Concern(fmt.Sprintf("message %d of application %s has been due for %v and has not been sent by %s (bucket %d)",
			oldest.MessageID, oldest.Application, oldest.Age.Round(time.Second), oldest.Mode, oldest.Bucket))
	}
	return w.found
}
