package wire

import (
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
)

// Requests measures the requests of APIs. It is safe for concurrent use.
type Requests struct{ seconds *prometheus.HistogramVec }

// NewRequests registers the metric. It returns an error if the metric is already registered.
func NewRequests(reg prometheus.Registerer) (*Requests, error) {
	m := &Requests{prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "iris_httpapi_request_seconds", Help: "Time to answer API requests, by route, method and status.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{"route", "method", "status"})}
	return m, reg.Register(m.seconds)
}

// Observe measures the requests of a route.
func (m *Requests) Observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began := time.Now()
		rec := &statusRecorder{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(rec, r)
		route := "none"
		if rctx := chi.RouteContext(r.Context()); rctx != nil {
			route = rctx.RoutePattern()
		}
		m.seconds.WithLabelValues(route, r.Method, strconv.Itoa(rec.status)).Observe(time.Since(began).Seconds())
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
