package pages

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Statistics use the hours of the reader's time zone, which can begin at half past of other zones.
func TestHoursBeginOnTheReadersClock(t *testing.T) {
	t.Parallel()
	for zone, minute := range map[string]int{"Asia/Kolkata": 30, "Asia/Kathmandu": 15, "Europe/Zurich": 0} {
		in, err := time.LoadLocation(zone)
		require.NoError(t, err)
		now := time.Date(2026, 11, 24, 18, 50, 7, 9, time.UTC).In(in)
		places := period{begin: hour(now).Add(-23 * time.Hour), end: now, unit: "hour", in: in}.places()
		require.Len(t, places, 24, zone)
		for _, at := range places {
			require.Equal(t, minute, at.UTC().Minute(), zone)
			require.Zero(t, at.Minute()+at.Second()+at.Nanosecond(), zone)
		}
	}
}
