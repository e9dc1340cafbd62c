package ical

import (
	"testing"
	_ "time/tzdata"

	"github.com/stretchr/testify/require"
)

func TestEveryZoneOfWindowsIsInTheDatabase(t *testing.T) {
	t.Parallel()
	require.Greater(t, len(windowsZones), 130)
	for name, zone := range windowsZones {
		require.NotNil(t, exactZone(zone), "%s: %s", name, zone)
	}
	require.Equal(t, "Europe/Berlin", windowsZones["W. Europe Standard Time"])
}
