package jobs

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/iris-oncall/iris/internal/messages"
)

// queuesEvery is how often the length of the queues is exported.
const queuesEvery = 5 * time.Second

// QueueGauges export what /v0/queues shows: what waits for delivery in the whole cluster, for whatever reason, also what is
// tried again later because its vendor is away. Queues with nothing in them are absent.
type QueueGauges struct {
	depths  func(context.Context) ([]messages.QueueDepth, error)
	waiting *prometheus.GaugeVec
	oldest  *prometheus.GaugeVec
}

// NewQueueGauges registers gauges of what depths returns.
func NewQueueGauges(depths func(context.Context) ([]messages.QueueDepth, error), reg prometheus.Registerer) *QueueGauges {
	labels := []string{"mode", "application"}
	g := &QueueGauges{
		depths: depths,
		waiting: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "iris_app_queue_messages", Help: "Messages of the whole cluster that wait for delivery.",
		}, labels),
		oldest: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "iris_app_queue_oldest_seconds", Help: "Age of the oldest message of the whole cluster that waits for delivery.",
		}, labels),
	}
	reg.MustRegister(g.waiting, g.oldest)
	return g
}

// Run looks until ctx ends. While the database does not answer nothing is known, and so nothing is exported.
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

// set adds the classes of a queue up.
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
