// Package health answers whether a process runs and whether it is ready, and says in the log and in metrics what is
// missing. Both servers use it. It starts nothing again and stops nothing.
package health

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

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/postgres"
)

// Check looks at one condition of readiness; its error is what people read. A concern is shown and keeps nothing from being
// ready.
type Check struct {
	Name string
	Ask  func(ctx context.Context) error
}

// Probes answers /livez and /readyz. Liveness says that the process runs, whatever the database does: restarting it
// would not bring the database back. Readiness says in its body and in the log what is missing. Safe for concurrent use.
type Probes struct {
	log   *zap.Logger
	gauge prometheus.Gauge

	mu     sync.Mutex
	checks []Check
	state  string // reason as last logged, without its numbers; "" = ready
	at     time.Time
	last   []Finding
}

// Concern is something that is wrong although the process can do its job.
type Concern string

func (c Concern) Error() string { return string(c) }

// Finding is the result of one check.
type Finding struct {
	Name    string `json:"name"`
	Error   string `json:"error,omitempty"`
	Concern string `json:"concern,omitempty"`
}

// The checks of a process that is on its way up or down.
const (
	starting = "start"
	Stopping = "stop"
)

const (
	checkTimeout = 2 * time.Second
	// Load balancers may ask often; the answer of a moment ago is good enough.
	checkKeep = 250 * time.Millisecond
)

// New returns probes that say "starting" until Set is called.
func New(log *zap.Logger, reg prometheus.Registerer) *Probes {
	h := &Probes{
		log: log.Named("health"), state: "?", // so that the first finding is logged
		gauge: prometheus.NewGauge(prometheus.GaugeOpts{Name: "iris_app_ready", Help: "1 while this process is ready."}),
		checks: []Check{{starting, func(context.Context) error {
			return errors.New("the process is starting")
		}}},
	}
	reg.MustRegister(h.gauge)
	return h
}

// Set replaces the conditions.
func (h *Probes) Set(checks ...Check) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.checks, h.at = checks, time.Time{}
}

// NotReady makes the process not ready for one reason.
func (h *Probes) NotReady(name string, reason error) {
	h.Set(Check{name, func(context.Context) error { return reason }})
}

// Findings runs the checks, or returns those of a moment ago.
func (h *Probes) Findings(ctx context.Context) []Finding {
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
			results[i] = c.Ask(ctx)
		})
	}
	asked.Wait()
	var out []Finding
	var why reasons
	for i, c := range h.checks {
		f := Finding{Name: c.Name}
		var worry Concern
		switch err := results[i]; {
		case errors.As(err, &worry):
			f.Concern = worry.Error()
		case err != nil:
			f.Error = plain(err).Error()
			why.add(c.Name, postgres.Explain(err))
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
	return len(r) == 1 && (r[0].names == starting || r[0].names == Stopping)
}

// numbers in a reason change from one look to the next without saying anything new.
var numbers = regexp.MustCompile(`[0-9][0-9a-z.]*`)

// tell logs changes only.
func (h *Probes) tell(why reasons) {
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

// Watch looks at readiness by itself, so that the log and the gauge are right when nobody asks. It ends with ctx.
func (h *Probes) Watch(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		h.Findings(ctx)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Livez answers that the process runs.
func (h *Probes) Livez(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n")) // the caller is gone if this fails
}

// Readyz answers whether the process is ready, and what is missing: 200 or 503.
func (h *Probes) Readyz(w http.ResponseWriter, r *http.Request) {
	answer := struct {
		Ready  bool      `json:"ready"`
		Checks []Finding `json:"checks"`
	}{Ready: true, Checks: h.Findings(r.Context())}
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

// plain shortens an error to what everybody may read: the cause of a fault may hold addresses and names of users. The log
// has it in full.
func plain(err error) error {
	var f *fault.Error
	if errors.As(err, &f) {
		return errors.New(f.Message)
	}
	return err
}
