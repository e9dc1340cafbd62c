package pg_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/postgres"
	"github.com/iris-oncall/iris/internal/kit/postgres/db"
)

// plainAlert is an event in a group whose context lists the keys of its events.
type plainAlert string

func (a plainAlert) Title() string                     { return "title of " + string(a) }
func (a plainAlert) Context() (json.RawMessage, error) { return a.Join(json.RawMessage(`{}`)) }
func (a plainAlert) End(before json.RawMessage) json.RawMessage {
	return before
}
func (a plainAlert) Join(before json.RawMessage) (json.RawMessage, error) {
	var of struct {
		Keys []string `json:"keys"`
	}
	if err := json.Unmarshal(before, &of); err != nil {
		return nil, err
	}
	of.Keys = append(of.Keys, string(a))
	return json.Marshal(of)
}

var ofCluster = incidents.Group{Key: "cluster", Name: `cluster="prod"`, For: 5 * time.Minute}

// grouped is an event with a key that a rule groups.
func (g group) grouped(key string) incidents.New {
	n := g.request(incidents.Alert{Fingerprint: key, Firing: true})
	of := ofCluster
	of.Title = "title of " + key
	n.DedupKey, n.Integration, n.Severity, n.Group, n.Alert = key, sender, "error", &of, plainAlert(key)
	return n
}

// deliver does what intake does with a firing event.
func (g group) deliver(n incidents.New) incidents.Opened {
	g.T.Helper()
	known, found, err := g.in.ByKey(g.Ctx(), n)
	require.NoError(g.T, err)
	if !found {
		known, err = g.in.Open(g.Ctx(), n)
		require.NoError(g.T, err)
	}
	if known.Known {
		d := incidents.Delivery{Facts: n.DedupFacts, Alerts: n.Alerts, Late: n.Late, Text: "news"}
		if known.Grouped {
			d.Event = &incidents.GroupedEvent{Integration: n.Integration, Key: n.DedupKey, Alert: n.Alert}
		}
		known.Restarted, err = g.in.Update(g.Ctx(), known.ID, d)
		require.NoError(g.T, err)
	}
	return known
}

var bySource = incidents.Change{Actor: "integration x", Via: incidents.ViaHook}

// end resolves an event at its source, and returns the incident.
func (g group) end(key string) incidents.ID {
	g.T.Helper()
	n := g.grouped(key)
	n.Alerts = nil
	id, found, err := g.in.ResolveByKey(g.Ctx(), n, "", bySource)
	require.NoError(g.T, err)
	require.True(g.T, found, key)
	return id
}

func (g group) acknowledgeAtSource(key string) {
	g.T.Helper()
	_, found, err := g.in.AcknowledgeByKey(g.Ctx(), g.grouped(key), bySource)
	require.NoError(g.T, err)
	require.True(g.T, found, key)
}

// moveGroups moves the end of all groups.
func (g group) moveGroups(d time.Duration) {
	g.Exec(`update event_groups set takes_until = takes_until + make_interval(secs => $1)`, d.Seconds())
}

func TestEventsOfAGroupAreAlertsOfOneIncident(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	first := g.deliver(g.grouped("a"))
	require.Contains(t, g.lastLine(first.ID), `further events with cluster="prod" in the next 5m become alerts of this incident`)
	second := g.deliver(g.grouped("b"))
	require.True(t, second.Joined)
	require.Equal(t, first.ID, second.ID)
	require.Contains(t, g.lastLine(first.ID), `a further event with cluster="prod" is alert 2: title of b`)
	require.Equal(t, first.ID, g.deliver(g.grouped("b")).ID, "a repetition is no third alert")
	found, err := g.in.Get(g.Ctx(), first.ID)
	require.NoError(t, err)
	require.JSONEq(t, `{"keys":["a","b"]}`, string(found.Context))
	inGroup, err := g.in.OpenGroup(g.Ctx(), sender, ofCluster)
	require.NoError(t, err)
	require.Equal(t, first.ID, inGroup)

	g.moveGroups(-6 * time.Minute)
	third := g.deliver(g.grouped("c"))
	require.NotEqual(t, first.ID, third.ID, "the time of the group is over")
	require.Equal(t, first.ID, g.deliver(g.grouped("a")).ID, "an alert that fires stays where it is")

	require.Equal(t, first.ID, g.end("a"))
	require.Contains(t, g.lastLine(first.ID), "alert title of a was resolved at its source; 1 of 2 alerts fire")
	require.Equal(t, incidents.StateEscalating, g.stateOf(first.ID))
	require.Equal(t, first.ID, g.end("b"))
	require.Equal(t, incidents.StateResolved, g.stateOf(first.ID))
	require.Equal(t, incidents.StateEscalating, g.stateOf(third.ID))
}

