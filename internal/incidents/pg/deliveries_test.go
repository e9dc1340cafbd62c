package pg_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/incidents"
	pgincidents "github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/users"
)

// group is an alert group of a source whose peers deliver alerts. The engine's clock stops until the test moves it.
type group struct {
	*pgtest.Escalating
	in   *pgincidents.Incidents
	plan int64
	late incidents.Late
	key  string
}

var groupStart = time.Date(2026, 3, 4, 2, 11, 30, 500000000, time.UTC)

func newGroup(t *testing.T) group {
	t.Helper()
	e := pgtest.NewEscalating(t)
	plan := e.Plan("night", pgtest.Intent{Step: 1, Role: "user", Target: "ana", Priority: "high", Wait: time.Minute})
	return group{Escalating: e, in: pgincidents.New(e.DB), plan: plan,
		late: incidents.Late{Within: 2 * time.Minute, Hold: 6 * time.Minute}, key: "g"}
}

func (g group) request(alerts ...incidents.Alert) incidents.New {
	return incidents.New{PlanID: g.plan, ApplicationID: g.App, Context: json.RawMessage(`{}`),
		Actor: "application shop", DedupKey: g.key,
		DedupFacts: json.RawMessage(fmt.Sprintf(`[{"f":"%d alerts"}]`, len(alerts))), Alerts: alerts, Late: g.late}
}

func alerts(names ...string) []incidents.Alert {
	var out []incidents.Alert
	for _, n := range names {
		name, over := strings.CutPrefix(n, "-")
		out = append(out, incidents.Alert{Fingerprint: name, Firing: !over, StartsAt: groupStart,
			Labels: json.RawMessage(`{"alertname":"x"}`)})
	}
	return out
}

// fire delivers firing alerts as a webhook does, and returns the incident that they belong to.
func (g group) fire(alerts []incidents.Alert) incidents.Opened {
	g.T.Helper()
	n := g.request(alerts...)
	found, ok, err := g.in.ByKey(g.Ctx(), n)
	require.NoError(g.T, err)
	if !ok {
		found, err = g.in.Open(g.Ctx(), n)
		require.NoError(g.T, err)
	}
	if found.Known {
		_, err = g.in.Update(g.Ctx(), found.ID, incidents.Delivery{Context: n.Context, Facts: n.DedupFacts,
			Alerts: alerts, Late: g.late, Text: "news"})
		require.NoError(g.T, err)
	}
	return found
}

func (g group) resolve(names ...string) bool {
	g.T.Helper()
	for i, n := range names {
		names[i] = "-" + n
	}
	_, found, err := g.in.ResolveByKey(g.Ctx(), g.request(alerts(names...)...), "night",
		incidents.Change{Actor: "application shop", Via: incidents.ViaHook})
	require.NoError(g.T, err)
	return found
}

// resolvedAgo moves the last resolve into the past.
func (g group) resolvedAgo(d time.Duration) {
	g.Exec(`update resolved_groups set resolved_at = statement_timestamp() - make_interval(secs => $1)`, d.Seconds())
}

// exhaust runs the plan of an incident to its end.
func (g group) exhaust(id incidents.ID) {
	g.T.Helper()
	g.Later(2 * time.Second)
	g.Pass()
	g.Settle(int64(id), "sent")
	g.Later(time.Minute)
	g.Pass()
	require.False(g.T, g.Progress(int64(id)).Active)
}

func (g group) incidents() int64 { return g.ID(`select count(*) from incidents`) }

func (g group) lastLine(id incidents.ID) string {
	lines := g.Timeline(int64(id))
	return lines[len(lines)-1]
}

