package irisapi

import (
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	requests *prometheus.HistogramVec
	// Refused because the application has too much waiting.
	refusedIncidents, refusedNotifications prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "iris_httpapi_request_seconds", Help: "Time to answer API requests, by route, method and status.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"route", "method", "status"}),
		refusedIncidents: newRefused("incident"), refusedNotifications: newRefused("notification"),
	}
	for _, c := range []prometheus.Collector{m.requests, m.refusedIncidents, m.refusedNotifications} {
		if err := reg.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func newRefused(what string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{
		Name: "iris_httpapi_overload_refused_total", Help: "Requests refused because the application has too much waiting.",
		ConstLabels: prometheus.Labels{"what": what},
	})
}

// observe measures requests of a route that matched.
func (m *metrics) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		rec := &statusRecorder{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(rec, r)
		route := "none"
		if rctx := chi.RouteContext(r.Context()); rctx != nil {
			route = rctx.RoutePattern()
		}
		m.requests.WithLabelValues(route, r.Method, strconv.Itoa(rec.status)).Observe(time.Since(began).Seconds())
	})
}

type statusRecorder struct {
	http.ResponseWriter
	status int
}

func (s *statusRecorder) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

func (s *statusRecorder) Unwrap() http.ResponseWriter { return s.ResponseWriter }
