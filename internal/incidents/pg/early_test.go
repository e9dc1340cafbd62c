package pg_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/incidents"
)

// earlyAgo moves the remembered resolves into the past.
func (g group) earlyAgo(d time.Duration) {
	g.Exec(`update early_resolves set resolved_at = statement_timestamp() - make_interval(secs => $1)`, d.Seconds())
}

// fireEarly delivers firing alerts that may follow their resolve.
func (g group) fireEarly(alerts []incidents.Alert) incidents.Opened {
	g.T.Helper()
	n := g.request(alerts...)
	found, ok, err := g.in.ByKey(g.Ctx(), n)
	require.NoError(g.T, err)
	if ok {
		return found
	}
	n.Early = found.Early
	found, err = g.in.Open(g.Ctx(), n)
	require.NoError(g.T, err)
	return found
}

func TestTheFiringAfterItsResolveIsHeld(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	require.False(t, g.resolve("a", "b"), "no incident is open")
	held := g.fireEarly(alerts("a"))
	require.True(t, held.Held)
	require.Equal(t, "held: the firing delivery arrived after its resolve: it is held, and escalation starts in 6m unless a resolve follows",
		g.lastLine(held.ID))
	require.Equal(t, held, g.fireEarly(alerts("a")), "the other peer")
	g.Later(5 * time.Minute)
	g.Pass()
	require.Empty(t, g.Pages(int64(held.ID)), "nobody is paged yet")
	g.Now = time.Now().Truncate(time.Second).Add(g.late.Hold + time.Second)
	g.Pass()
	g.Pass()
	require.NotEmpty(t, g.Pages(int64(held.ID)), "no resolve followed: the alert is not lost")
	require.EqualValues(t, 1, g.incidents())
}

func TestAResolveEndsTheHoldOfAFiringThatCameAfterItsResolve(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	require.False(t, g.resolve("a"))
	held := g.fireEarly(alerts("a"))
	require.True(t, g.resolve("a"))
	g.Now = time.Now().Truncate(time.Second).Add(time.Hour)
	g.Pass()
	require.Empty(t, g.Pages(int64(held.ID)))
	require.Equal(t, "resolved: a resolve followed the late firing delivery: nobody is paged", g.lastLine(held.ID))
}

// When it is in doubt whether the resolve was of the same occurrence, the firing opens an incident that pages.
func TestAFiringAfterAnotherResolveOpens(t *testing.T) {
	t.Parallel()
	later, unknown := alerts("a"), alerts("a")
	later[0].StartsAt, unknown[0].StartsAt = groupStart.Add(time.Second), time.Time{}
	for name, c := range map[string]struct {
		before func(g group)
		alerts []incidents.Alert
		held   bool
	}{
		"the same start":        {func(g group) { g.resolve("a") }, alerts("a"), true},
		"resolved twice":        {func(g group) { g.resolve("a"); g.resolve("a") }, alerts("a"), true},
		"a later start":         {func(g group) { g.resolve("a") }, later, false},
		"no start":              {func(g group) { g.resolve("a") }, unknown, false},
		"another alert":         {func(g group) { g.resolve("a") }, alerts("a", "b"), false},
		"too late":              {func(g group) { g.resolve("a"); g.earlyAgo(2*time.Minute + time.Second) }, alerts("a"), false},
		"no resolve":            {func(group) {}, alerts("a"), false},
		"a key without a start": {func(g group) { g.resolveKey() }, keyAlert(time.Time{}), true},
		"a key that is resolved again and again": {func(g group) { g.resolveKey(); g.resolveKey() },
			keyAlert(time.Time{}), false},
		"a key with a start after the resolve":  {func(g group) { g.resolveKey() }, keyAlert(time.Now().Add(time.Hour)), false},
		"a key with a start before the resolve": {func(g group) { g.resolveKey() }, keyAlert(groupStart), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGroup(t)
			c.before(g)
			opened := g.fireEarly(c.alerts)
			require.Equal(t, c.held, opened.Held)
			if !c.held {
				g.Pass()
				require.True(t, g.Progress(int64(opened.ID)).Active, "it pages at once")
			}
		})
	}
	g := newGroup(t)
	g.late = incidents.Late{}
	g.resolve("a")
	require.Zero(t, g.ID(`select count(*) from early_resolves`), "the application holds nothing")
}

// keyAlert is the alert of a source without groups.
func keyAlert(start time.Time) []incidents.Alert {
	return []incidents.Alert{{Fingerprint: "g", Firing: true, StartsAt: start}}
}

// resolveKey delivers a resolve of a source without groups that names no start.
func (g group) resolveKey() {
	g.T.Helper()
	_, _, err := g.in.ResolveByKey(g.Ctx(), g.request(), "night", incidents.Change{Actor: "application shop"})
	require.NoError(g.T, err)
}

func TestRememberedResolvesAreBounded(t *testing.T) {
	t.Parallel()
	g := newGroup(t)
	g.Exec(`insert into early_resolves (application_id, plan_key, dedup_key, fingerprints, starts_ats, repeated)
		select $1, 'night', 'k' || n, '{}', '{}', false from generate_series(1, 1000) n`, g.App)
	g.resolve("a")
	require.EqualValues(t, 1000, g.ID(`select count(*) from early_resolves`))
	require.False(t, g.fireEarly(alerts("a")).Held, "a resolve that is not remembered holds nothing")
	g.earlyAgo(2*time.Minute + time.Second)
	g.key = "next"
	g.resolve("a")
	require.EqualValues(t, 1, g.ID(`select count(*) from early_resolves`), "old ones are removed")
	many := make([]string, 1001)
	for k := range many {
		many[k] = fmt.Sprint(k)
	}
	g.key = "many"
	g.resolve(many...)
	require.EqualValues(t, 1, g.ID(`select count(*) from early_resolves`))
}
