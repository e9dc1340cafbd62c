package oncall

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

func TestParseInstant(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Zurich")
	require.NoError(t, err)
	now := time.Date(2026, 11, 22, 1, 2, 3, 4, time.UTC)
	for text, want := range map[string]string{
		"":                          "2026-11-22T01:02:03Z",
		" Now ":                     "2026-11-22T01:02:03Z",
		"+90m":                      "2026-11-22T02:32:03Z",
		"+3d":                       "2026-11-25T01:02:03Z",
		"+20w":                      "2027-04-11T00:02:03Z", // the same clock time, in summer time
		"2026-11-22T02:00:00+01:00": "2026-11-22T01:00:00Z",
		"2026-11-22 02:00":          "2026-11-22T01:00:00Z",
		"2026-07-22T02:00":          "2026-07-22T00:00:00Z",
		"2026-11-22 02:00:59":       "2026-11-22T01:00:59Z",
		"2026-11-22":                "2026-11-21T23:00:00Z",
		"2026-10-25 02:30":          "2026-10-25T00:30:00Z", // this time occurs twice: the first one
	} {
		got, err := ParseInstant(text, zone, now)
		require.NoError(t, err, text)
		require.Equal(t, want, got.UTC().Format(time.RFC3339), text)
	}
	for _, text := range []string{"tomorrow", "12", "1763776923", "99999999999", "+", "+-3h", "+-3d", "+99999d", "+3y", "2026-13-01", "2026-11-22 25:00", "9999-01-01", "0001-01-01T00:00:00Z"} {
		_, err := ParseInstant(text, zone, now)
		require.True(t, fault.Is(err, fault.Invalid), text)
		require.ErrorContains(t, err, "is no instant")
	}
}

// A text that is passed on counts from the clock of the database, also when the clock of the caller differs.
func TestPassOn(t *testing.T) {
	t.Parallel()
	zone, err := time.LoadLocation("Europe/Zurich")
	require.NoError(t, err)
	database := time.Date(2026, 11, 22, 1, 2, 3, 4, time.UTC)
	for _, ahead := range []time.Duration{0, -5 * time.Hour, 90*time.Minute + 1} {
		for text, want := range map[string]string{
			"":                          "2026-11-22T01:02:03Z",
			" Now ":                     "2026-11-22T01:02:03Z",
			" +90m":                     "2026-11-22T02:32:03Z",
			"+3d":                       "2026-11-25T01:02:03Z",
			"+0d":                       "2026-11-22T01:02:03Z",
			"+20w":                      "2027-04-11T00:02:03Z", // the same clock time, in summer time
			"2026-11-22T02:00:00+01:00": "2026-11-22T01:00:00Z",
			"2026-07-22T02:00":          "2026-07-22T00:00:00Z",
		} {
			passed, err := PassOn(text, zone, database.Add(ahead))
			require.NoError(t, err, text)
			got, err := ParseInstant(passed, time.UTC, database)
			require.NoError(t, err, passed)
			require.Equal(t, want, got.UTC().Format(time.RFC3339), "%s as %s", text, passed)
		}
	}
	_, err = PassOn("tomorrow", zone, database)
	require.True(t, fault.Is(err, fault.Invalid))
}

func TestAWallClockTimeThatTheZoneSkipsIsRefused(t *testing.T) {
	t.Parallel()
	zurich, err := time.LoadLocation("Europe/Zurich")
	require.NoError(t, err)
	_, err = ParseInstant("2026-03-29 02:30", zurich, time.Now())
	require.True(t, fault.Is(err, fault.Invalid))
	require.ErrorContains(t, err, "the clocks of Europe/Zurich skip 2026-03-29 02:30")

	beirut, err := time.LoadLocation("Asia/Beirut") // midnight is skipped: the day begins an hour later
	require.NoError(t, err)
	at, err := ParseInstant("2026-03-29", beirut, time.Now())
	require.NoError(t, err)
	require.Equal(t, "2026-03-29 01:00", at.Format("2006-01-02 15:04"))
}
