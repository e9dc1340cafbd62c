package pg_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/incidents"
	"github.com/iris-oncall/iris/internal/kit/fault"
)

// pair opens two incidents of different sources, and merges the second into the first.
func pair(t *testing.T) (g group, parent, child incidents.ID) {
	t.Helper()
	g = newGroup(t)
	g.key = "parent"
	parent = g.fire(alerts("p")).ID
	g.key = "child"
	child = g.fire(alerts("a")).ID
	g.after(time.Second)
	g.merge(child, parent)
	return g, parent, child
}

func (g group) merge(child, parent incidents.ID) {
	g.T.Helper()
	done, err := g.in.Merge(g.Ctx(), g.change(child), parent, "same disk")
	require.NoError(g.T, err)
	require.Equal(g.T, []incidents.Acknowledged{{ID: child, Found: true, PreviousOwner: done[0].PreviousOwner,
		Application: "shop"}}, done)
	require.Equal(g.T, incidents.StateMerged, g.state(child))
}

func (g group) do(f func() ([]incidents.Acknowledged, error)) {
	g.T.Helper()
	_, err := f()
	require.NoError(g.T, err)
}

func (g group) setResolved(id incidents.ID, resolved bool) error {
	_, err := g.in.Resolve(g.Ctx(), g.change(id), resolved)
	return err
}

func (g group) owner(id incidents.ID) string {
	i, err := g.in.Get(g.Ctx(), id)
	require.NoError(g.T, err)
	return i.Owner
}

func TestAMergedIncidentPagesNobody(t *testing.T) {
	t.Parallel()
	g, parent, child := pair(t)
	g.after(2 * time.Second)
	require.Equal(t, []string{"1.0.0 primary ana sms cancelled"}, g.Pages(int64(child)))
	require.Equal(t, []string{"1.0.0 primary ana sms pending"}, g.Pages(int64(parent)), "the parent escalates")
	require.Contains(t, g.Timeline(int64(child)), "merged: merged into incident 1 by ana through the API: same disk")
	require.Equal(t, "merged: incident 2 was merged into this one by ana through the API: same disk",
		g.lastLine(parent))
	i, err := g.in.Get(t.Context(), child)
	require.NoError(t, err)
	require.Equal(t, parent, i.MergedInto)

	require.Equal(t, child, g.fire(alerts("a", "b")).ID, "it collects the alerts of its source")
	require.Equal(t, "updated: news; nobody is paged again", g.lastLine(child))
	found, err := g.in.Alerts(t.Context(), child, "", 10)
	require.NoError(t, err)
	require.Len(t, found, 2)
	g.after(time.Hour)
	require.Len(t, g.Pages(int64(child)), 1)

	before := g.Timeline(int64(child))
	g.merge(child, parent) // again: unchanged
	require.Equal(t, before, g.Timeline(int64(child)))
}

func TestMergedIncidentsFollowTheirParent(t *testing.T) {
	t.Parallel()
	g, parent, child := pair(t)
	g.acknowledge(parent)
	require.Equal(t, "ana", g.owner(child))
	require.Equal(t, incidents.StateMerged, g.state(child))
	require.Equal(t, "acknowledged: with incident 1, into which it is merged: acknowledged by ana through the API",
		g.lastLine(child))
	g.do(func() ([]incidents.Acknowledged, error) { return g.in.Reopen(g.Ctx(), g.change(parent)) })
	require.Empty(t, g.owner(child))
	require.Equal(t, incidents.StateMerged, g.state(child))

	require.NoError(t, g.setResolved(parent, true))
	require.Equal(t, incidents.StateResolved, g.state(child))
	require.Equal(t, "resolved: with incident 1, into which it is merged: resolved by ana through the API",
		g.lastLine(child))
	err := g.setResolved(child, false)
	require.EqualError(t, err, "the incident is merged into incident 1, which is resolved: reopen that one first")
	require.True(t, fault.Is(err, fault.Conflict))
	require.NoError(t, g.setResolved(parent, false))
	require.Equal(t, incidents.StateMerged, g.state(child))
	require.Equal(t, incidents.StateExhausted, g.state(parent))

	g.key = "parent"
	require.True(t, g.resolve("p"), "by the source of the parent")
	require.Equal(t, incidents.StateResolved, g.state(child))
	done, err := g.in.Resolve(g.Ctx(), incidents.Change{IDs: []incidents.ID{child, parent}, Actor: "ana"}, false)
	require.NoError(t, err, "both at once")
	require.Len(t, done, 2)
	require.Equal(t, incidents.StateMerged, g.state(child))
}

