package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/dev/pgtest"
	"github.com/iris-oncall/iris/internal/incidents"
	stored "github.com/iris-oncall/iris/internal/incidents/pg"
	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/users"
)

func (g group) change(id incidents.ID) incidents.Change {
	return incidents.Change{IDs: []incidents.ID{id}, Actor: "ana", Via: incidents.ViaAPI}
}

// snooze snoozes an incident for an hour.
func (g group) snooze(id incidents.ID) {
	g.T.Helper()
	done, err := g.in.Snooze(g.Ctx(), g.change(id), incidents.SnoozeFor(time.Hour))
	require.NoError(g.T, err)
	require.False(g.T, done[0].Active)
}

// acknowledge makes ana the owner of an incident.
func (g group) acknowledge(id incidents.ID) {
	g.T.Helper()
	_, err := g.in.Acknowledge(g.Ctx(), g.change(id), users.User{ID: users.ID(g.People["ana"]), Name: "ana"})
	require.NoError(g.T, err)
}

// after moves the clock of the engine to so long from now, and lets the engine work.
func (g *group) after(d time.Duration) {
	g.T.Helper()
	g.Now = time.Now().Truncate(time.Second).Add(d)
	g.Pass()
	g.Pass()
}

func (g group) state(id incidents.ID) incidents.State {
	g.T.Helper()
	i, err := g.in.Get(g.Ctx(), id)
	require.NoError(g.T, err)
	return i.State()
}

func TestASnoozeStopsPagesAndThenThePlanBeginsAgain(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	id := g.fire(alerts("a")).ID
	g.after(time.Second)
	require.Equal(t, []string{"1.0.0 primary ana sms pending"}, g.Pages(int64(id)))
	g.snooze(id)
	require.Equal(t, incidents.StateSnoozed, g.state(id))
	g.after(time.Minute)
	require.Equal(t, []string{"1.0.0 primary ana sms cancelled"}, g.Pages(int64(id)), "what was not sent is cancelled")
	g.after(59 * time.Minute)
	require.Len(t, g.Pages(int64(id)), 1)

	g.after(time.Hour + time.Second)
	require.Equal(t, []string{"1.0.0 primary ana sms cancelled", "1.0.0 primary ana sms pending/1"}, g.Pages(int64(id)))
	require.Equal(t, incidents.StateEscalating, g.state(id))
	lines := g.Timeline(int64(id))
	require.Contains(t, lines, "reopened: escalation starts again: the snooze is over")
	require.Contains(t, lines[2], "snoozed: snoozed until ")
	require.Contains(t, lines[2], " by ana through the API")
}

func TestWhatPeopleDoWithASnoozedIncident(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(g *group, id incidents.ID)
		want incidents.State
	}{
		"acknowledge": {func(g *group, id incidents.ID) { g.acknowledge(id) }, incidents.StateAcknowledged},
		"resolve":     {func(g *group, _ incidents.ID) { g.resolve("a") }, incidents.StateResolved},
		"news":        {func(g *group, _ incidents.ID) { g.fire(alerts("a", "b")) }, incidents.StateSnoozed},
		"acknowledge at source": {func(g *group, _ incidents.ID) {
			_, _, err := g.in.AcknowledgeByKey(g.Ctx(), g.request(), incidents.Change{Actor: "source"})
			require.NoError(g.T, err)
		}, incidents.StateSnoozed},
		"snooze again": {func(g *group, id incidents.ID) { g.snooze(id) }, incidents.StateSnoozed},
		"unsnooze": {func(g *group, id incidents.ID) {
			done, err := g.in.EndSnooze(g.Ctx(), g.change(id))
			require.NoError(g.T, err)
			require.True(g.T, done[0].Active)
			_, err = g.in.EndSnooze(g.Ctx(), g.change(id))
			require.EqualError(g.T, err, "the incident is not snoozed")
		}, incidents.StateEscalating},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGroup(t)
			id := g.fire(alerts("a")).ID
			g.Pass()
			g.snooze(id)
			c.do(&g, id)
			require.Equal(t, c.want, g.state(id))
			if c.want != incidents.StateSnoozed {
				require.Zero(t, g.ID(`select count(*) from incident_timers`), "the timer of the snooze has ended")
			}
		})
	}
}

