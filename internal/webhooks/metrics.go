package webhooks

import (
	"errors"
	"net/http"
	"path"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/iris-oncall/iris/internal/fault"
	shared "github.com/iris-oncall/iris/internal/metrics"
)

type metrics struct {
	refusals  *prometheus.CounterVec
	fallbacks *prometheus.CounterVec
}

// The reasons of refusals, as the metric names them.
const (
	byCredentials = "credentials"
	bySize        = "too_large"
	byPlan        = "plan"
	byBody        = "body"
	byLoad        = "later"
	byFault       = "internal"
)

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	if r == nil {
		r = prometheus.NewRegistry()
	}
	m := &metrics{
		refusals: shared.Start(prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "iris_webhook_refused_total",
			Help: "Deliveries of alerts that were refused, by format and reason: credentials, body, too_large, plan, later (the sender must send it again), internal.",
		}, []string{"format", "reason"}), Names(), []string{byCredentials, bySize, byPlan, byBody, byLoad, byFault}),
		fallbacks: shared.Start(prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "iris_webhook_fallback_plan_total",
			Help: "Incidents of alerts without a usable plan, by whose plan they were opened on: application, installation.",
		}, []string{"of"}), []string{string(ofApp), string(installation)}),
	}
	for _, c := range []prometheus.Collector{m.refusals, m.fallbacks} {
		if err := r.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// refused counts a refusal. The last part of the path is the format, because only its routes lead here.
func (m *metrics) refused(r *http.Request, err error) {
	reason := byFault
	switch fault.KindOf(err) {
	case fault.Unauthenticated, fault.Forbidden:
		reason = byCredentials
	case fault.TooLarge:
		reason = bySize
	case fault.NotFound:
		reason = byPlan
	case fault.Invalid:
		reason = byBody
		q := r.URL.Query()
		var f *fault.Error
		switch errors.As(err, &f); {
		case q.Get("application") == "" || q.Get("key") == "":
			reason = byCredentials
		case f.Field == "plan" || f.Field == planLabel:
			reason = byPlan
		}
	case fault.Unavailable, fault.Throttled, fault.Conflict:
		reason = byLoad
	case fault.Internal, fault.Mismatch, fault.Stale:
	}
	m.refusals.WithLabelValues(path.Base(r.URL.Path), reason).Inc()
}
