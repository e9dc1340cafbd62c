package scheduling_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/editing"
	"github.com/iris-oncall/iris/internal/oncall/scheduling"
	"github.com/iris-oncall/iris/internal/users"
)

func TestPopulateReplacesItsOwnShiftsAndKeepsManualEdits(t *testing.T) {
	t.Parallel()
	// b, whose week was given to another person, has rested longest. With turns, a still has the next week.
	for algorithm, last := range map[scheduling.Algorithm]string{scheduling.Default: "b", scheduling.NoSkipMatching: "b", scheduling.RoundRobin: "a"} {
		t.Run(string(algorithm), func(t *testing.T) {
			t.Parallel()
			now := time.Date(2026, 6, 1, 8, 0, 0, 0, time.UTC)
			start := now.Add(time.Hour)
			s := scheduling.Weekly(time.UTC, algorithm)
			s.Threshold = 26
			first, err := scheduling.Populate(now, s, start, scheduling.Calendars{NewLink: scheduling.Links()})
			require.NoError(t, err)
			require.Equal(t, []string{"06-01 09:00 - 06-08 09:00 a", "06-08 09:00 - 06-15 09:00 b",
				"06-15 09:00 - 06-22 09:00 c", "06-22 09:00 - 06-29 09:00 a"}, scheduling.Lines(first.Add, time.UTC))
			shifts := scheduling.Store(nil, first.Changes)

			again, err := scheduling.Populate(now, scheduling.With(s, first), start,
				scheduling.Calendars{Shifts: shifts, NewLink: scheduling.Links()})
			require.NoError(t, err)
			require.True(t, again.Empty(), "the same shifts keep their numbers")

			// By hand, b's week goes to c, a's first week is prolonged, and two days of c's week are overridden.
			d := editing.Editor{Now: now, Team: editing.Membership{TeamID: 7, Name: "t",
				Members: map[users.ID]bool{1: true, 2: true, 3: true, 4: true}}}
			three, until := users.ID(3), time.Date(2026, 6, 8, 12, 0, 0, 0, time.UTC)
			later := until
			edits := []func() (oncall.Changes, error){
				func() (oncall.Changes, error) { return d.Edit(shifts[1], editing.Patch{User: &three, Start: &later}) },
				func() (oncall.Changes, error) { return d.Edit(shifts[0], editing.Patch{End: &until}) },
				func() (oncall.Changes, error) {
					c, _, err := d.Override(shifts[2:3], time.Date(2026, 6, 16, 0, 0, 0, 0, time.UTC),
						time.Date(2026, 6, 18, 0, 0, 0, 0, time.UTC), 4)
					return c, err
				},
			}
			stored := shifts
			for _, edit := range edits {
				c, err := edit()
				require.NoError(t, err)
				stored = scheduling.Store(stored, c)
			}
			third, err := scheduling.Populate(now, scheduling.With(s, first), start,
				scheduling.Calendars{Shifts: stored, NewLink: scheduling.Links()})
			require.NoError(t, err)
			stored = scheduling.Store(stored, third.Changes)
			require.Len(t, third.Kept, 5)
			require.Equal(t, []string{
				"06-01 09:00 - 06-08 12:00 a", "06-08 12:00 - 06-15 09:00 c", "06-15 09:00 - 06-16 00:00 c", "06-16 00:00 - 06-18 00:00 d",
				"06-18 00:00 - 06-22 09:00 c", "06-22 09:00 - 06-29 09:00 " + last,
			}, scheduling.Lines(stored, time.UTC))
		})
	}
}

// A person whose primary shift is changed to a vacation is no longer on call. scheduling.Populate fills the time with
// another person and keeps the vacation. It ignores shifts of another team that name the schedule.
func TestPopulateFillsTheTimeOfAShiftThatGotAnotherRole(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 6, 1, 8, 0, 0, 0, time.UTC)
	start := now.Add(time.Hour)
	for _, algorithm := range []scheduling.Algorithm{scheduling.Default, scheduling.NoSkipMatching, scheduling.RoundRobin, scheduling.MultiTeam} {
		s := scheduling.Weekly(time.UTC, algorithm)
		s.Threshold = 12
		first, err := scheduling.Populate(now, s, start, scheduling.Calendars{NewLink: scheduling.Links()})
		require.NoError(t, err)
		stored := scheduling.Store(nil, first.Changes)
		require.Len(t, stored, 2)
		d, vacation := editing.Editor{Now: now, Team: editing.Membership{TeamID: 7,
			Members: map[users.ID]bool{1: true, 2: true, 3: true}}}, oncall.RoleVacation
		c, err := d.Edit(stored[1], editing.Patch{Role: &vacation})
		require.NoError(t, err)
		stored = scheduling.Store(stored, c)
		elsewhere := stored[0]
		elsewhere.ID, elsewhere.TeamID, elsewhere.Edited = 99, 8, true
		again, err := scheduling.Populate(now, scheduling.With(s, first), start,
			scheduling.Calendars{Shifts: append(stored, elsewhere), NewLink: scheduling.Links()})
		require.NoError(t, err)
		after := oncall.NewTeamCalendar(7, start, start.AddDate(0, 0, 14),
			scheduling.Store(append(stored, elsewhere), again.Changes))
		require.Empty(t, after.Gaps(oncall.RolePrimary, start, start.AddDate(0, 0, 14)), algorithm)
		require.Len(t, after.OnCall(oncall.RoleVacation, start.AddDate(0, 0, 8)), 1)
	}
}
