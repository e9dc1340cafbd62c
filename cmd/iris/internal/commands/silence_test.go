package commands

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/silences"
)

func TestSilenceSetChangesOnlyWhatIsGiven(t *testing.T) {
	t.Parallel()
	from := time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC)
	before := silences.Draft{Content: silences.Content{Scope: silences.Scope{Match: "a=b", Application: "shop"},
		From: from, To: from.Add(2 * time.Hour), Zone: "Europe/Berlin", Comment: "c"}}
	given := func(s string) *string { return &s }
	lasts := func(d time.Duration) func(*silences.Draft) {
		seconds := int64(d / time.Second)
		return func(out *silences.Draft) { out.To, out.EndsInSeconds = time.Time{}, &seconds }
	}
	for name, c := range map[string]struct {
		set    silenceFlags
		change func(*silences.Draft)
	}{
		"nothing": {silenceFlags{}, func(*silences.Draft) {}},
		"a condition": {silenceFlags{Application: given(""), Plan: given("db")},
			func(c *silences.Draft) { c.Application, c.Plan = "", "db" }},
		"longer": {silenceFlags{For: "3h"}, lasts(3 * time.Hour)},
		"until": {silenceFlags{Until: "2026-03-01T20:00"},
			func(c *silences.Draft) { c.To = time.Date(2026, 3, 1, 19, 0, 0, 0, time.UTC) }},
		"a window": {silenceFlags{Repeat: given("FREQ=DAILY"), For: "30m"}, func(c *silences.Draft) {
			c.Recurrence = "FREQ=DAILY"
			lasts(30 * time.Minute)(c)
		}},
	} {
		want := before
		c.change(&want)
		got, err := c.set.change(before)
		require.NoError(t, err, name)
		require.True(t, want.To.Equal(got.To), name)
		got.To = want.To
		require.Equal(t, want, got, name)
	}
	_, err := silenceFlags{Until: "noon"}.change(before)
	require.ErrorContains(t, err, "--until")
	_, err = silenceFlags{Zone: given("Moon")}.change(before)
	require.ErrorContains(t, err, "--zone")
}