func TestASnoozeIsRefused(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	id := g.fire(alerts("a")).ID
	for until, want := range map[time.Time]string{
		time.Now().Add(-time.Second): "until must be in the future", time.Now().Add(31 * 24 * time.Hour): "until must be within 30 days",
	} {
		_, err := g.in.Snooze(g.Ctx(), g.change(id), incidents.SnoozeUntil(until))
		require.True(t, fault.Is(err, fault.Invalid))
		require.EqualError(t, err, want)
	}
	g.resolve("a")
	_, err := g.in.Snooze(g.Ctx(), g.change(id), incidents.SnoozeFor(time.Hour))
	require.EqualError(t, err, "the incident is resolved: reopen it first")
	done, err := g.in.Snooze(g.Ctx(), g.change(999), incidents.SnoozeFor(time.Hour))
	require.NoError(t, err)
	require.False(t, done[0].Found)
}

func TestASnoozeOfAnExhaustedIncidentStopsPagesThatWereBegun(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	id := g.fire(alerts("a")).ID
	g.exhaust(id)
	g.snooze(id)
	require.Zero(t, g.ID(`select count(*) from incidents where active or exhausted_at is not null`))
	g.after(time.Hour + time.Second)
	require.Equal(t, pgtest.Progress{Step: 1, Active: true, HasDue: true, Due: 2 * time.Minute}, g.Progress(int64(id)))
}

func TestASnoozeThatEndsSoonAfterARestartWaits(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	id := g.fire(alerts("a")).ID
	g.snooze(id)
	g.Exec(`insert into incident_restarts values ($1, statement_timestamp() + interval '58 minutes')`, id)
	g.after(time.Hour + time.Second)
	require.Equal(t, incidents.StateSnoozed, g.state(id))
	g.Exec(`update incident_timers set due_at = $1`, g.Now)
	g.after(time.Hour + 4*time.Minute)
	require.Equal(t, incidents.StateEscalating, g.state(id))
}

func TestSnoozeByKey(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	n := g.request(alerts("a")...)
	n.Integration = 7
	_, found, err := g.in.SnoozeByKey(g.Ctx(), n, incidents.Change{Actor: "integration ops"},
		incidents.SnoozeFor(time.Hour))
	require.NoError(t, err)
	require.False(t, found)
	opened, err := g.in.Open(g.Ctx(), n)
	require.NoError(t, err)
	id, found, err := g.in.SnoozeByKey(g.Ctx(), n, incidents.Change{Actor: "integration ops"},
		incidents.SnoozeFor(time.Hour))
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, opened.ID, id)
	require.Equal(t, incidents.StateSnoozed, g.state(id))
}

func TestAnAcknowledgementTimesOut(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	g.Exec(`update plans set acknowledgement_timeout = 1800`)
	id := g.fire(alerts("a")).ID
	g.after(time.Second)
	g.acknowledge(id)
	g.after(29 * time.Minute)
	require.Equal(t, incidents.StateAcknowledged, g.state(id))
	g.after(30*time.Minute + 2*time.Second)
	require.Equal(t, incidents.StateEscalating, g.state(id))
	require.Contains(t, g.Timeline(int64(id)),
		"reopened: escalation starts again: it was acknowledged, but not resolved in time")
	require.Len(t, g.Pages(int64(id)), 2)

	g.acknowledge(id)
	_, err := g.in.Resolve(g.Ctx(), g.change(id), true)
	require.NoError(t, err)
	g.after(2 * time.Hour)
	require.Equal(t, incidents.StateResolved, g.state(id), "a resolve ends the time")
}

// Five seconds are five seconds of the database, whatever the clock of this process says.
func TestASnoozeLastsByTheClockOfTheDatabase(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{time.Hour, -time.Hour} {
		d := pgtest.Skewed(t, ahead)
		var id int64
		require.NoError(t, d.Pool().QueryRow(t.Context(),
			`with u as (insert into users (name) values ('ann') returning id), a as (insert into applications (name) values ('demo') returning id),
			p as (insert into plans (name, creator_id, threshold_window, threshold_count, aggregation_window, aggregation_reset) select 'p', id, 0, 0, 0, 0 from u returning id)
			insert into incidents (plan_id, application_id, due_at) select p.id, a.id, clock_timestamp() from p, a returning id`).Scan(&id))
		done, err := stored.New(d).Snooze(t.Context(), incidents.Change{IDs: []incidents.ID{incidents.ID(id)},
			Actor: "ann", Via: incidents.ViaAPI}, incidents.SnoozeFor(5*time.Second))
		require.NoError(t, err)
		require.True(t, done[0].Found)
		var left float64
		require.NoError(t, d.Pool().QueryRow(t.Context(),
			`select extract(epoch from due_at - clock_timestamp())::float8 from incident_timers`).Scan(&left))
		require.Greater(t, left, -60.0)
		require.LessOrEqual(t, left, 5.0)
	}
}