func TestNothingHidesAnEventOfAGroup(t *testing.T) {
	t.Parallel()
	for name, hide := range map[string]func(g group, id incidents.ID){
		"acknowledged at the source": func(g group, _ incidents.ID) { g.acknowledgeAtSource("a") },
		"silenced": func(g group, id incidents.ID) {
			g.Exec(`update incidents set active = false, silenced_until = now() + interval '1 hour' where id = $1`, id)
		},
		"snoozed": func(g group, id incidents.ID) {
			g.Exec(`update incidents set active = false, snoozed_until = now() + interval '1 hour' where id = $1`, id)
		},
		"merged": func(g group, id incidents.ID) {
			other := g.fire(alerts("other"))
			g.Exec(`update incidents set active = false, merged_into = $2 where id = $1`, id, other.ID)
		},
		"resolved": func(g group, id incidents.ID) {
			g.Exec(`update incidents set active = false, resolved = true where id = $1`, id)
		},
		"full": func(g group, _ incidents.ID) {
			g.Exec(`update event_groups set members = $1`, incidents.MaxGroupAlerts)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGroup(t)
			first := g.deliver(g.grouped("a"))
			hide(g, first.ID)
			second := g.deliver(g.grouped("b"))
			require.False(t, second.Joined)
			require.NotEqual(t, first.ID, second.ID)
			require.Equal(t, incidents.StateEscalating, g.stateOf(second.ID))
			require.Equal(t, second.ID, g.deliver(g.grouped("c")).ID, "further events are alerts of the new incident")
		})
	}
}

func TestASilencedEventIsInNoGroup(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	hidden := g.grouped("a")
	hidden.Silenced = &incidents.Silenced{Silence: 1, Until: time.Now().Add(time.Hour), Reason: "silence 1"}
	first := g.deliver(hidden)
	require.Equal(t, incidents.StateSilenced, g.stateOf(first.ID))
	second := g.deliver(g.grouped("b"))
	require.NotEqual(t, first.ID, second.ID)
	require.Equal(t, incidents.StateEscalating, g.stateOf(second.ID))
}

func TestAGroupIsAcknowledgedWhenItsSourceAcknowledgedAllAlerts(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	id := g.deliver(g.grouped("a")).ID
	g.deliver(g.grouped("b"))
	g.acknowledgeAtSource("a")
	require.Equal(t, incidents.StateEscalating, g.stateOf(id))
	require.Contains(t, g.lastLine(id), "alert title of a was acknowledged at its source; 2 of 2 alerts fire")
	g.end("b")
	require.Equal(t, incidents.StateAcknowledged, g.stateOf(id), "the source has acknowledged the alert that is left")
	again := g.deliver(g.grouped("b"))
	require.Equal(t, id, again.ID)
	require.True(t, again.Restarted)
	require.Equal(t, incidents.StateEscalating, g.stateOf(id), "an alert that fires again is not acknowledged")
	g.acknowledgeAtSource("b")
	require.Equal(t, incidents.StateAcknowledged, g.stateOf(id))
	require.Equal(t, id, g.end("a"))
	require.Equal(t, id, g.end("b"))
	require.Equal(t, incidents.StateResolved, g.stateOf(id))
}

func TestALateDeliveryOfAGroupWaitsOnItsIncident(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	one, two := g.grouped("a"), g.grouped("b")
	one.Alerts[0].StartsAt, two.Alerts[0].StartsAt = groupStart, groupStart
	id := g.deliver(one).ID
	g.deliver(two)
	g.end("a")
	g.end("b")
	require.Equal(t, incidents.Opened{ID: id, Bucket: int(id) % 256, Held: true}, g.deliver(two), "not only the last one")
	require.Equal(t, incidents.Opened{ID: id, Bucket: int(id) % 256, Held: true}, g.deliver(one))
	g.end("b")
	require.NotContains(t, g.lastLine(id), "nobody is paged", "a still waits for its resolve")
	g.end("a")
	require.Contains(t, g.lastLine(id), "a resolve followed the late firing delivery: nobody is paged")
}

func TestAnEventThatArrivesAtTwoServersIsOneAlert(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	first := g.deliver(g.grouped("a"))
	for name, n := range map[string]incidents.New{"of the same group": g.grouped("a"), "of another group": g.moved("a")} {
		again, err := g.in.Open(g.Ctx(), n) // as a server whose look-up found nothing
		require.NoError(t, err)
		require.Equal(t, first.ID, again.ID, name)
		require.True(t, again.Known && again.Grouped, name)
	}
	require.EqualValues(t, 1, g.incidents())
	g.end("a")
	require.Equal(t, incidents.StateResolved, g.stateOf(first.ID))

	const servers = 20
	done := make(chan incidents.ID, servers)
	for k := range servers {
		go func() {
			n := g.grouped("b")
			if k%2 == 0 {
				n = g.moved("b")
			}
			opened, err := g.in.Open(g.Ctx(), n)
			if err != nil {
				t.Error(err)
			}
			done <- opened.ID
		}()
	}
	want := <-done
	for range servers - 1 {
		require.Equal(t, want, <-done)
	}
}

