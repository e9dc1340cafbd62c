package hours

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestInAny(t *testing.T) {
	night := []Window{{Days: []string{"fri"}, From: "22:00", To: "06:00", Zone: "Europe/Berlin"}}
	for at, want := range map[string]bool{
		"2026-11-20T20:59:00Z": false, "2026-11-20T21:00:00Z": true, "2026-11-21T04:59:00Z": true, "2026-11-21T05:00:00Z": false,
		"2026-11-20T04:00:00Z": false, // the hours after midnight belong to the day before
	} {
		instant, err := time.Parse(time.RFC3339, at)
		require.NoError(t, err)
		require.Equal(t, want, InAny(night, instant), at)
	}
	require.False(t, InAny(nil, time.Now()))
	require.False(t, InAny([]Window{{Zone: "No/Where"}}, time.Now()))
}

// FuzzWindow checks that a window which is refused holds never or as written, and that none panics.
func FuzzWindow(f *testing.F) {
	f.Add("mon", "18:00", "08:00", "Europe/Berlin", int64(1_772_618_400))
	f.Add("", "", "", "", int64(0))
	f.Add("x", "25:00", "24:00", "No/Where", int64(-1))
	f.Fuzz(func(t *testing.T, day, from, to, zone string, at int64) {
		w := Window{From: from, To: to, Zone: zone}
		if day != "" {
			w.Days = []string{day}
		}
		held := w.holds(time.Unix(at%(1<<40), 0))
		if w.Check() == nil && day == "" && from == "" && to == "" {
			require.True(t, held, "no limits")
		}
	})
}
