// Package monitor watches heartbeats: it reports those that are missed as firing events, and those that are seen again
// as resolved ones. message-processor runs one Monitor. Each watches the heartbeats in the buckets of its process, so
// one process acts on a heartbeat. All state is in the database. The package knows no storage and no transport.
package monitor

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/heartbeats"
	"github.com/iris-oncall/iris/internal/intake/receiving"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// Heartbeats stores heartbeats.
type Heartbeats interface {
	// Due returns the heartbeats in the leased buckets that may need a decision, and when pings could be received.
	Due(ctx context.Context, leases []buckets.Lease) ([]heartbeats.Heartbeat, heartbeats.Reception, error)
	// Postpone stores when heartbeats that need no decision and are not missed are checked next, unless they were
	// changed since they were read.
	Postpone(ctx context.Context, checked []heartbeats.Heartbeat, r heartbeats.Reception) error
	// Miss marks a heartbeat as missed, if no ping came since it was read, and returns when; zero = one came. Runs that
	// began until overdue are not expected to end any more. It is fenced by the lease.
	Miss(ctx context.Context, processID string, lease buckets.Lease, h heartbeats.Heartbeat, overdue time.Time) (time.Time, error)
	// Text returns the last text of a heartbeat.
	Text(ctx context.Context, of heartbeats.ID) (heartbeats.Text, error)
	// Reported stores that the miss was reported. If the mark was removed meanwhile, it is there again, so that the
	// next pass resolves the incident.
	Reported(ctx context.Context, h heartbeats.Heartbeat, incident int64) error
	// Ended removes the mark.
	Ended(ctx context.Context, h heartbeats.Heartbeat) error
}

// Integrations finds integrations by name and counts what they refuse.
type Integrations interface {
	ByName(ctx context.Context, name string) (intake.Integration, error)
	Record(ctx context.Context, used map[intake.ID]receiving.Usage) error
}

// Leases returns the buckets that this process owns. *buckets.Holder implements it.
type Leases interface {
	ProcessID() string
	Leases() []buckets.Lease
}

// Receiver carries out events.
type Receiver interface {
	Receive(ctx context.Context, app auth.Application, from intake.Integration, e intake.Event,
		now time.Time) (receiving.Result, error)
}

// Deps are the parts of a Monitor.
type Deps struct {
	Heartbeats   Heartbeats
	Integrations Integrations
	Applications auth.Applications
	Receiver     Receiver
	Leases       Leases
	Log          *zap.Logger
	Registerer   prometheus.Registerer
}

// Monitor watches heartbeats. Run must be called once.
type Monitor struct {
	d      Deps
	missed prometheus.Counter
	failed prometheus.Counter
	putOff map[heartbeats.ID]time.Time // heartbeats whose event was refused: no attempt before this time
}

const (
	passEvery  = time.Second
	retryAfter = 30 * time.Second
)

// New returns a Monitor.
func New(d Deps) (*Monitor, error) {
	m := &Monitor{
		d: d, putOff: map[heartbeats.ID]time.Time{},
		missed: prometheus.NewCounter(prometheus.CounterOpts{Name: "iris_heartbeat_missed_total",
			Help: "Heartbeats that were found to be missed."}),
		failed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "iris_heartbeat_failures_total", Help: "Heartbeats whose incident could not be opened or resolved. Each is tried again.",
		}),
	}
	m.d.Log = d.Log.Named("heartbeats")
	for _, c := range []prometheus.Collector{m.missed, m.failed} {
		if err := d.Registerer.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Run watches until ctx ends. It logs only the first of consecutive failures to read heartbeats.
func (m *Monitor) Run(ctx context.Context) error {
	tick := time.NewTicker(passEvery)
	defer tick.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		err := m.pass(ctx)
		if err != nil && !failing && ctx.Err() == nil {
			m.d.Log.Warn("heartbeats cannot be read, retrying", zap.Error(err))
		}
		failing = err != nil
	}
}

