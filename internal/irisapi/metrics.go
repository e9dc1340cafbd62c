package irisapi

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

type metrics struct {
	// Requests that are refused because too many messages of the application wait.
	refusedIncidents, refusedNotifications prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) *metrics {
	refused := promauto.With(reg).NewCounterVec(prometheus.CounterOpts{
		Name: "iris_httpapi_overload_refused_total", Help: "Requests refused because too many messages of the application wait.",
	}, []string{"what"})
	return &metrics{refused.WithLabelValues("incident"), refused.WithLabelValues("notification")}
}
