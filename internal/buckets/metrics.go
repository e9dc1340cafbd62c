package buckets

import (
	"github.com/prometheus/client_golang/prometheus"

	shared "github.com/iris-oncall/iris/internal/metrics"
)

type metrics struct {
	unowned    prometheus.Gauge
	owned      prometheus.Gauge
	members    prometheus.Gauge
	rebalances prometheus.Counter
	takeovers  prometheus.Counter
	lost       prometheus.Counter
	failures   *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		unowned: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "iris_buckets_without_owner",
			Help: "Buckets that no live member owns, as this process sees it.",
		}),
		owned: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "iris_buckets_owned",
			Help: "Buckets that this process may work on now.",
		}),
		members: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "iris_buckets_members",
			Help: "Live message processors, as this process sees it.",
		}),
		rebalances: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "iris_buckets_rebalances_total",
			Help: "Times that this process took or gave buckets because the members changed.",
		}),
		takeovers: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "iris_buckets_takeovers_total",
			Help: "Buckets that this process took from a dead member.",
		}),
		lost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "iris_buckets_lost_total",
			Help: "Leases that this process held and found in another's hands.",
		}),
		failures: shared.Start(prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "iris_buckets_failures_total",
			Help: "Statements about members and leases that failed.",
		}, []string{"operation"}), []string{"view", "release", "acquire", "heartbeat"}),
	}
	if reg != nil {
		reg.MustRegister(m.unowned, m.owned, m.members, m.rebalances, m.takeovers, m.lost, m.failures)
	}
	return m
}
