package apiserver

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"github.com/klauspost/compress/gzhttp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/iris-oncall/iris/internal/kit/fault"
	shared "github.com/iris-oncall/iris/internal/kit/metrics"
	"github.com/iris-oncall/iris/internal/web/wire"
)

// httpMetrics measures requests by route pattern; a path as a label would be unbounded.
type httpMetrics struct {
	seconds *prometheus.HistogramVec
}

func newHTTPMetrics(reg prometheus.Registerer) *httpMetrics {
	return &httpMetrics{seconds: promauto.With(reg).NewHistogramVec(prometheus.HistogramOpts{
		Name: "iris_app_http_request_seconds", Help: "Duration of requests by route, method and class of status.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{"route", "method", "status"})}
}

func (m *httpMetrics) middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		begun := time.Now()
		ww := middleware.NewWrapResponseWriter(w, r.ProtoMajor)
		next.ServeHTTP(ww, r)
		if ww.Header().Get("Content-Type") == "text/event-stream" {
			return // it lasts as long as a page is open
		}
		route := "none"
		if c := chi.RouteContext(r.Context()); c != nil && c.RoutePattern() != "" {
			route = c.RoutePattern()
		}
		method := r.Method
		switch method {
		case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions, http.MethodPatch:
		default:
			method = "other"
		}
		status := max(ww.Status(), 200)
		m.seconds.WithLabelValues(route, method, strconv.Itoa(status/100)+"xx").Observe(time.Since(begun).Seconds())
	})
}

// compress compresses answers with gzip. Event streams are not compressed, because each event must be sent at once.
// Random padding hides the exact length, which could reveal a secret that is on the same page as input of a client.
func compress() (func(http.Handler) http.Handler, error) {
	wrap, err := gzhttp.NewWrapper(gzhttp.RandomJitter(32, 0, false), gzhttp.ContentTypeFilter(func(kind string) bool {
		return gzhttp.DefaultContentTypeFilter(kind) && !strings.HasPrefix(kind, "text/event-stream")
	}))
	return func(next http.Handler) http.Handler { return wrap(next) }, err
}

// refuseUnknownQueries refuses requests below /v1 with query parameters that the operation does not have: an ignored
// misspelt parameter would give a wrong answer. The doors of alerts are left out: senders and the proxies before them
// add parameters, and an alert is never refused for one. known returns the parameters of an operation.
func refuseUnknownQueries(routes chi.Routes, known func(method, path string) ([]string, bool), refuse func(http.ResponseWriter, *http.Request, error)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.RawQuery != "" && strings.HasPrefix(r.URL.Path, "/v1/") && !strings.HasPrefix(r.URL.Path, "/v1/hooks/") {
				if err := unknownQuery(routes, known, r); err != nil {
					refuse(w, r, err)
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}

func unknownQuery(routes chi.Routes, known func(method, path string) ([]string, bool), r *http.Request) error {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return fault.New(fault.Invalid, "The query must be pairs of name=value joined by &, percent-encoded")
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	matched := chi.NewRouteContext()
	if !routes.Match(matched, method, strings.TrimSuffix(r.URL.Path, "/")) {
		return nil // 404 or 405 follows
	}
	names, described := known(method, matched.RoutePattern())
	if !described {
		return nil
	}
	for name := range query {
		if !slices.Contains(names, name) {
			return fault.Invalidf(name, "unknown query parameter %q; known: %s", name, strings.Join(names, ", "))
		}
	}
	return nil
}

// leastBodies is the least limit of bodies in work: the largest body that a route takes.
const leastBodies = 16 << 20

// newBodies returns the limit of bodies in work, whose refusals are counted.
func newBodies(limit int, reg prometheus.Registerer) *wire.Bodies {
	refused := shared.Start(promauto.With(reg).NewCounterVec(prometheus.CounterOpts{
		Name: "iris_app_http_bodies_refused_total", Help: "Requests that were refused because too many bytes of bodies were in work, by size of the body.",
	}, []string{"size"}), []string{wire.SmallBody, wire.LargeBody})
	return wire.NewBodies(int64(max(limit, leastBodies)), func(size string) { refused.WithLabelValues(size).Inc() })
}
