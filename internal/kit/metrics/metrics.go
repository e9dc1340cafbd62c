// Package metrics helps packages that export Prometheus metrics. It imports nothing of Iris.
package metrics

import "github.com/prometheus/client_golang/prometheus"

// Start creates the series of every combination of label values with the value 0, and returns the counter. Without
// that, rate() misses the first event of a series. values has one list for each label, in the order of the labels.
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