func TestLateFiringIsHeldOnTheResolvedIncident(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	first := g.fire(alerts("a", "b"))
	require.Equal(t, first.ID, g.fire(alerts("a", "b")).ID, "the other peer")
	require.True(t, g.resolve("a", "b"))
	g.Pass()
	g.resolvedAgo(30 * time.Second)

	late := g.fire(alerts("a", "b"))
	require.True(t, late.Held)
	require.Equal(t, first.ID, late.ID)
	require.Equal(t, "held: a late firing delivery arrived 30s after the resolve: it is held, and escalation starts in 6m unless a resolve follows", g.lastLine(first.ID))
	require.True(t, g.fire(alerts("a")).Held, "held once, whatever comes after")
	require.Len(t, slices.DeleteFunc(g.Timeline(int64(first.ID)),
		func(l string) bool { return !strings.HasPrefix(l, "held:") }), 1)
	g.Later(5 * time.Minute)
	g.Pass()
	require.Empty(t, g.Pages(int64(first.ID)), "nobody is paged")
	require.EqualValues(t, 1, g.incidents())

	require.True(t, g.resolve("a", "b"), "the resolve follows")
	require.Equal(t, "resolved: a resolve followed the late firing delivery: nobody is paged", g.lastLine(first.ID))
	g.Later(time.Hour)
	g.Pass()
	require.Empty(t, g.Pages(int64(first.ID)))
	require.False(t, g.resolve("a", "b"), "nothing is open or held")
}

func TestALateFiringEscalatesWhenNoResolveFollows(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	id := g.fire(alerts("a")).ID
	g.exhaust(id)
	g.resolve("a")
	require.True(t, g.fire(alerts("a")).Held)
	g.Now = time.Now().Truncate(time.Second).Add(g.late.Hold - 10*time.Second)
	g.Pass()
	require.Len(t, g.Pages(int64(id)), 1)
	g.Now = time.Now().Truncate(time.Second).Add(g.late.Hold + time.Second)
	g.Pass()
	g.Pass()
	require.Equal(t, []string{"1.0.0 primary ana sms sent", "1.0.0 primary ana sms pending/1"}, g.Pages(int64(id)))
	require.Contains(t, g.Timeline(int64(id)),
		"reopened: escalation starts again: no resolve followed the late firing delivery")
	require.Equal(t, pgtest.Progress{Step: 1, Active: true, HasDue: true, Due: 2 * time.Minute}, g.Progress(int64(id)))
	require.Equal(t, id, g.fire(alerts("a")).ID)
	require.True(t, g.resolve("a"), "it is open again")
	require.EqualValues(t, 1, g.incidents())
}

func TestAnAlertThatIsNotLateOpensAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*group)
		manual bool
		ago    time.Duration
		alerts []incidents.Alert
	}{
		"later than two minutes": {ago: 2*time.Minute + time.Second, alerts: alerts("a")},
		"an alert more":          {alerts: alerts("a", "c")},
		"another start": {alerts: []incidents.Alert{{Fingerprint: "a", Firing: true,
			StartsAt: groupStart.Add(time.Second)}}},
		"no start":                     {alerts: []incidents.Alert{{Fingerprint: "a", Firing: true}}},
		"another group":                {change: func(g *group) { g.key = "other" }, alerts: alerts("a")},
		"a person resolved it":         {manual: true, alerts: alerts("a")},
		"the source holds none":        {change: func(g *group) { g.late.Within = 0 }, alerts: alerts("a")},
		"the source holds for no time": {change: func(g *group) { g.late.Hold = 0 }, alerts: alerts("a")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGroup(t)
			first := g.fire(alerts("a"))
			if c.manual {
				_, err := g.in.Resolve(g.Ctx(), incidents.Change{IDs: []incidents.ID{first.ID}, Actor: "ana",
					Via: incidents.ViaWeb}, true)
				require.NoError(t, err)
			} else {
				g.resolve("a")
			}
			g.resolvedAgo(c.ago)
			if c.change != nil {
				c.change(&g)
			}
			second := g.fire(c.alerts)
			require.NotEqual(t, first.ID, second.ID)
			require.False(t, second.Held || second.Known)
			g.Later(2 * time.Second)
			g.Pass()
			require.Len(t, g.Pages(int64(second.ID)), 1)
		})
	}
}

