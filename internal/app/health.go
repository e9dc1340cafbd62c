package app

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/postgres"
)

// check looks at one condition of readiness; its error is what people read. A concern is shown and keeps nothing from being
// ready.
type check struct {
	name string
	ask  func(ctx context.Context) error
}

// health answers /livez and /readyz. Liveness says that the process runs, whatever the database does: restarting it
// would not bring the database back. Readiness says in its body and in the log what is missing. Safe for concurrent use.
type health struct {
	log   *zap.Logger
	gauge prometheus.Gauge

	mu     sync.Mutex
	checks []check
	state  string // reason as last logged, without its numbers; "" = ready
	at     time.Time
	last   []finding
}

// concern is something that is wrong although the process can do its job.
type concern string

func (c concern) Error() string { return string(c) }

// finding is the result of one check.
type finding struct {
	Name    string `json:"name"`
	Error   string `json:"error,omitempty"`
	Concern string `json:"concern,omitempty"`
}

// The checks of a process that is on its way up or down.
const (
	checkStart = "start"
	checkStop  = "stop"
)

const (
	checkTimeout = 2 * time.Second
	// Load balancers may ask often; the answer of a moment ago is good enough.
	checkKeep = 250 * time.Millisecond
)

func newHealth(log *zap.Logger, reg prometheus.Registerer) *health {
	h := &health{
		log: log.Named("health"), state: "?", // so that the first finding is logged
		gauge: prometheus.NewGauge(prometheus.GaugeOpts{Name: "iris_app_ready", Help: "1 while this process is ready."}),
		checks: []check{{checkStart, func(context.Context) error {
			return errors.New("the process is starting")
		}}},
	}
	reg.MustRegister(h.gauge)
	return h
}

// set replaces the conditions.
func (h *health) set(checks ...check) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.checks, h.at = checks, time.Time{}
}

// waiting makes the process not ready for one reason.
func (h *health) waiting(name string, reason error) {
	h.set(check{name, func(context.Context) error { return reason }})
}

// findings runs the checks, or returns those of a moment ago.
func (h *health) findings(ctx context.Context) []finding {
	h.mu.Lock()
	defer h.mu.Unlock()
	if time.Since(h.at) < checkKeep {
		return h.last
	}
	ctx = context.WithoutCancel(ctx)
	results := make([]error, len(h.checks))
	var asked sync.WaitGroup
	for i, c := range h.checks {
		asked.Go(func() { // a slow check must not use up the time of another one
			ctx, cancel := context.WithTimeout(ctx, checkTimeout)
			defer cancel()
			results[i] = c.ask(ctx)
		})
	}
	asked.Wait()
	var out []finding
	var why reasons
	for i, c := range h.checks {
		f := finding{Name: c.name}
		var worry concern
		switch err := results[i]; {
		case errors.As(err, &worry):
			f.Concern = worry.Error()
		case err != nil:
			f.Error = plain(err).Error()
			why.add(c.name, postgres.Explain(err))
		}
		out = append(out, f)
	}
	h.last, h.at = out, time.Now()
	h.tell(why)
	return out
}

// reasons are why a process is not ready, as the log tells it: checks with the same reason together.
type reasons []reason

type reason struct{ names, text string }

func (r *reasons) add(name, text string) {
	for i := range *r {
		if have := &(*r)[i]; have.text == text {
			have.names += ", " + name
			return
		}
	}
	*r = append(*r, reason{name, text})
}

func (r reasons) String() string {
	parts := make([]string, len(r))
	for i, x := range r {
		parts[i] = x.names + ": " + x.text
	}
	return strings.Join(parts, "; ")
}

// harmless reports whether the process is only on its way up or down.
func (r reasons) harmless() bool {
	return len(r) == 1 && (r[0].names == checkStart || r[0].names == checkStop)
}

// numbers in a reason change from one look to the next without saying anything new.
var numbers = regexp.MustCompile(`[0-9][0-9a-z.]*`)

// tell logs changes only.
func (h *health) tell(why reasons) {
	ready := 0.0
	if len(why) == 0 {
		ready = 1
	}
	h.gauge.Set(ready)
	state := numbers.ReplaceAllString(why.String(), "#")
	if state == h.state {
		return
	}
	h.state = state
	switch {
	case len(why) == 0:
		h.log.Info("ready")
	case why.harmless():
		h.log.Info("not ready", zap.Stringer("reason", why))
	default:
		h.log.Warn("not ready", zap.Stringer("reason", why))
	}
}

// watch looks at readiness by itself, so that the log and the gauge are right when nobody asks. It ends with ctx.
func (h *health) watch(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		h.findings(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (h *health) livez(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n")) // the caller is gone if this fails
}

func (h *health) readyz(w http.ResponseWriter, r *http.Request) {
	answer := struct {
		Ready  bool      `json:"ready"`
		Checks []finding `json:"checks"`
	}{Ready: true, Checks: h.findings(r.Context())}
	for _, f := range answer.Checks {
		answer.Ready = answer.Ready && f.Error == ""
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if !answer.Ready {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	_ = e.Encode(answer) // the caller is gone if this fails
}
