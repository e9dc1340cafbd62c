package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/postgres"
)

// overdueLimit is how late a step may be before that counts as "an incident posted now would not be paged".
const overdueLimit = 30 * time.Second

// databaseCheck wants the database to answer with the right schema.
func databaseCheck(db *postgres.DB) check {
	return check{"database", db.CheckSchema}
}

// membersCheck wants every bucket to have a live owner: an incident posted now would be looked at.
func membersCheck(c *postgres.Cluster) check {
	return check{"processors", func(ctx context.Context) error {
		members, err := c.Members(ctx)
		if err != nil {
			return plain(err)
		}
		live := 0
		for _, m := range members {
			if m.Age < buckets.DefaultLimits().Fresh {
				live++
			}
		}
		if live == 0 {
			return errors.New("no message-processor is alive: nobody would be paged")
		}
		lonely, err := c.BucketsWithoutLiveOwner(ctx)
		if err != nil {
			return plain(err)
		}
		if lonely > 0 {
			return fmt.Errorf("%d of %d buckets have no live owner: their incidents wait", lonely, buckets.Count)
		}
		return nil
	}}
}

// overdueCheck wants steps to happen when they are due, whoever owns their buckets.
func overdueCheck(w *overdueWatch) check { return check{"escalation", w.ready} }

// overdueWatch looks at the oldest due step of every bucket, whoever owns it: every process watches all, so that a
// failure of those that work is seen by those that do not. It logs and exports what it sees.
type overdueWatch struct {
	runner *postgres.Runner
	log    *zap.Logger
	age    prometheus.Gauge
	late   bool // as last logged
}

func newOverdueWatch(r *postgres.Runner, reg prometheus.Registerer, log *zap.Logger) *overdueWatch {
	w := &overdueWatch{runner: r, log: log.Named("watch"), age: prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "iris_app_oldest_due_step_seconds", Help: "How long the oldest due step of any bucket has been waiting to be taken.",
	})}
	reg.MustRegister(w.age)
	return w
}

// ready is called by one goroutine at a time (health).
func (w *overdueWatch) ready(ctx context.Context) error {
	due, err := w.runner.OldestDue(ctx)
	if err != nil {
		return plain(err)
	}
	var oldest postgres.BucketDue
	for _, d := range due {
		if d.Age > oldest.Age {
			oldest = d
		}
	}
	w.age.Set(oldest.Age.Seconds())
	late := oldest.Age > overdueLimit
	if late && !w.late {
		w.log.Error("a step is overdue and nobody takes it", zap.Int64("incident_id", int64(oldest.IncidentID)),
			zap.Int("bucket", oldest.Bucket), zap.Duration("overdue", oldest.Age))
	}
	w.late = late
	if late {
		return fmt.Errorf("a step of incident %d (bucket %d) has been due for %v and nobody takes it",
			oldest.IncidentID, oldest.Bucket, oldest.Age.Round(time.Second))
	}
	return nil
}
