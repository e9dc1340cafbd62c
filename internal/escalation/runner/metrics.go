package runner

import (
	"github.com/prometheus/client_golang/prometheus"

	kitmetrics "github.com/iris-oncall/iris/internal/kit/metrics"
	"github.com/iris-oncall/iris/internal/messages"
)

type metrics struct {
	firstStep prometheus.Histogram
	dueLag    prometheus.Gauge
	decisions *prometheus.CounterVec
	made      *prometheus.CounterVec
	batch     prometheus.Histogram
	errors    *prometheus.CounterVec
	backedOff prometheus.Gauge
	nobody    prometheus.Counter
	exhausted prometheus.Counter
	leftOut   prometheus.Counter
}

// newMetrics registers the runner's metrics. With a nil registerer they are not registered.
func newMetrics(r prometheus.Registerer) (*metrics, error) {
	if r == nil {
		r = prometheus.NewRegistry()
	}
	m := &metrics{
		firstStep: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "iris_escalation_first_step_seconds", Help: "Age of incidents when their first step began.",
			Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300},
		}),
		dueLag: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "iris_escalation_due_lag_seconds", Help: "How long the oldest incident of the last read had been due; 0 = none was due.",
		}),
		decisions: kitmetrics.Start(prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "iris_escalation_decisions_total",
			Help: "Decisions: kinds of timeline entries (step, repeat, fallback, late, exhausted ...), wait and cancel.",
		}, []string{"decision"}), []string{"step", "repeat", "reopened", "late", "exhausted", "wait", "cancel",
			"operator", "fallback", "skipped"}),
		made: kitmetrics.Start(prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "iris_escalation_messages_total", Help: "Messages made, by purpose.",
		}, []string{"purpose"}), []string{string(messages.Primary), string(messages.Copy), string(messages.Fallback),
			string(messages.TrackingMsg), string(messages.Digest), string(messages.FollowUp)}),
		batch: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "iris_escalation_batch_incidents", Help: "Incidents written per transaction.",
			Buckets: []float64{1, 2, 5, 10, 20, 50, 100, 200, 400},
		}),
		errors: kitmetrics.Start(prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "iris_escalation_errors_total",
			Help: "Failures by kind: database (of a whole pass), incident, message, flood (postponed alone), lease (lost).",
		}, []string{"kind"}), []string{"database", "incident", "message", "flood", "lease"}),
		backedOff: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "iris_escalation_backed_off", Help: "Incidents and messages that failed and are tried again later.",
		}),
		nobody: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "iris_escalation_nobody_total", Help: "Notifications of incidents that reached nobody: neither the recipient nor a fallback can be paged.",
		}),
		exhausted: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "iris_escalation_exhausted_total", Help: "Incidents whose plan ended without an acknowledgement.",
		}),
		leftOut: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "iris_escalation_left_out_total",
			Help: "Decisions that were not written because the incident or its messages had changed since they were read. They are made again.",
		}),
	}
	for _, c := range []prometheus.Collector{m.firstStep, m.dueLag, m.decisions, m.made, m.batch, m.errors, m.backedOff, m.nobody, m.exhausted, m.leftOut} {
		if err := r.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}