func TestAPersonsChangeEndsTheWaitOfALateFiring(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(g group, c incidents.Change) error{
		"acknowledged": func(g group, c incidents.Change) error {
			_, err := g.in.Acknowledge(g.Ctx(), c, users.User{ID: users.ID(g.People["ana"]), Name: "ana"})
			return err
		},
		"resolved": func(g group, c incidents.Change) error {
			_, err := g.in.Resolve(g.Ctx(), c, true)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGroup(t)
			id := g.fire(alerts("a")).ID
			g.resolve("a")
			require.True(t, g.fire(alerts("a")).Held)
			require.NoError(t, answer(g, incidents.Change{IDs: []incidents.ID{id}, Actor: "ana",
				Via: incidents.ViaWeb}))
			require.True(t, strings.HasPrefix(g.lastLine(id), name+": "), g.lastLine(id))
			g.Later(time.Hour)
			g.Pass()
			require.Empty(t, g.Pages(int64(id)))
		})
	}
}

// A timer that an event without alerts set names none.
func TestALateFiringWithoutAlertsEscalatesToo(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	id := g.deliver(g.grouped("a")).ID
	g.end("a")
	g.Exec(`insert into incident_timers (incident_id, due_at, reason, fingerprints) values ($1, now(), 'late firing', '{}')`, id)
	g.Later(time.Minute)
	g.Pass()
	require.Equal(t, incidents.StateEscalating, g.stateOf(id))
}

func TestALateEventEscalatesOnlyWhereItIs(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	id := g.deliver(g.grouped("a")).ID
	g.end("a")
	g.moveGroups(-time.Hour)
	other := g.deliver(g.grouped("a"))
	require.NotEqual(t, id, other.ID)
	g.Exec(`insert into incident_timers (incident_id, due_at, reason, fingerprints) values ($1, now(), 'late firing', '{a}')`, id)
	g.Later(time.Minute)
	g.Pass()
	require.Equal(t, incidents.StateResolved, g.stateOf(id))
	require.Contains(t, g.lastLine(id), "its event has another incident")
}

func TestALateFiringIsNotEscalatedWhenItsGroupIsOpenAgain(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	id := g.fire(alerts("a")).ID
	g.resolve("a")
	require.True(t, g.fire(alerts("a")).Held)
	other := g.fire(alerts("a", "new")).ID
	require.NotEqual(t, id, other)
	g.Later(time.Hour)
	g.Pass()
	require.Equal(t, fmt.Sprintf("held: the late firing delivery is not escalated here: incident %d of the same group is open", other), g.lastLine(id))
	require.Empty(t, g.Pages(int64(id)))
}

func TestANewAlertRestartsAnExhaustedPlan(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	id := g.fire(alerts("a")).ID
	g.exhaust(id)
	require.Equal(t, id, g.fire(alerts("a")).ID)
	require.False(t, g.Progress(int64(id)).Active, "a repeat")

	g.fire(alerts("a", "b"))
	require.Equal(t, []string{"updated: news", "reopened: escalation starts again: there is a new alert"},
		g.Timeline(int64(id))[3:])
	g.Later(2 * time.Second)
	g.Pass()
	require.Equal(t, []string{"1.0.0 primary ana sms sent", "1.0.0 primary ana sms pending/1"}, g.Pages(int64(id)))

	g.Settle(int64(id), "sent")
	g.Later(time.Minute)
	g.Pass()
	require.False(t, g.Progress(int64(id)).Active)
	g.fire(alerts("a", "b", "c"))
	require.Regexp(t, `there is a new alert: escalation starts again in (5m|4m5[0-9]s) \(at most every 5m and 24 times a day\)`, g.lastLine(id))
	g.Pass()
	require.False(t, g.Progress(int64(id)).Active, "not twice within five minutes")
	g.fire(alerts("a", "b", "c", "d"))
	g.Now = time.Now().Truncate(time.Second).Add(5*time.Minute + time.Second)
	g.Pass()
	g.Pass()
	require.Len(t, g.Pages(int64(id)), 3, "it waited, and was not forgotten")
}