// pass decides about all due heartbeats in the owned buckets.
func (m *Monitor) pass(ctx context.Context) (err error) {
	defer fault.Recover(&err)
	leases := map[int]buckets.Lease{}
	owned := m.d.Leases.Leases()
	for _, l := range owned {
		leases[l.Bucket] = l
	}
	if len(owned) == 0 {
		return nil
	}
	due, reception, err := m.d.Heartbeats.Due(ctx, owned)
	if err != nil {
		return err
	}
	now := time.Now()
	var checked []heartbeats.Heartbeat
	for _, h := range due {
		action := heartbeats.Decide(h, reception)
		if action == heartbeats.Nothing && h.MissedAt.IsZero() {
			checked = append(checked, h)
		}
		if action == heartbeats.Nothing || now.Before(m.putOff[h.ID]) || ctx.Err() != nil {
			continue
		}
		delete(m.putOff, h.ID)
		if err := m.act(ctx, leases[int(int64(h.ID)%buckets.Count)], h, reception, action); err != nil {
			if fault.Is(err, fault.Unavailable) {
				return err // the database cannot be reached
			}
			m.putOff[h.ID] = now.Add(retryAfter)
		}
	}
	if len(checked) == 0 {
		return nil
	}
	return m.d.Heartbeats.Postpone(ctx, checked, reception)
}

// act carries out a decision. Each step can be repeated: if the process ends between two of them, the owner of the
// bucket goes on.
func (m *Monitor) act(ctx context.Context, lease buckets.Lease, h heartbeats.Heartbeat, r heartbeats.Reception, action heartbeats.Action) (err error) {
	defer fault.Recover(&err) // a panic delays no other heartbeat
	if action == heartbeats.Miss {
		h = h.Missing(r)
		if h.MissedAt, err = m.d.Heartbeats.Miss(ctx, m.d.Leases.ProcessID(), lease, h, h.Overdue(r)); err != nil || h.MissedAt.IsZero() {
			return err
		}
		m.missed.Inc()
		m.d.Log.Warn("heartbeat missed", zap.String("integration", h.Integration), zap.String("heartbeat", h.Name),
			zap.Time("last_ping_at", h.LastPingAt))
	}
	if action == heartbeats.Resolve {
		if _, err := m.send(ctx, h, h.Event(intake.Resolved, heartbeats.Text{})); err != nil {
			return err
		}
		return m.d.Heartbeats.Ended(ctx, h)
	}
	text, err := m.d.Heartbeats.Text(ctx, h.ID)
	if err != nil {
		return err
	}
	result, err := m.send(ctx, h, h.Event(intake.Firing, text))
	if err != nil {
		return err
	}
	return m.d.Heartbeats.Reported(ctx, h, int64(result.ID))
}

// send reports the heartbeat. A refusal is logged, counted, and shown on the integration.
func (m *Monitor) send(ctx context.Context, h heartbeats.Heartbeat, e intake.Event) (receiving.Result, error) {
	from, err := m.d.Integrations.ByName(ctx, h.Integration)
	if err != nil {
		return receiving.Result{}, err
	}
	app, err := m.d.Applications.ByName(ctx, from.Application)
	if err != nil {
		return receiving.Result{}, err
	}
	result, err := m.d.Receiver.Receive(ctx, app, h.From(from), e, time.Now())
	if err != nil && !fault.Is(err, fault.Unavailable) {
		m.failed.Inc()
		m.d.Log.Error("the incident of a heartbeat cannot be changed, retrying",
			zap.String("integration", h.Integration),
			zap.String("heartbeat", h.Name), zap.String("status", string(e.Status)), zap.Error(err))
		refused := receiving.Usage{Refused: 1, Refusal: "heartbeat " + h.Name + ": " + fault.Public(err)}
		_ = m.d.Integrations.Record(ctx, map[intake.ID]receiving.Usage{from.ID: refused}) // the log has it too
	}
	return result, err
}
