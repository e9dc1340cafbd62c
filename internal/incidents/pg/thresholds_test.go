package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/incidents"
)

const sender = 77

// event is an event with a key that a rule counts.
func (g group) event(key string, of incidents.Threshold) incidents.New {
	n := g.request(incidents.Alert{Fingerprint: key, Firing: true})
	n.DedupKey, n.Integration, n.Severity, n.Threshold = key, sender, "error", &of
	n.Threshold.Title = "title of " + key
	return n
}

// openCounted delivers an event that no open incident takes.
func (g group) openCounted(key string, of incidents.Threshold) incidents.Opened {
	g.T.Helper()
	opened, err := g.in.Open(g.Ctx(), g.event(key, of))
	require.NoError(g.T, err)
	return opened
}

func (g group) stateOf(id incidents.ID) incidents.State {
	g.T.Helper()
	found, err := g.in.Get(g.Ctx(), id)
	require.NoError(g.T, err)
	return found.State()
}

// later moves the held events into the past.
func (g group) later(d time.Duration) {
	g.Exec(`update held_events set at = (select coalesce(array_agg(t - make_interval(secs => $1) order by t), '{}') from unnest(at) t)`,
		d.Seconds())
}

func TestEventsAreHeldBackUntilThereAreEnough(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	noisy := incidents.Threshold{Key: "noisy", Name: "this alert", Events: 3, In: 10 * time.Minute}
	require.Equal(t, incidents.Opened{HeldBack: 1}, g.openCounted("a", noisy))
	events, holds, err := g.in.CountHeld(g.Ctx(), sender, noisy)
	require.NoError(t, err)
	require.Equal(t, []any{2, true}, []any{events, holds}, "a look counts nothing")
	g.later(11 * time.Minute)
	require.Equal(t, incidents.Opened{HeldBack: 1}, g.openCounted("a", noisy), "the first is too old")
	require.Equal(t, incidents.Opened{HeldBack: 2}, g.openCounted("b", noisy))
	require.Zero(t, g.incidents())
	third := g.openCounted("c", noisy)
	require.NotZero(t, third.ID)
	require.Contains(t, g.lastLine(third.ID), "event 3 in 10m of this alert opened it; held back before: ")
	require.Contains(t, g.lastLine(third.ID), "title of b")
	require.Equal(t, incidents.Opened{HeldBack: 1}, g.openCounted("d", noisy), "the count begins again")
	again, err := g.in.Open(g.Ctx(), g.event("c", noisy))
	require.NoError(t, err)
	require.True(t, again.Known, "the event that opened the incident is not counted again")
	require.Equal(t, third.ID, again.ID)
}

func TestConcurrentEventsAreCountedOnce(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	done := make(chan incidents.Opened)
	const events = 9
	for k := range events {
		go func() {
			opened, _ := g.in.Open(g.Ctx(), g.event(string(rune('a'+k)), incidents.Threshold{Key: "x", Events: 3, In: time.Minute}))
			done <- opened
		}()
	}
	opened := 0
	for range events {
		if (<-done).ID != 0 {
			opened++
		}
	}
	require.Equal(t, 3, opened)
}

func TestAHigherSeverityGoesOnWithThePlanOfItsRule(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	day := g.Plan("day", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Minute})
	first := g.fire(alerts("a"))
	g.Later(2 * time.Second)
	g.Pass()
	rise := incidents.Delivery{Context: []byte(`{}`), Facts: []byte(`[{"f":"2"}]`), Alerts: alerts("a"), Text: "the severity rose",
		Severity: "critical", Rose: true, Reroute: &incidents.Reroute{PlanID: day, Plan: "day", Reason: "rule 1 matches"}}
	restarted, err := g.in.Update(g.Ctx(), first.ID, rise)
	require.NoError(t, err)
	require.True(t, restarted)
	require.Contains(t, g.lastLine(first.ID),
		"escalation goes on with step 1 of plan day instead of plan night: the severity rose; rule 1 matches")
	before := len(g.Pages(int64(first.ID)))
	g.Later(2 * time.Second)
	g.Pass()
	require.Greater(t, len(g.Pages(int64(first.ID))), before, "step 1 of the other plan pages")
	restarted, err = g.in.Update(g.Ctx(), first.ID, rise)
	require.NoError(t, err)
	require.False(t, restarted, "it has that plan already")
}

func TestAnAcknowledgedIncidentKeepsItsPlan(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	day := g.Plan("day", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Minute})
	first := g.fire(alerts("a"))
	g.Acknowledge(int64(first.ID))
	restarted, err := g.in.Update(g.Ctx(), first.ID, incidents.Delivery{Context: []byte(`{}`), Facts: []byte(`[{"f":"2"}]`),
		Alerts: alerts("a"), Text: "x", Severity: "critical", Rose: true, Reroute: &incidents.Reroute{PlanID: day, Plan: "day"}})
	require.NoError(t, err)
	require.False(t, restarted)
	require.Equal(t, incidents.StateAcknowledged, g.stateOf(first.ID))
}

func TestAReroutedIncidentIsMergedIntoTheOpenOneOfThePlan(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	day := g.Plan("day", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Minute})
	n := g.request(alerts("a")...)
	n.PlanID = day
	other, err := g.in.Open(g.Ctx(), n)
	require.NoError(t, err)
	first := g.fire(alerts("a"))
	require.NotEqual(t, other.ID, first.ID)
	_, err = g.in.Update(g.Ctx(), first.ID, incidents.Delivery{Context: []byte(`{}`), Facts: []byte(`[{"f":"2"}]`),
		Alerts: alerts("a"), Text: "the severity rose", Severity: "critical", Rose: true,
		Reroute: &incidents.Reroute{PlanID: day, Plan: "day", Reason: "rule 1 matches"}})
	require.NoError(t, err)
	require.Equal(t, incidents.StateMerged, g.stateOf(first.ID))
	require.Contains(t, g.lastLine(first.ID), "the severity rose; rule 1 matches")
}

func TestARiseDuringASilenceChoosesThePlanForLater(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	day := g.Plan("day", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Minute})
	n := g.request(alerts("a")...)
	n.Silenced = &incidents.Silenced{Silence: 1, Until: time.Now().Add(time.Hour), Reason: "quiet"}
	opened, err := g.in.Open(g.Ctx(), n)
	require.NoError(t, err)
	starts, err := g.in.Update(g.Ctx(), opened.ID, incidents.Delivery{Context: []byte(`{}`), Facts: []byte(`[{"f":"2"}]`),
		Alerts: alerts("a"), Text: "the severity rose", Severity: "critical", Rose: true,
		Reroute: &incidents.Reroute{PlanID: day, Plan: "day", Reason: "rule 1 matches"}})
	require.NoError(t, err)
	require.False(t, starts)
	require.Equal(t, incidents.StateSilenced, g.stateOf(opened.ID))
	require.Contains(t, g.lastLine(opened.ID), "escalation will begin with step 1 of plan day instead of plan night")
}
