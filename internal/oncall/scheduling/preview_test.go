package scheduling

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/iris-oncall/iris/internal/oncall"
)

// A preview of a new schedule covers now, as processors will (docs/reference/oncall-v0.md 5.2); so does one that is
// populated by hand first.
func TestAPreviewOfANewScheduleCoversNow(t *testing.T) {
	t.Parallel()
	zurich := mustZone(t, "Europe/Zurich")
	now := on(t, zurich, "2026-11-22 00:18") // a Sunday; hand-offs are on Mondays at 09:00
	s := weekly(zurich, Default)
	s.ID, s.Threshold = 0, 14
	plan, err := Preview(now, s, now, Calendars{NewLink: links()})
	require.NoError(t, err)
	require.Equal(t, []string{"11-22 00:18 - 11-23 09:00 a", "11-23 09:00 - 11-30 09:00 b",
		"11-30 09:00 - 12-07 09:00 c"}, lines(plan.Add, zurich))
	for _, x := range plan.Add {
		require.Zero(t, x.Schedule)
	}

	s.ID = 7
	populated, err := Populate(now, s, now, Calendars{NewLink: links()})
	require.NoError(t, err)
	s.Progress = populated.Progress
	filled := Fill(now, []Schedule{s}, Calendars{Shifts: store(nil, populated.Changes), NewLink: links()})[0]
	require.Equal(t, []oncall.Span{{Start: now, End: on(t, zurich, "2026-11-23 09:00")}}, heldSpans(filled.Add),
		"nobody forgets the time before the first hand-off")
}

// A rotation that begins is populated from a later day on: what is before is left to processors.
func TestANewRotationCoversNow(t *testing.T) {
	t.Parallel()
	now := on(t, time.UTC, "2026-11-22 12:00")
	s := Schedule{ID: 7, Zone: time.UTC, TeamID: 7, Role: oncall.RolePrimary, Algorithm: ByRotation, Threshold: 7,
		Roster: weekly(time.UTC, Default).Roster,
		Rotation: &Rotation{Layers: []Layer{{Start: oncall.LocalOf(on(t, time.UTC, "2026-11-02 09:00")), Every: 1,
			Unit: Weeks, Members: []LayerMember{{User: 1}, {User: 2}}}}}}
	plan, err := Populate(now, s, now.Add(48*time.Hour), Calendars{NewLink: links()})
	require.NoError(t, err)
	s.Progress = plan.Progress
	filled := Fill(now, []Schedule{s}, Calendars{Shifts: store(nil, plan.Changes), NewLink: links()})[0]
	all := oncall.NewTeamCalendar(7, now, now.Add(7*24*time.Hour), append(plan.Add, filled.Add...))
	require.Empty(t, all.Gaps(oncall.RolePrimary, now, now.Add(7*24*time.Hour)))
}

// Whatever a schedule was populated to, its preview shows what populate and then Fill store.
func TestAPreviewEqualsWhatPopulateThenStores(t *testing.T) {
	t.Parallel()
	zurich := mustZone(t, "Europe/Zurich")
	rapid.Check(t, func(rt *rapid.T) {
		s := weekly(zurich, rapid.SampledFrom([]Algorithm{Default, NoSkipMatching, MultiTeam, RoundRobin}).Draw(rt,
			"algorithm"))
		s.ID, s.Threshold = 7, rapid.IntRange(1, 40).Draw(rt, "days")
		now := on(t, zurich, "2026-10-01 00:00").Add(time.Duration(rapid.IntRange(0, 60*24).Draw(rt,
			"hours")) * time.Hour)
		var known []oncall.Shift
		for range rapid.IntRange(0, 2).Draw(rt, "before") {
			plan, err := Populate(now, s, now, Calendars{Shifts: known, NewLink: links()})
			require.NoError(rt, err)
			known, s.Progress = store(known, plan.Changes), plan.Progress
			now = now.Add(time.Duration(rapid.IntRange(0, 30*24).Draw(rt, "later")) * time.Hour)
		}
		shown, err := Preview(now, s, now, Calendars{Shifts: known, NewLink: links()})
		require.NoError(rt, err)
		want := lines(shown.Apply(known), zurich)

		plan, err := Populate(now, s, now, Calendars{Shifts: known, NewLink: links()})
		require.NoError(rt, err)
		known, s.Progress = store(known, plan.Changes), plan.Progress
		filled := Fill(now, []Schedule{s}, Calendars{Shifts: known, NewLink: links()})[0]
		require.Equal(rt, want, lines(store(known, filled.Changes), zurich))
	})
}

func TestAPreviewIsBounded(t *testing.T) {
	t.Parallel()
	now := on(t, time.UTC, "2026-11-22 12:00")
	s := weekly(time.UTC, Default)
	s.Threshold = 3650
	_, err := s.Until(now, now, now.Add(maxPreview+time.Hour), true)
	requireField(t, "end", err)
	cut, err := s.Until(now, now, now.Add(10*24*time.Hour), false)
	require.NoError(t, err)
	require.Equal(t, 12, cut.Threshold)
	s.Threshold = 3
	cut, err = s.Until(now, now, now.Add(10*24*time.Hour), false)
	require.NoError(t, err)
	require.Equal(t, 3, cut.Threshold, "what a stored schedule makes is not stretched")
	for range 200 {
		s.Pattern = append(s.Pattern, Slot{Duration: time.Minute})
	}
	_, err = s.Until(now, now, now.Add(maxPreview), true)
	requireField(t, "end", err)
	turns := Schedule{Algorithm: ByRotation, Threshold: 7,
		Rotation: &Rotation{Layers: []Layer{{Every: 1, Unit: Hours}}}}
	_, err = turns.Until(now, now, now.Add(maxPreview), true)
	requireField(t, "end", err)
	_, err = turns.Until(now, now, now.Add(30*24*time.Hour), true)
	require.NoError(t, err)
}