func TestARepeatedAlertRestartsAnExhaustedPlanAfterRepageAfter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sql  string
		want bool
	}{
		"an hour ago": {`update incidents set exhausted_at = statement_timestamp() - interval '1 hour'`, true},
		"less": {`update incidents set exhausted_at = statement_timestamp() - interval '59 minutes'`,
			false},
		"the plan says sooner": {`with p as (update plans set repage_after = 60) update incidents set exhausted_at = statement_timestamp() - interval '1 minute'`, true},
		"the plan says never":  {`with p as (update plans set repage_after = 0) update incidents set exhausted_at = statement_timestamp() - interval '9 hours'`, false},
		"before the upgrade":   {`update incidents set exhausted_at = null`, false},
		"24 times within this day": {`with r as (insert into incident_restarts select id, statement_timestamp() - make_interval(mins => 20 * n) from incidents, generate_series(1, 24) n)
			update incidents set exhausted_at = statement_timestamp() - interval '9 hours'`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGroup(t)
			id := g.fire(alerts("a")).ID
			g.exhaust(id)
			g.Exec(c.sql)
			again := g.fire(alerts("a"))
			require.Equal(t, id, again.ID)
			require.Equal(t, c.want, g.Progress(int64(id)).Active)
			if c.want {
				require.True(t, again.Repage)
				require.Equal(t, "reopened: escalation starts again: the alert is still firing", g.lastLine(id))
			}
		})
	}
}

func TestAnIncidentFromBeforeTheUpgradeRestartsOnlyOnANewAlert(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	id := g.fire(alerts("a")).ID
	g.exhaust(id)
	g.Exec(`delete from incident_alerts`)
	g.Exec(`update incidents set exhausted_at = null`)
	g.Exec(`update incident_contexts set dedup_facts = $1`, fmt.Sprintf(`[{"f":"a","s":"firing","t":%q}]`,
		groupStart.Format(time.RFC3339Nano)))
	g.fire(alerts("a"))
	require.False(t, g.Progress(int64(id)).Active)
	g.fire(alerts("a", "b"))
	require.True(t, g.Progress(int64(id)).Active)
}

func TestALargeGroupIsStoredAsRows(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	var many []incidents.Alert
	for i := range 20_000 {
		many = append(many, incidents.Alert{Fingerprint: fmt.Sprint(i), Firing: i%2 == 0, StartsAt: groupStart,
			EndsAt: groupStart.Add(time.Hour),
			Labels: json.RawMessage(`{"alertname":"x"}`), Annotations: json.RawMessage(`{"summary":"` +
				strings.Repeat("é", 300) + `","odd":"\ud800"}`)})
	}
	id := g.fire(many).ID
	require.EqualValues(t, 20_000, g.ID(`select count(*) from incident_alerts where incident_id = $1`, id))
	require.EqualValues(t, 10_000, g.ID(`select count(*) from incident_alerts where status = 'firing' and starts_at = $1 and labels->>'alertname' = 'x'`, groupStart))
	require.Equal(t, id, g.fire(many).ID)
	g.resolve("0")
	require.Zero(t, g.ID(`select count(*) from incident_alerts where status = 'firing'`),
		"the group is over, and with it the alerts that the resolve does not name")
}

func TestRepeatedAlertsUseNoIncidentNumbers(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	first := g.fire(alerts("a"))
	calls := g.DB.Pool().Stat().AcquireCount()
	var wg sync.WaitGroup
	for range 200 {
		wg.Go(func() {
			found, ok, err := g.in.ByKey(g.Ctx(), g.request(alerts("a")...))
			require.NoError(t, err)
			require.True(t, ok && found.Known && found.ID == first.ID)
		})
	}
	wg.Wait()
	require.Less(t, g.DB.Pool().Stat().AcquireCount()-calls, int64(100), "look-ups share statements")
	g.key = "next"
	require.Equal(t, first.ID+1, g.fire(alerts("a")).ID)
}

