package ical_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/oncall/ical"
	"github.com/iris-oncall/iris/internal/users"
)

// TestFeedsComeBackInEveryZone takes every zone of tzdata, of those that are alike one, and every change of its clocks
// from 2000 to 2040: the shifts of the days around it, handed over at an hour that is skipped or repeated there and at
// one that is not, go out and come back the same.
func TestFeedsComeBackInEveryZone(t *testing.T) {
	t.Parallel()
	list, err := os.ReadFile("../scheduling/testdata/zones.txt")
	require.NoError(t, err)
	names := strings.Fields(string(list))
	require.Greater(t, len(names), 590)
	from, until := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2041, 1, 1, 0, 0, 0, 0, time.UTC)
	changes, seen := 0, map[string]bool{}
	for _, name := range names {
		zone, err := time.LoadLocation(name)
		require.NoError(t, err)
		f := ical.Feed{Name: name, Contacts: map[users.ID]map[users.Mode]string{1: {users.Email: "ann@example.com"}}}
		for at := nextChange(from.In(zone)); !at.IsZero() && at.Before(until); at = nextChange(at) {
			changes++
			before := at.Add(-time.Second)
			for _, hour := range []oncall.Local{oncall.Local(before.Hour()) * 3600, 9 * 3600} {
				day := oncall.LocalIn(before, zone).Midnight() - 24*60*60
				for range 3 {
					start, end := (day + hour).In(zone), (day + 24*60*60 + hour).In(zone)
					day += 24 * 60 * 60
					if start.Before(end) { // not a day that the zone skips
						f.Shifts = append(f.Shifts, oncall.FeedShift{Feed: int64(len(f.Shifts) + 1), Changed: start, ShiftRow: oncall.ShiftRow{
							Shift: oncall.Shift{Role: "primary", User: 1, Start: start,
								End: end}, Team: "ops", UserName: "ann", FullName: "Ann"}})
					}
				}
			}
		}
		var key strings.Builder
		for _, s := range f.Shifts {
			fmt.Fprint(&key, s.Start.Unix(), " ", s.End.Unix(), " ")
		}
		if seen[key.String()] {
			continue // a zone whose clocks were always like another's; or never changed
		}
		seen[key.String()] = true
		got, err := ical.Read([]byte(f.Text()), zone, from.AddDate(0, 0, -9), until.AddDate(0, 0, 9))
		require.NoError(t, err, name)
		require.Empty(t, got.Problems, name)
		require.Len(t, got.Events, len(f.Shifts), name)
		sent := map[string]oncall.FeedShift{}
		for _, s := range f.Shifts {
			sent[ical.UID(s)] = s
		}
		for _, e := range got.Events {
			s := sent[e.UID]
			require.True(t, s.Start.Equal(e.Start) && s.End.Equal(e.End), "%s: %v came back as %v to %v", name,
				s.Shift, e.Start, e.End)
		}
	}
	require.Greater(t, changes, 10_000)
}

// nextChange returns when the clocks of t's zone change next; zero for never.
func nextChange(t time.Time) time.Time {
	_, end := t.ZoneBounds()
	if !end.IsZero() && !end.After(t) {
		return t.AddDate(0, 0, 1) // ZoneBounds may answer its own argument at the turn of a year
	}
	return end
}