func TestTheSourceOfAMergedIncidentResolvesItsAlerts(t *testing.T) {
	t.Parallel()
	g, parent, child := pair(t)
	require.True(t, g.resolve("a"))
	require.Equal(t, incidents.StateMerged, g.state(child))
	require.Equal(t, incidents.StateEscalating, g.state(parent))
	require.Equal(t, "updated: the source resolved its alerts; the incident stays merged into incident 1 and is resolved with it",
		g.lastLine(child))
	lines := g.Timeline(int64(child))
	require.True(t, g.resolve("a"))
	require.Equal(t, lines, g.Timeline(int64(child)), "the resolve of the other peer")

	require.Equal(t, child, g.fire(alerts("a")).ID, "it fires again")
	g.do(func() ([]incidents.Acknowledged, error) { return g.in.Unmerge(g.Ctx(), g.change(child)) })
	require.Equal(t, incidents.StateEscalating, g.state(child), "an alert fires")

	g.merge(child, parent)
	require.True(t, g.resolve("a"))
	g.do(func() ([]incidents.Acknowledged, error) { return g.in.Unmerge(g.Ctx(), g.change(child)) })
	require.Equal(t, incidents.StateResolved, g.state(child))
	require.Equal(t, "resolved: resolved: its source had resolved all its alerts", g.lastLine(child))
}

// Many sources resolve an incident as a whole: their delivery names no alert.
func TestAResolveWithoutAlertsEndsAllAlerts(t *testing.T) {
	t.Parallel()
	g, parent, child := pair(t)
	g.fire(alerts("a", "b"))
	require.True(t, g.resolve())
	known, err := g.in.Alerts(t.Context(), child, "", 10)
	require.NoError(t, err)
	require.Len(t, known, 2)
	for _, a := range known {
		require.False(t, a.Firing, a.Fingerprint)
		require.JSONEq(t, `{"alertname":"x"}`, string(a.Labels), "what is known of it stays")
		require.True(t, a.StartsAt.Equal(groupStart))
	}
	g.do(func() ([]incidents.Acknowledged, error) { return g.in.Unmerge(g.Ctx(), g.change(child)) })
	require.Equal(t, incidents.StateResolved, g.state(child))

	g.key = "without alerts"
	bare := g.fire(nil).ID
	g.merge(bare, parent)
	require.True(t, g.resolve())
	g.do(func() ([]incidents.Acknowledged, error) { return g.in.Unmerge(g.Ctx(), g.change(bare)) })
	require.Equal(t, incidents.StateResolved, g.state(bare))
}

func TestAnUndoneMergeEscalates(t *testing.T) {
	t.Parallel()
	g, parent, child := pair(t)
	g.after(2 * time.Second)
	g.do(func() ([]incidents.Acknowledged, error) { return g.in.Unmerge(g.Ctx(), g.change(child)) })
	require.Equal(t, incidents.StateEscalating, g.state(child))
	require.Equal(t, "reopened: no longer merged into incident 1 by ana through the API", g.lastLine(child))
	require.Equal(t, "merged: incident 2 is no longer merged into this one by ana through the API", g.lastLine(parent))
	g.after(2 * time.Second)
	require.Equal(t, []string{"1.0.0 primary ana sms cancelled", "1.0.0 primary ana sms pending/1"},
		g.Pages(int64(child)))
	_, err := g.in.Unmerge(g.Ctx(), g.change(child))
	require.EqualError(t, err, "the incident is not merged into another one")

	g.acknowledge(child)
	g.merge(child, parent)
	g.do(func() ([]incidents.Acknowledged, error) { return g.in.Unmerge(g.Ctx(), g.change(child)) })
	require.Equal(t, incidents.StateAcknowledged, g.state(child))
	require.NoError(t, g.setResolved(parent, true))
	require.Equal(t, incidents.StateAcknowledged, g.state(child), "it no longer follows")
}

func TestAMergeIsRefused(t *testing.T) {
	t.Parallel()
	g, parent, child := pair(t)
	g.key = "third"
	third := g.fire(alerts("c")).ID
	for name, c := range map[string]struct {
		children []incidents.ID
		into     incidents.ID
		want     string
	}{
		"itself": {[]incidents.ID{third}, third, "incident 3 cannot be merged into itself"},
		"chain":  {[]incidents.ID{third}, child, "incident 2 is merged into incident 1: merge into that one"},
		"cycle":  {[]incidents.ID{parent}, child, "incident 2 is merged into incident 1: merge into that one"},
		"parent": {[]incidents.ID{parent}, third,
			"other incidents are merged into incident 1: merge into incident 1 instead, or undo those merges first"},
		"unknown": {[]incidents.ID{third}, 99, "there is no incident 99"},
		"one of":  {[]incidents.ID{third, 98}, parent, "there is no incident 98"},
	} {
		_, err := g.in.Merge(g.Ctx(), incidents.Change{IDs: c.children, Actor: "ana"}, c.into, "")
		require.EqualError(t, err, c.want, name)
	}
	require.NoError(t, g.setResolved(third, true))
	_, err := g.in.Merge(g.Ctx(), g.change(third), parent, "")
	require.EqualError(t, err, "the incident is resolved: reopen it first")
	require.NotContains(t, strings.Join(g.Timeline(int64(third)), "\n"), "merged")
}

func TestAParentStaysOpenWhileItStandsForAnother(t *testing.T) {
	t.Parallel()
	g, parent, child := pair(t)
	g.age(parent, 2*time.Hour)
	require.Empty(t, g.closeQuiet())
	g.age(child, 2*time.Hour)
	require.Len(t, g.closeQuiet(), 1)
	require.Equal(t, incidents.StateClosed, g.state(child))
	require.Len(t, g.closeQuiet(), 1)
	require.Equal(t, incidents.StateClosed, g.state(parent))
}
