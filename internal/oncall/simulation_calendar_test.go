package oncall

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/users"
)

func TestSimulationCalendarAnswersForAnyInstantAndReadsEachWindowOnce(t *testing.T) {
	t.Parallel()
	at := time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC)
	store := newStore()
	store.set(7,
		Shift{ID: 1, TeamID: 7, Role: RolePrimary, User: 3, Start: at.Add(-time.Hour), End: at.Add(time.Hour)},
		Shift{ID: 2, TeamID: 7, Role: RolePrimary, User: 4, Start: at.Add(time.Hour), End: at.Add(2 * time.Hour)},
		Shift{ID: 3, TeamID: 7, Role: RolePrimary, User: 5, Start: at.Add(100 * 24 * time.Hour),
			End: at.Add(101 * 24 * time.Hour)})
	c := NewSimulationCalendar(store, LiveConfig{})
	team := Team{ID: 7, Name: "db", TimeZone: "Europe/Zurich"}
	for after, want := range map[time.Duration]users.ID{0: 3, time.Hour - time.Second: 3, time.Hour: 4, 100 * 24 * time.Hour: 5} {
		answer, ok, err := c.OnCall(t.Context(), team, RolePrimary, at.Add(after))
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, []users.ID{want}, answer.Users, after)
	}
	reads := store.reads
	answer, ok, err := c.OnCall(t.Context(), team, RolePrimary, at.Add(2*time.Hour))
	require.NoError(t, err)
	require.False(t, ok)
	require.Equal(t, "nobody has a shift", answer.Rule, "as when it is so far")
	require.Equal(t, reads, store.reads, "kept")

	store.set(7)
	answer, _, err = c.OnCall(t.Context(), team, RolePrimary, at)
	require.NoError(t, err)
	require.Equal(t, []users.ID{3}, answer.Users, "one state of things")

	store.fail = errors.New("away")
	_, _, err = c.OnCall(t.Context(), Team{ID: 8}, RolePrimary, at)
	require.ErrorContains(t, err, "read the calendar around 2031-05-01T12:00:00Z: away")
}
