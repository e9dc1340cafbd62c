package irisapi

import "github.com/prometheus/client_golang/prometheus"

type metrics struct {
	// Requests that are refused because too many messages of the application wait.
	refusedIncidents, refusedNotifications prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		refusedIncidents: newRefused("incident"), refusedNotifications: newRefused("notification"),
	}
	for _, c := range []prometheus.Collector{m.refusedIncidents, m.refusedNotifications} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func newRefused(what string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{
		Name: "iris_httpapi_overload_refused_total", Help: "Requests refused because too many messages of the application wait.",
		ConstLabels: prometheus.Labels{"what": what},
	})
}
