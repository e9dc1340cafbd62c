package commands

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/silences"
)

func TestSilenceSetChangesOnlyWhatIsGiven(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	before := silences.Content{Match: "a=b", Application: "shop", From: now.Add(-time.Hour), To: now.Add(time.Hour), Zone: "Europe/Berlin", Comment: "c"}
	given := func(s string) *string { return &s }
	for name, c := range map[string]struct {
		set    silenceFlags
		change func(*silences.Content)
	}{
		"nothing":     {silenceFlags{}, func(*silences.Content) {}},
		"a condition": {silenceFlags{Application: given(""), Plan: given("db")}, func(c *silences.Content) { c.Application, c.Plan = "", "db" }},
		"longer":      {silenceFlags{For: "3h"}, func(c *silences.Content) { c.To = now.Add(3 * time.Hour) }},
		"until":       {silenceFlags{Until: "2026-03-01T20:00"}, func(c *silences.Content) { c.To = time.Date(2026, 3, 1, 19, 0, 0, 0, time.UTC) }},
		"a window": {silenceFlags{Repeat: given("FREQ=DAILY"), For: "30m"}, func(c *silences.Content) {
			c.Recurrence, c.To = "FREQ=DAILY", c.From.Add(30*time.Minute)
		}},
	} {
		want := before
		c.change(&want)
		got, err := c.set.change(before, now)
		require.NoError(t, err, name)
		require.True(t, want.To.Equal(got.To), name)
		got.To = want.To
		require.Equal(t, want, got, name)
	}
	require.Equal(t, map[string]any{"match": "a=b", "application": "shop", "from": "2026-03-01T11:00:00Z", "ends_in_seconds": int64(3 * 3600), "zone": "Europe/Berlin", "comment": "c"},
		body(before, silenceFlags{For: "3h"}.lasts()), "the server adds by the clock of the database")
	require.Equal(t, "2026-03-01T13:00:00Z", body(before, silenceFlags{}.lasts())["to"])
	_, err := silenceFlags{Until: "noon"}.change(before, now)
	require.ErrorContains(t, err, "--until")
	_, err = silenceFlags{Zone: given("Moon")}.change(before, now)
	require.ErrorContains(t, err, "--zone")
}
