package pg_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/incidents/pg"
)

// age moves an incident and its last change into the past.
func (g group) age(id incidents.ID, d time.Duration) {
	g.T.Helper()
	g.Exec(`update incidents set created_at = statement_timestamp() - $2::interval, updated_at = statement_timestamp() - $2::interval where id = $1`, id, d.String())
}

// closeQuiet closes incidents without news for an hour.
func (g group) closeQuiet() pg.Ended {
	g.T.Helper()
	closed, more, err := pg.NewEndings(g.DB).CloseQuiet(g.Ctx(), time.Hour, 0, nil)
	require.NoError(g.T, err)
	require.False(g.T, more)
	return closed
}

func TestIncidentsWithoutNewsAreClosed(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	id := g.fire(alerts("a")).ID
	g.after(time.Second)
	g.age(id, 59*time.Minute)
	require.Empty(t, g.closeQuiet())
	g.age(id, time.Hour+time.Second)
	require.Equal(t, pg.Ended{id}, g.closeQuiet())
	require.Empty(t, g.closeQuiet())
	require.Equal(t, incidents.StateClosed, g.state(id))
	require.Equal(t, "closed: there was no news for 1 h: the incident is closed", g.lastLine(id))
	g.after(2 * time.Second)
	require.Equal(t, []string{"1.0.0 primary ana sms cancelled"}, g.Pages(int64(id)), "it pages nobody")
	i, err := g.in.Get(t.Context(), id)
	require.NoError(t, err)
	require.False(t, i.Resolved, "for /v0 it is not resolved")

	// The key is free: the next delivery opens another incident, and a resolve is for that one.
	other := g.fire(alerts("a")).ID
	require.NotEqual(t, id, other)
	require.True(t, g.resolve("a"))
	require.Equal(t, incidents.StateResolved, g.state(other))
	require.Equal(t, incidents.StateClosed, g.state(id))

	// Reopened, it has its key again.
	done, err := g.in.Reopen(t.Context(), g.change(id))
	require.NoError(t, err)
	require.True(t, done[0].Active)
	require.Equal(t, id, g.fire(alerts("a", "b")).ID)
	require.True(t, g.resolve("a", "b"))
	require.Equal(t, incidents.StateResolved, g.state(id))
}

func TestAReopenedIncidentGivesUpAKeyThatAnotherHas(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	id := g.fire(alerts("a")).ID
	g.age(id, 2*time.Hour)
	g.closeQuiet()
	other := g.fire(alerts("a")).ID
	_, err := g.in.Reopen(t.Context(), g.change(id))
	require.NoError(t, err)
	require.Equal(t, other, g.fire(alerts("a", "b")).ID)
	require.Equal(t, incidents.StateEscalating, g.state(id))
}

func TestNewsKeepAnIncidentOpen(t *testing.T) {
	t.Parallel()
	for name, news := range map[string]func(g group, id incidents.ID){
		"delivery": func(g group, _ incidents.ID) { g.fire(alerts("a")) },
		"comment": func(g group, id incidents.ID) {
			g.Exec(`insert into comments (incident_id, author_id, content) values ($1, $2, 'x')`, id, g.People["ana"])
		},
		"change":   func(g group, id incidents.ID) { g.acknowledge(id) },
		"snooze":   func(g group, id incidents.ID) { g.snooze(id); g.age(id, 2*time.Hour) },
		"resolved": func(g group, id incidents.ID) { g.resolve("a"); g.age(id, 2*time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGroup(t)
			id := g.fire(alerts("a")).ID
			g.age(id, 2*time.Hour)
			news(g, id)
			require.Empty(t, g.closeQuiet())
		})
	}
}

func TestIncidentsOfIntegrationsEndInTheirOwnWay(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	own := g.ID(`insert into integrations (application_id, name, type, rate_per_minute, created_by, resolve_after_seconds, close_after_seconds)
		values ($1, 'own', 'generic', 1, 'ana', 600, 7200) returning id`, g.App)
	open := func(integration int64, key string) incidents.ID {
		n := g.request(alerts("a")...)
		n.Integration, n.DedupKey = integration, key
		opened, err := g.in.Open(t.Context(), n)
		require.NoError(t, err)
		return opened.ID
	}
	ends, err := pg.NewEndings(g.DB).Ends(t.Context())
	require.NoError(t, err)
	require.Len(t, ends, 1)
	require.Equal(t, 10*time.Minute, ends[0].ResolveAfter)
	require.Equal(t, 2*time.Hour, *ends[0].CloseAfter)

	quiet, delivered, other := open(own, "q"), open(own, "d"), open(own+1, "o")
	for _, id := range []incidents.ID{quiet, delivered, other} {
		g.age(id, 90*time.Minute)
	}
	closed, _, err := pg.NewEndings(g.DB).CloseQuiet(t.Context(), time.Hour, 0, []int64{own})
	require.NoError(t, err)
	require.Equal(t, pg.Ended{other}, closed)
	closed, _, err = pg.NewEndings(g.DB).CloseQuiet(t.Context(), 2*time.Hour, own, []int64{own})
	require.NoError(t, err)
	require.Empty(t, closed)

	require.Equal(t, delivered, open(own, "d"), "a delivery")
	resolved, more, err := pg.NewEndings(g.DB).ResolveUndelivered(t.Context(), 10*time.Minute, own)
	require.NoError(t, err)
	require.False(t, more)
	require.Equal(t, pg.Ended{quiet}, resolved)
	require.Equal(t, incidents.StateResolved, g.state(quiet))
	require.Equal(t, "resolved: resolved, because there was no delivery for 10 min", g.lastLine(quiet))
	require.Equal(t, incidents.StateEscalating, g.state(delivered))
}
