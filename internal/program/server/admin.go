package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/program/health"
)

// NewRegistry returns a metrics registry with the metrics of the process.
func NewRegistry(version string) *prometheus.Registry {
	reg := prometheus.NewRegistry()
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "iris_app_build_info", Help: "1, labelled with the version.", ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		build)
	return reg
}

// PoolMetrics returns a registerer that adds the name of a connection pool as a label.
func PoolMetrics(reg prometheus.Registerer, name string) prometheus.Registerer {
	return prometheus.WrapRegistererWith(prometheus.Labels{"pool": name}, reg)
}

// AdminRoutes serves metrics, health and profiles to operators. paging is nil in a process that does not answer whether
// incidents are paged.
func AdminRoutes(h, paging *health.Probes, gatherer prometheus.Gatherer) http.Handler {
	r := chi.NewRouter()
	r.Get("/livez", h.Livez)
	r.Get("/readyz", h.Readyz)
	if paging != nil {
		r.Get("/readyz/paging", paging.Readyz)
	}
	r.Handle("/metrics", metricsHandler(gatherer))
	r.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	r.HandleFunc("/debug/pprof/profile", pprof.Profile)
	r.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	r.HandleFunc("/debug/pprof/trace", pprof.Trace)
	r.HandleFunc("/debug/pprof/*", pprof.Index)
	return r
}

func metricsHandler(gatherer prometheus.Gatherer) http.Handler {
	return promhttp.HandlerFor(gatherer, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

// ListenAdmin opens the admin listener. If no address is configured and the default port is in use, a free one is
// chosen: several processors may run on one machine.
func ListenAdmin(configured, otherwise string, log *zap.Logger) (net.Listener, error) {
	switch configured {
	case "off":
		return nil, nil
	case "":
		l, err := net.Listen("tcp", otherwise)
		if err != nil {
			if l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
				return nil, fmt.Errorf("admin listener: %w", err)
			}
			log.Warn("default admin port is in use, using a free one; set admin.addr (IRIS_ADMIN_ADDR)",
				zap.String("wanted", otherwise), zap.String("address", l.Addr().String()))
		}
		return l, nil
	}
	l, err := net.Listen("tcp", configured)
	if err != nil {
		return nil, fmt.Errorf("admin.addr (IRIS_ADMIN_ADDR): %w", err)
	}
	return l, nil
}

// readTimeout bounds the time to receive a request. writeTimeout bounds the time from the end of the request's header
// until the answer is sent; it frees the memory of an answer that a client does not read.
const (
	readTimeout  = 30 * time.Second
	writeTimeout = 90 * time.Second
)

func newServer(handler http.Handler, log *zap.Logger) (*http.Server, error) {
	errors_, err := zap.NewStdLogAt(log.Named("http"), zap.WarnLevel)
	if err != nil {
		return nil, err
	}
	return &http.Server{
		Handler: handler, ErrorLog: errors_,
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10,
	}, nil
}

// Serve serves until ctx ends. Then running requests have the grace period to finish.
func Serve(ctx context.Context, l net.Listener, handler http.Handler, grace time.Duration, log *zap.Logger) error {
	s, err := newServer(handler, log)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	select {
	case err := <-ended:
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if err := s.Shutdown(stop); err != nil {
		log.Warn("requests were cut off at the stop", zap.Error(err))
		_ = s.Close()
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
