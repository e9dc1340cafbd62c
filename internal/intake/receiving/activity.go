package receiving

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/kit/fault"
	shared "github.com/iris-oncall/iris/internal/kit/metrics"
)

// Payloads: how many an integration keeps, and the largest that is kept, in bytes. Of a larger one, the beginning is
// kept.
const (
	KeptPayloads = 20
	maxPayload   = 64 << 10
	writeEvery   = time.Second
	writeTimeout = 10 * time.Second
	logEvery     = time.Minute
	maxUnwritten = 10_000 // integrations and causes in memory
)

// Usage is what an integration received since the last write.
type Usage struct {
	Accepted, Refused int64
	Refusal           string // the reason of the last refusal; "" = none
	Failed            int64  // deliveries with an expression that failed
	Failure           string // of the last of them
	Tokens            []int64
	Payloads          []intake.Payload // the latest, oldest first
}

// ActivityStore stores usages, by integration.
type ActivityStore interface {
	Record(ctx context.Context, used map[intake.ID]Usage) error
	// TakeAllowance takes a part of what the integration may send now, in the whole cluster: at most wanted deliveries.
	// left is less than one if there are none.
	TakeAllowance(ctx context.Context, id intake.ID, r Rate, wanted int) (granted int, left float64, err error)
}

// Activity counts deliveries, keeps the latest payloads, and limits the rate of each integration. It writes once a
// second, so a storm costs no statements. It is safe for concurrent use.
type Activity struct {
	store    ActivityStore
	log      *zap.Logger
	refusals *prometheus.CounterVec

	mu     sync.Mutex
	used   map[intake.ID]Usage
	rates  map[intake.ID]*allowance
	logged map[cause]time.Time
}

type cause struct {
	integration intake.ID
	kind        fault.Kind
}

// NewActivity returns an Activity for integrations of these types; the caller must call Run. A nil registerer exports
// no metrics.
func NewActivity(store ActivityStore, log *zap.Logger, types []string, r prometheus.Registerer) (*Activity, error) {
	a := &Activity{store: store, log: log.Named("intake"), used: map[intake.ID]Usage{},
		rates:  map[intake.ID]*allowance{},
		logged: map[cause]time.Time{}, refusals: shared.Start(prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "iris_intake_refused_total", Help: "Refused deliveries of integrations, by type and kind of the error.",
		}, []string{"type", "reason"}), types, reasons())}
	if r == nil {
		return a, nil
	}
	return a, r.Register(a.refusals)
}

// reasons returns the kinds of errors that refuse deliveries.
func reasons() []string {
	var out []string
	for _, k := range []fault.Kind{fault.Invalid, fault.NotFound, fault.TooLarge, fault.Unauthenticated, fault.Forbidden, fault.Throttled,
		fault.Unavailable, fault.Internal} {
		out = append(out, string(k))
	}
	return out
}

// Note records a delivery: err is its refusal; nil = it was accepted. token is the token that it used. It logs a
// refusal once a minute for each integration and kind of error. A delivery of an unknown integration is only counted
// and logged.
func (a *Activity) Note(from intake.Integration, token int64, p intake.Payload, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(p.Body) > maxPayload {
		p.Body = p.Body[:maxPayload] + "..."
	}
	u := a.used[from.ID]
	if err == nil {
		u.Accepted++
	} else {
		u.Refused++
		u.Refusal = fault.Public(err)
		p.Outcome = "refused: " + u.Refusal
		a.refusals.WithLabelValues(from.Type, string(fault.KindOf(err))).Inc()
		a.logOnce(from, err, p.At)
	}
	if p.Failure != "" {
		u.Failed++
		u.Failure = p.Failure
	}
	u.use(token)
	u.Payloads = append(u.Payloads, p)
	u.Payloads = u.Payloads[max(0, len(u.Payloads)-KeptPayloads):]
	if _, known := a.used[from.ID]; from.ID != 0 && (known || len(a.used) < maxUnwritten) {
		a.used[from.ID] = u
	}
}

// Count records a ping that was accepted. Nothing of it is kept, because pings are many and have no content.
func (a *Activity) Count(from intake.ID, token int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	u, known := a.used[from]
	u.Accepted++
	u.use(token)
	if known || len(a.used) < maxUnwritten {
		a.used[from] = u
	}
}

// use adds a token, unless it was used last.
func (u *Usage) use(token int64) {
	if len(u.Tokens) == 0 || u.Tokens[len(u.Tokens)-1] != token {
		u.Tokens = append(u.Tokens, token)
	}
}

func (a *Activity) logOnce(from intake.Integration, err error, now time.Time) {
	why := cause{from.ID, fault.KindOf(err)}
	if now.Sub(a.logged[why]) < logEvery {
		return
	}
	if len(a.logged) >= maxUnwritten {
		clear(a.logged)
	}
	a.logged[why] = now
	a.log.Warn("delivery refused; further refusals for this reason are logged after a minute",
		zap.String("integration", from.Name),
		zap.String("type", from.Type), zap.Error(err))
}

// Run writes until ctx ends, and once more then.
func (a *Activity) Run(ctx context.Context) error {
	tick := time.NewTicker(writeEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			a.write(context.WithoutCancel(ctx))
			return nil
		case <-tick.C:
			a.write(ctx)
		}
	}
}

// write stores what came since the last write. If that fails, the counts are lost, because the deliveries are not.
func (a *Activity) write(ctx context.Context) {
	a.mu.Lock()
	used := a.used
	a.used = map[intake.ID]Usage{}
	a.mu.Unlock()
	if len(used) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	if err := a.store.Record(ctx, used); err != nil {
		a.log.Warn("the activity of integrations was not stored", zap.Error(err))
	}
}
