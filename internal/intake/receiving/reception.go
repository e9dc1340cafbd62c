package receiving

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"
)

// keepEvery is the interval at which a process stores that it can receive pings.
const keepEvery = time.Second

// Reception stores regularly that this process can receive pings: it runs, and the database answers. iris-api runs one.
// An instant without any such process does not count against heartbeats.
type Reception struct {
	keep    func(ctx context.Context) (outage time.Duration, err error)
	log     *zap.Logger
	outages prometheus.Counter
}

// NewReception returns a Reception. keep stores that pings can be received now; after an outage it returns how long
// nobody could store that.
func NewReception(keep func(ctx context.Context) (outage time.Duration, err error), log *zap.Logger, r prometheus.Registerer) (*Reception, error) {
	out := &Reception{keep: keep, log: log.Named("heartbeats"), outages: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "iris_heartbeat_reception_outages_total",
		Help: "Times without any API server that could store pings, as far as this process ended them. After each, every heartbeat has its whole interval again.",
	})}
	return out, r.Register(out.outages)
}

// Run stores it until ctx ends.
func (r *Reception) Run(ctx context.Context) error {
	tick := time.NewTicker(keepEvery)
	defer tick.Stop()
	for {
		r.once(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// once ignores an error: the gap that it leaves is what matters, and the health checks report a database that does not
// answer.
func (r *Reception) once(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, keepEvery)
	defer cancel()
	outage, err := r.keep(ctx)
	if err == nil && outage > 0 {
		r.outages.Inc()
		r.log.Warn("no API server could receive pings for a while: every heartbeat has its whole interval again",
			zap.Duration("outage", outage))
	}
}
