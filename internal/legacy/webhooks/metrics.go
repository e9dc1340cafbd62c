package webhooks

import (
	"errors"
	"net/http"
	"path"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/iris-oncall/iris/internal/kit/fault"
	kitmetrics "github.com/iris-oncall/iris/internal/kit/metrics"
)

type metrics struct {
	refusals  *prometheus.CounterVec
	fallbacks *prometheus.CounterVec
}

// The reasons of refusals in the metric.
const (
	reasonCredentials = "credentials"
	reasonSize        = "too_large"
	reasonPlan        = "plan"
	reasonBody        = "body"
	reasonLater       = "later"
	reasonInternal    = "internal"
)

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	if r == nil {
		r = prometheus.NewRegistry()
	}
	m := &metrics{
		refusals: kitmetrics.Start(prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "iris_webhook_refused_total",
			Help: "Deliveries of alerts that were refused, by format and reason: credentials, body, too_large, plan, later (the sender must send it again), internal.",
		}, []string{"format", "reason"}), Names(), []string{reasonCredentials, reasonSize, reasonPlan, reasonBody,
			reasonLater, reasonInternal}),
		fallbacks: kitmetrics.Start(prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "iris_webhook_fallback_plan_total",
			Help: "Incidents of alerts without a usable plan, by the owner of the plan that was used: application, installation.",
		}, []string{"of"}), []string{string(applicationPlan), string(catchAllPlan)}),
	}
	for _, c := range []prometheus.Collector{m.refusals, m.fallbacks} {
		if err := r.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// refused counts a refusal. The last part of the path is the format.
func (m *metrics) refused(r *http.Request, err error) {
	reason := reasonInternal
	switch fault.KindOf(err) {
	case fault.Unauthenticated, fault.Forbidden:
		reason = reasonCredentials
	case fault.TooLarge:
		reason = reasonSize
	case fault.NotFound:
		reason = reasonPlan
	case fault.Invalid:
		reason = reasonBody
		q := r.URL.Query()
		var f *fault.Error
		switch errors.As(err, &f); {
		case q.Get("application") == "" || q.Get("key") == "":
			reason = reasonCredentials
		case f.Field == "plan" || f.Field == planLabel:
			reason = reasonPlan
		}
	case fault.Unavailable, fault.Throttled, fault.Conflict:
		reason = reasonLater
	case fault.Internal, fault.Mismatch, fault.Stale:
	}
	m.refusals.WithLabelValues(path.Base(r.URL.Path), reason).Inc()
}
