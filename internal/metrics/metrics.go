// Package metrics holds what every package that exports Prometheus metrics shares. It knows nothing of Iris.
package metrics

import "github.com/prometheus/client_golang/prometheus"

// Start makes the series of every combination of label values exist with the value 0, so that rates and alarms see the first event.
// There is one list of values for each label, in the order of the labels. It returns the counter.
func Start(c *prometheus.CounterVec, values ...[]string) *prometheus.CounterVec {
	start(c, nil, values)
	return c
}

func start(c *prometheus.CounterVec, chosen []string, rest [][]string) {
	if len(rest) == 0 {
		c.WithLabelValues(chosen...)
		return
	}
	for _, v := range rest[0] {
		start(c, append(chosen[:len(chosen):len(chosen)], v), rest[1:])
	}
}
