package jobs

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/iris-oncall/iris/internal/messages"
)

// queuesEvery is the interval between reads of the queue lengths.
const queuesEvery = 5 * time.Second

// QueueGauges exports the queues of the whole cluster, as /v0/queues shows them: all messages that wait for delivery,
// including those that wait for a retry. An empty queue has no series.
type QueueGauges struct {
	depths  func(context.Context) ([]messages.QueueDepth, error)
	waiting *prometheus.GaugeVec
	oldest  *prometheus.GaugeVec
}

// NewQueueGauges registers gauges of the queues that depths returns.
func NewQueueGauges(depths func(context.Context) ([]messages.QueueDepth, error), reg prometheus.Registerer) *QueueGauges {
	labels := []string{"mode", "application"}
	return &QueueGauges{
		depths: depths,
		waiting: promauto.With(reg).NewGaugeVec(prometheus.GaugeOpts{
			Name: "iris_app_queue_messages", Help: "Messages of the whole cluster that wait for delivery.",
		}, labels),
		oldest: promauto.With(reg).NewGaugeVec(prometheus.GaugeOpts{
			Name: "iris_app_queue_oldest_seconds", Help: "Age of the oldest message of the whole cluster that waits for delivery.",
		}, labels),
	}
}

// Run reads the queues until ctx ends. While they cannot be read, no values are exported.
func (g *QueueGauges) Run(ctx context.Context) error {
	tick := time.NewTicker(queuesEvery)
	defer tick.Stop()
	for {
		depths, err := g.depths(ctx)
		g.waiting.Reset()
		g.oldest.Reset()
		if err == nil {
			g.set(depths)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// set adds up the priority classes of each queue.
func (g *QueueGauges) set(depths []messages.QueueDepth) {
	oldest := map[[2]string]time.Duration{}
	for _, d := range depths {
		key := [2]string{string(d.Mode), d.Application}
		oldest[key] = max(oldest[key], d.OldestAge)
		g.waiting.WithLabelValues(key[:]...).Add(float64(d.Waiting))
	}
	for key, age := range oldest {
		g.oldest.WithLabelValues(key[:]...).Set(age.Seconds())
	}
}