// moved is an event in another group than that of grouped.
func (g group) moved(key string) incidents.New {
	n := g.grouped(key)
	n.Group.Key, n.Group.Name = "other", `cluster="test"`
	return n
}

// A server that has not read the rule yet opens an incident for the event alone.
func TestAResolveEndsTheEventWhereverItIs(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	first := g.deliver(g.grouped("a"))
	g.deliver(g.grouped("b"))
	alone := g.grouped("a")
	alone.Group = nil
	second, err := g.in.Open(g.Ctx(), alone)
	require.NoError(t, err)
	require.NotEqual(t, first.ID, second.ID)
	g.acknowledgeAtSource("a")
	g.acknowledgeAtSource("b")
	require.Equal(t, incidents.StateAcknowledged, g.stateOf(first.ID))
	require.Equal(t, incidents.StateAcknowledged, g.stateOf(second.ID))
	g.end("a")
	require.Equal(t, incidents.StateResolved, g.stateOf(second.ID))
	g.end("b")
	require.Equal(t, incidents.StateResolved, g.stateOf(first.ID))
}

func TestAnEventThatFiresAfterItsSilenceLapsedPages(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	id := g.deliver(g.grouped("a")).ID
	g.deliver(g.grouped("b"))
	require.NoError(t, postgres.Exec(g.Ctx(), g.DB, (*db.Queries).EndAlerts, []int64{int64(id)}))
	found, _, err := g.in.ByKey(g.Ctx(), g.grouped("b"))
	require.NoError(t, err)
	require.Empty(t, found.Facts, "the next delivery is news")
}

func TestAnEventThatJoinsIsADeliveryOfItsIncident(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	id := g.deliver(g.grouped("a")).ID
	g.Exec(`update incidents set created_at = created_at - interval '1 hour', delivered_at = null where id = $1`, id)
	g.deliver(g.grouped("b"))
	require.EqualValues(t, 1, g.ID(`select count(*) from incidents where id = $1 and delivered_at > now() - interval '1 minute'`, id))
}

func TestAnIncidentThatMayNotStartSoonTakesNoFurtherEvent(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	id := g.deliver(g.grouped("a")).ID
	g.Exec(`update incidents set active = false, exhausted_at = now() where id = $1`, id)
	g.Exec(`insert into incident_restarts (incident_id, at) select $1, now() - n * interval '30 minutes' from generate_series(1, 24) n`, id)
	require.NotEqual(t, id, g.deliver(g.grouped("b")).ID)
}

func TestAGroupThatIsOpenTakesEventsThatItsRuleCounts(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	counted := func(key string) incidents.New {
		n := g.grouped(key)
		n.Threshold = &incidents.Threshold{Key: "cluster", Events: 2, In: time.Minute}
		return n
	}
	require.Equal(t, 1, g.deliver(counted("a")).HeldBack)
	id := g.deliver(counted("b")).ID
	third := g.deliver(counted("c"))
	require.True(t, third.Joined)
	require.Equal(t, id, third.ID)
}

func TestARiseOfAGroupIsOnItsTimeline(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	id := g.deliver(g.grouped("a")).ID
	worse := g.grouped("b")
	worse.Severity = "critical"
	g.deliver(worse)
	require.Contains(t, g.lastLine(id), "the severity rose from error to critical")
}

func TestAFurtherEventStartsAnExhaustedGroupAgain(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	id := g.deliver(g.grouped("a")).ID
	g.Exec(`update incidents set active = false, exhausted_at = now() where id = $1`, id)
	second := g.deliver(g.grouped("b"))
	require.True(t, second.Joined && second.Restarted)
	require.Equal(t, id, second.ID)
	require.Equal(t, incidents.StateEscalating, g.stateOf(id))
}

func TestEventsOfAStormAreOneIncident(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	const events = 60
	done := make(chan error, events)
	for k := range events {
		go func() {
			_, err := g.in.Open(g.Ctx(), g.grouped(fmt.Sprint("k", k)))
			done <- err
		}()
	}
	for range events {
		require.NoError(t, <-done)
	}
	require.EqualValues(t, 1, g.incidents())
	counts, err := g.in.AlertCounts(g.Ctx(), []incidents.ID{1})
	require.NoError(t, err)
	require.Equal(t, map[incidents.ID]incidents.AlertCount{1: {Alerts: events, Firing: events}}, counts)
}
