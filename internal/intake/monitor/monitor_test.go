package monitor

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/iris-oncall/iris/internal/auth"
	"github.com/iris-oncall/iris/internal/buckets"
	_ "github.com/iris-oncall/iris/internal/dev/golden" // defines -update
	"github.com/iris-oncall/iris/internal/intake"
	"github.com/iris-oncall/iris/internal/intake/heartbeats"
	"github.com/iris-oncall/iris/internal/intake/receiving"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// world is a database with one heartbeat, an application and an integration, at a virtual time.
type world struct {
	h         heartbeats.Heartbeat
	reception heartbeats.Reception
	refuse    error
	text      heartbeats.Text
	events    []intake.Event
	refusals  []string
	auth.Applications
}

func (w *world) Due(context.Context, []buckets.Lease) ([]heartbeats.Heartbeat, heartbeats.Reception, error) {
	return []heartbeats.Heartbeat{w.h}, w.reception, nil
}

func (w *world) Postpone(_ context.Context, checked []heartbeats.Heartbeat, r heartbeats.Reception) error {
	for _, h := range checked {
		w.h.CheckAt = h.NextCheck(r)
	}
	return nil
}

func (w *world) Miss(_ context.Context, _ string, lease buckets.Lease, h heartbeats.Heartbeat, _ time.Time) (time.Time, error) {
	if lease.Epoch == 0 || !h.LastPingAt.Equal(w.h.LastPingAt) {
		return time.Time{}, nil
	}
	w.h.MissedAt = w.reception.LastAt
	return w.h.MissedAt, nil
}

func (w *world) Text(context.Context, heartbeats.ID) (heartbeats.Text, error) { return w.text, nil }

func (w *world) Reported(_ context.Context, h heartbeats.Heartbeat, incident int64) error {
	w.h.Reported, w.h.Incident = true, incident
	if w.h.MissedAt.IsZero() {
		w.h.MissedAt = h.MissedAt
	}
	return nil
}

func (w *world) Ended(context.Context, heartbeats.Heartbeat) error {
	w.h.MissedAt, w.h.Reported, w.h.Incident = time.Time{}, false, 0
	return nil
}

func (w *world) Record(_ context.Context, used map[intake.ID]receiving.Usage) error {
	for _, u := range used {
		w.refusals = append(w.refusals, u.Refusal)
	}
	return nil
}

func (w *world) Receive(_ context.Context, _ auth.Application, from intake.Integration, e intake.Event, _ time.Time) (receiving.Result, error) {
	if w.refuse != nil {
		return receiving.Result{}, w.refuse
	}
	w.events = append(w.events, e)
	return receiving.Result{ID: 42, Outcome: receiving.Opened}, nil
}

func (w *world) ProcessID() string       { return "p" }
func (w *world) Leases() []buckets.Lease { return []buckets.Lease{{Bucket: 7, Epoch: 1}} }

type byName struct{ *world }

func (byName) ByName(context.Context, string) (intake.Integration, error) {
	return intake.Integration{ID: 1}, nil
}

type apps struct{ auth.Applications }

func (apps) ByName(context.Context, string) (auth.Application, error) { return auth.Application{}, nil }

func newMonitor(t *testing.T, w *world) *Monitor {
	t.Helper()
	m, err := New(Deps{Heartbeats: w, Integrations: byName{w}, Applications: apps{}, Receiver: w, Leases: w,
		Log: zap.NewNop(), Registerer: prometheus.NewRegistry()})
	require.NoError(t, err)
	return m
}

func TestAMissedHeartbeatIsReportedOnceAndResolved(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	w := &world{h: heartbeats.Heartbeat{ID: 7, LastPingAt: begin,
		Content: heartbeats.Content{Name: "a", Every: time.Minute, Enabled: true}}}
	m := newMonitor(t, w)
	pass := func(after time.Duration) []intake.Event {
		t.Helper()
		w.reception.LastAt, w.events = begin.Add(after), nil
		require.NoError(t, m.pass(t.Context()))
		return w.events
	}
	require.Empty(t, pass(59*time.Second))
	fired := pass(time.Minute)
	require.Len(t, fired, 1)
	require.Equal(t, intake.Firing, fired[0].Status)
	require.EqualValues(t, 42, w.h.Incident)
	require.Empty(t, pass(2*time.Minute), "once")
	w.h.LastPingAt = begin.Add(3 * time.Minute)
	resolved := pass(3 * time.Minute)
	require.Len(t, resolved, 1)
	require.Equal(t, intake.Resolved, resolved[0].Status)
	require.Equal(t, fired[0].Key, resolved[0].Key)
	require.Empty(t, pass(3*time.Minute))
	require.Len(t, pass(4*time.Minute), 1, "the next miss")
	require.InDelta(t, 2, testutil.ToFloat64(m.missed), 0)
}

func TestAFailureIsReportedWithItsText(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	w := &world{h: heartbeats.Heartbeat{ID: 7, LastPingAt: begin, MissedAt: begin.Add(time.Second), Failure: "exit code 3",
		Content: heartbeats.Content{Name: "a", Every: time.Minute, Enabled: true}},
		text: heartbeats.Text{At: begin.Add(time.Second), Body: "disk full"}}
	m := newMonitor(t, w)
	require.NoError(t, m.pass(t.Context()))
	require.Len(t, w.events, 1)
	require.Equal(t, "Exit code 3. disk full", w.events[0].Summary)
	require.Contains(t, string(w.events[0].Context), `"text":"disk full"`)
	require.NoError(t, m.pass(t.Context()))
	require.Len(t, w.events, 1, "once")
}

func TestARefusedReportIsTriedAgainLater(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	w := &world{h: heartbeats.Heartbeat{ID: 7, LastPingAt: begin,
		Content: heartbeats.Content{Name: "a", Every: time.Minute, Enabled: true}},
		reception: heartbeats.Reception{LastAt: begin.Add(time.Hour)}, refuse: fault.New(fault.NotFound, "no plan")}
	m := newMonitor(t, w)
	require.NoError(t, m.pass(t.Context()))
	require.NoError(t, m.pass(t.Context()))
	require.Equal(t, []string{"heartbeat a: no plan"}, w.refusals, "not at every pass")
	require.InDelta(t, 1, testutil.ToFloat64(m.failed), 0)
	require.False(t, w.h.Reported)
	w.refuse, m.putOff = nil, map[heartbeats.ID]time.Time{}
	require.NoError(t, m.pass(t.Context()))
	require.Len(t, w.events, 1)
	require.True(t, w.h.Reported)

	w.refuse = fault.New(fault.Unavailable, "away")
	w.h.LastPingAt = w.h.MissedAt.Add(time.Second)
	require.Error(t, m.pass(t.Context()))
	require.Error(t, m.pass(t.Context()), "an outage of the database is retried at every pass")
	w.refuse = nil
	require.NoError(t, m.pass(t.Context()))
	require.Zero(t, w.h.MissedAt)
}