// A look-up of keys reads only the rows that it returns, however many incidents are open or past. So does the read of
// timers.
func TestLookUpsOfDeliveriesScanFewRows(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	g.Exec(`insert into incidents (plan_id, application_id, active, resolved, dedup_key, plan_key)
		select $1, $2, false, n % 3 <> 0, 'k' || n, 'night' from generate_series(1, 30000) n`, g.plan, g.App)
	g.Exec(`insert into incident_contexts (incident_id, context) select id, '{}' from incidents`)
	g.Exec(`insert into resolved_groups (application_id, plan_key, dedup_key, incident_id)
		select application_id, plan_key, dedup_key, id from incidents where resolved`)
	g.Exec(`insert into incident_timers (incident_id, due_at, reason) select id, clock_timestamp() + interval '1 hour', 'new alert' from incidents`)
	g.Exec(`analyze incidents, incident_contexts, resolved_groups, incident_timers, plans`)
	const n = 200
	var ords []int
	var keys []string
	for i := range n {
		ords, keys = append(ords, i), append(keys, fmt.Sprintf("k%d", i+1))
	}
	require.Less(t, pgtest.Scanned(t, g.DB, "deliveries.sql", "FindByKeys",
		map[string]any{"ords": ords, "dedup_keys": keys,
			"plan_ids": slices.Repeat([]int64{g.plan}, n), "application_ids": slices.Repeat([]int64{g.App}, n),
			"integration_ids": make([]int64, n), "openers": make([]string, n)}), 10*n)
	var every []int
	for b := range 256 {
		every = append(every, b)
	}
	require.Less(t, pgtest.Scanned(t, g.DB, "deliveries.sql", "DueTimers",
		map[string]any{"buckets": every, "now": nil}), 300)
}

// An integration remembers the longest time between two deliveries of the same alerts, and that its source resolves.
func TestTheRepeatsOfASourceAreLearned(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	integration := g.ID(`insert into integrations (application_id, name, type, rate_per_minute, created_by) values ($1, 'am', 'alertmanager', 600, 'ana') returning id`, g.App)
	request := func(facts string) incidents.New {
		n := g.request(alerts("a")...)
		n.Integration, n.DedupFacts = integration, json.RawMessage(facts)
		return n
	}
	opened, err := g.in.Open(g.Ctx(), request(`[{"f": "a"}]`))
	require.NoError(t, err)
	learned := func(facts string, after time.Duration) int64 {
		g.Exec(`update incidents set created_at = clock_timestamp() - make_interval(secs => $1), delivered_at = clock_timestamp() - make_interval(secs => $1)`, after.Seconds())
		found, ok, err := g.in.ByKey(g.Ctx(), request(facts))
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, opened.ID, found.ID)
		return g.ID(`select repeat_seconds from integrations where id = $1`, integration)
	}
	require.EqualValues(t, 0, learned(`[{"f":"a"}]`, 30*time.Second), "it is not noted: at most once a minute")
	require.EqualValues(t, 0, learned(`[{"f":"a"},{"f":"b"}]`, time.Hour), "news is no repeat")
	require.EqualValues(t, 3600, learned(`[{"f":"a"}]`, time.Hour))
	require.EqualValues(t, 3600, learned(`[{"f":"a"}]`, 10*time.Minute), "the longest counts")
	require.EqualValues(t, 7200, learned(`[{"f":"a"}]`, 2*time.Hour))

	require.EqualValues(t, 0, g.ID(`select resolves::int from integrations where id = $1`, integration))
	_, found, err := g.in.ResolveByKey(g.Ctx(), request(`[]`), "",
		incidents.Change{Actor: "integration am", Via: incidents.ViaHook})
	require.NoError(t, err)
	require.True(t, found)
	require.EqualValues(t, 1, g.ID(`select resolves::int from integrations where id = $1`, integration))
}
