package buckets

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	kitmetrics "github.com/iris-oncall/iris/internal/kit/metrics"
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
	auto := promauto.With(reg) // a nil registerer registers nothing
	gauge := func(name, help string) prometheus.Gauge {
		return auto.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	counter := func(name, help string) prometheus.Counter {
		return auto.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	return &metrics{
		unowned: gauge("iris_buckets_without_owner", "Buckets that no live member owns, as this process sees it."),
		owned:   gauge("iris_buckets_owned", "Buckets that this process may work on now."),
		members: gauge("iris_buckets_members", "Live message processors, as this process sees it."),
		rebalances: counter("iris_buckets_rebalances_total",
			"Times that this process took or gave buckets because the members changed."),
		takeovers: counter("iris_buckets_takeovers_total", "Buckets that this process took from a dead member."),
		lost:      counter("iris_buckets_lost_total", "Leases of this process that another process acquired."),
		failures: kitmetrics.Start(auto.NewCounterVec(prometheus.CounterOpts{
			Name: "iris_buckets_failures_total", Help: "Statements about members and leases that failed.",
		}, []string{"operation"}), []string{"view", "release", "acquire", "heartbeat"}),
	}
}
