package scheduling

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// TestSchedulesAreBounded checks the largest schedules that are allowed, and the first that are refused. The schedule
// of one team must not delay all others (promise P7).
func TestSchedulesAreBounded(t *testing.T) {
	t.Parallel()
	minutes := func(slots int) []Slot {
		var out []Slot
		for i := range slots {
			out = append(out, Slot{Start: time.Duration(i) * 15 * time.Minute, Duration: time.Minute})
		}
		return out
	}
	weekly := func(slots, days int) Schedule {
		return Schedule{ID: 1, TeamID: 1, Zone: time.UTC, Role: oncall.RolePrimary, Algorithm: Default,
			Pattern: minutes(slots), Threshold: days,
			Roster: []Member{{User: 1, InRotation: true, Active: true}, {User: 2, InRotation: true, Active: true}}}
	}
	require.NoError(t, weekly(1, 3650).Check())
	require.NoError(t, weekly(14, 3650).Check())
	largest := weekly(500, 266)
	require.NoError(t, largest.Check())
	requireField(t, "auto_populate_threshold", weekly(500, 273).Check())
	requireField(t, "auto_populate_threshold", weekly(1, 3651).Check())
	requireField(t, "auto_populate_threshold", weekly(600, 3650).Check())
	require.NoError(t, weekly(600, 0).Check(), "what is not populated costs nothing")
	hourly := func(layers, days int) Schedule {
		s := Schedule{Algorithm: ByRotation, Rotation: &Rotation{}, Threshold: days}
		for range layers {
			s.Rotation.Layers = append(s.Rotation.Layers, Layer{Start: oncall.LocalDate(2026, 1, 1, 0), Every: 1,
				Unit: Hours, Members: []LayerMember{{User: 1}}})
		}
		return s
	}
	require.NoError(t, hourly(1, 731).Check())
	requireField(t, "auto_populate_threshold", hourly(2, 731).Check())

	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	plan, err := Populate(now, largest, now, Calendars{NewLink: func() string { return "x" }})
	require.NoError(t, err)
	require.Greater(t, len(plan.Add), 18_000)
	held := map[users.ID]int{}
	for _, s := range plan.Add {
		held[s.User]++
	}
	require.InDelta(t, held[1], held[2], 500, "week after week")
}
