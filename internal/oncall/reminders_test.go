package oncall

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTextsOfReminders(t *testing.T) {
	t.Parallel()
	zurich, err := time.LoadLocation("Europe/Zurich")
	require.NoError(t, err)
	at := time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC)
	for before, want := range map[time.Duration]string{
		0: "now", 14 * 24 * time.Hour: "in 2 weeks", 24 * time.Hour: "in 1 day", 36 * time.Hour: "in 36 hours", 90 * time.Minute: "in 90 minutes",
		time.Second: "in 1 second",
	} {
		r := Reminder{Type: RemindBefore, Team: "ops", Role: "primary", At: at, Before: before, Zone: zurich}
		require.Equal(t, Text{
			Subject: "Your primary shift for ops begins " +
				want, Body: "Your shift as primary of team ops begins at 2026-10-25 02:30:00 CEST.",
		}, r.Text())
	}
	r := Reminder{Type: RemindEnd, Team: "ops", Role: "primary", At: at.Add(time.Hour), Before: time.Hour, Zone: zurich}
	require.Equal(t, Text{"Your primary shift for ops ends in 1 hour",
		"Your shift as primary of team ops ends at 2026-10-25 02:30:00 CET."}, r.Text())
}

func TestTextsOfNotices(t *testing.T) {
	t.Parallel()
	a := NoticeFact{Role: "primary", Name: "Ann", Start: time.Unix(0, 0), End: time.Unix(3600, 0)}
	b := NoticeFact{Role: "secondary", Name: "Bob", Start: time.Unix(7200, 0), End: time.Unix(10800, 0)}
	for kind, want := range map[NoticeKind]Text{
		ShiftCreated: {"New: primary shift of Ann for ops",
			"A shift was added to the calendar of team ops: Ann as primary from 1970-01-01 00:00:00 UTC to 1970-01-01 01:00:00 UTC."},
		ShiftDeleted: {"Deleted: primary shift of Ann for ops",
			"A shift was deleted from the calendar of team ops: Ann as primary from 1970-01-01 00:00:00 UTC to 1970-01-01 01:00:00 UTC."},
		ShiftEdited: {"Changed: primary shift of Ann for ops", "A shift on the calendar of team ops was changed.\n\n" +
			"Before: Ann as primary from 1970-01-01 00:00:00 UTC to 1970-01-01 01:00:00 UTC.\nNow: Bob as secondary from 1970-01-01 02:00:00 UTC to 1970-01-01 03:00:00 UTC."},
		ShiftSwapped: {"Swapped: shifts of Ann and Bob for ops",
			"Ann and Bob swapped shifts on the calendar of team ops.\n\n" +
				"Until now: Ann as primary from 1970-01-01 00:00:00 UTC to 1970-01-01 01:00:00 UTC; Bob as secondary from 1970-01-01 02:00:00 UTC to 1970-01-01 03:00:00 UTC."},
		ShiftSubstituted: {"Covered: Ann stands in for Bob as primary for ops",
			"Ann stands in for Bob on the calendar of team ops: Ann as primary from 1970-01-01 00:00:00 UTC to 1970-01-01 01:00:00 UTC."},
	} {
		text, ok := NoticeText(kind, "ops", []NoticeFact{a, b}, time.UTC)
		require.True(t, ok)
		require.Equal(t, want, text)
		_, ok = NoticeText(kind, "ops", nil, time.UTC)
		require.False(t, ok)
	}
	_, ok := NoticeText(ShiftEdited, "ops", []NoticeFact{a}, time.UTC)
	require.False(t, ok)
	_, ok = NoticeText("nonsense", "ops", []NoticeFact{a}, time.UTC)
	require.False(t, ok)
}
