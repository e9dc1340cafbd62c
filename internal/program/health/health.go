package health

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/kit/postgres"
)

// Check tests one condition of readiness. People read its error. A Concern is shown, but the process stays ready.
type Check struct {
	Name string
	Ask  func(ctx context.Context) error
}

// Probes answers /livez and /readyz. /livez says that the process runs, whatever the state of the database: a restart
// would not help. /readyz and the log say what is missing. Probes is safe for concurrent use.
type Probes struct {
	log   *zap.Logger
	gauge prometheus.Gauge
	// base has checks that must pass, too; nil = none. It logs its own failures.
	base          *Probes
	good, missing string // what is logged

	mu     sync.Mutex
	checks []Check
	state  string // last logged reason, without its numbers; "" = ready
	at     time.Time
	last   []Finding
}

// Concern is a problem that does not stop the process from doing its job.
type Concern string

func (c Concern) Error() string { return string(c) }

// Finding is the result of one check.
type Finding struct {
	Name    string `json:"name"`
	Error   string `json:"error,omitempty"`
	Concern string `json:"concern,omitempty"`
}

// Names of the checks of a process that starts or stops.
const (
	starting = "start"
	Stopping = "stop"
)

const (
	checkTimeout = 2 * time.Second
	// checkKeep is how long an answer is reused: load balancers may ask often.
	checkKeep = 250 * time.Millisecond
)

// New returns probes that report that the process is starting, and is not ready, until Set is called.
func New(log *zap.Logger, reg prometheus.Registerer) *Probes {
	return &Probes{
		log: log.Named("health"), state: "?", // so that the first finding is logged
		good: "ready", missing: "not ready",
		gauge: promauto.With(reg).NewGauge(prometheus.GaugeOpts{Name: "iris_app_ready",
			Help: "1 while this process is ready."}),
		checks: []Check{{starting, func(context.Context) error {
			return errors.New("the process is starting")
		}}},
	}
}

// NewPaging returns probes of whether an incident posted now would be paged. Everything that base checks must pass,
// too: iris-api without a processor accepts incidents, and nobody is paged.
func NewPaging(base *Probes, log *zap.Logger, reg prometheus.Registerer) *Probes {
	return &Probes{
		log: log.Named("health"), state: "?", base: base, good: "incidents are paged", missing: "new incidents are not paged",
		gauge: promauto.With(reg).NewGauge(prometheus.GaugeOpts{Name: "iris_app_paging_ready",
			Help: "1 while an incident posted now would be paged."}),
		checks: []Check{{starting, func(context.Context) error {
			return errors.New("the process is starting")
		}}},
	}
}

// Set replaces the checks.
func (h *Probes) Set(checks ...Check) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.checks, h.at = checks, time.Time{}
}

// NotReady replaces the checks by one that fails with reason.
func (h *Probes) NotReady(name string, reason error) {
	h.Set(Check{name, func(context.Context) error { return reason }})
}

// Findings runs the checks, or returns the last findings if they are younger than checkKeep.
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
		asked.Go(func() { // each check has its own timeout
			ctx, cancel := context.WithTimeout(ctx, checkTimeout)
			defer cancel()
			results[i] = c.Ask(ctx)
		})
	}
	asked.Wait()
	var out []Finding
	var why reasons
	based := true // the checks of base pass
	if h.base != nil {
		out = slices.Clone(h.base.Findings(ctx))
		based = ready(out)
	}
	for i, c := range h.checks {
		f := Finding{Name: c.Name}
		var concern Concern
		switch err := results[i]; {
		case errors.As(err, &concern):
			f.Concern = concern.Error()
		case err != nil:
			f.Error = plain(err).Error()
			why.add(c.Name, postgres.Explain(err))
		}
		out = append(out, f)
	}
	h.last, h.at = out, time.Now()
	h.gauge.Set(0)
	if based && len(why) == 0 {
		h.gauge.Set(1)
	}
	if based {
		h.report(why)
	}
	return out
}

// ready reports whether all checks passed.
func ready(findings []Finding) bool {
	return !slices.ContainsFunc(findings, func(f Finding) bool { return f.Error != "" })
}

// reasons lists why a process is not ready. Checks with the same text share one reason.
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

// harmless reports whether the process is only starting or stopping.
func (r reasons) harmless() bool {
	return len(r) == 1 && (r[0].names == starting || r[0].names == Stopping)
}

// numbers matches the numbers in a reason, such as ages. A reason in which only numbers change is not logged again.
var numbers = regexp.MustCompile(`[0-9][0-9a-z.]*`)

// report logs the reasons if they have changed.
func (h *Probes) report(why reasons) {
	state := numbers.ReplaceAllString(why.String(), "#")
	if state == h.state {
		return
	}
	h.state = state
	switch {
	case len(why) == 0:
		h.log.Info(h.good)
	case why.harmless():
		h.log.Info(h.missing, zap.Stringer("reason", why))
	default:
		h.log.Warn(h.missing, zap.Stringer("reason", why))
	}
}

// Watch runs the checks every second until ctx ends, so that the log and the gauge are right when nobody asks.
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
	}{Checks: h.Findings(r.Context())}
	answer.Ready = ready(answer.Checks)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if !answer.Ready {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	_ = e.Encode(answer) // the caller is gone if this fails
}

// plain returns the part of an error that everybody may read. The cause of a fault may hold addresses and names of
// users; only the log has it.
func plain(err error) error {
	var f *fault.Error
	if errors.As(err, &f) {
		return errors.New(f.Message)
	}
	return err
}
