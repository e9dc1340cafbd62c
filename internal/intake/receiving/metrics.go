package receiving

import (
	"github.com/prometheus/client_golang/prometheus"

	kitmetrics "github.com/iris-oncall/iris/internal/kit/metrics"
)

type metrics struct {
	events    *prometheus.CounterVec
	fallbacks *prometheus.CounterVec
}

func newMetrics(types []string, r prometheus.Registerer) (*metrics, error) {
	if r == nil {
		r = prometheus.NewRegistry()
	}
	m := &metrics{
		events: kitmetrics.Start(prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "iris_intake_events_total",
			Help: "Events of integrations, by type and outcome: opened, updated, held, acknowledged, resolved, ignored (no incident is open), recorded (by a rule), held_back (a rule wants more events), grouped (a rule made it an alert of an open incident).",
		}, []string{"type", "outcome"}), types, []string{string(Opened), string(Updated), string(Held),
			string(Acknowledged), string(Resolved), string(Ignored), string(Recorded), string(HeldBack), string(Grouped)}),
		fallbacks: kitmetrics.Start(prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "iris_intake_fallback_plan_total",
			Help: "Incidents of integrations without a matching rule or default plan, by the owner of the plan that was used.",
		}, []string{"of"}), []string{string(ApplicationPlan), string(CatchAllPlan)}),
	}
	for _, c := range []prometheus.Collector{m.events, m.fallbacks} {
		if err := r.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}
