package scheduling

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/oncall"
)

// zoneChanges are a zone and the changes of its offset from 2000 to 2040.
type zoneChanges struct {
	*time.Location
	changes []time.Time
}

var (
	zonesFrom = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	zonesTo   = time.Date(2041, 1, 1, 0, 0, 0, 0, time.UTC)
)

// everyZone returns every zone of tzdata. Of zones with the same offsets since 2000 it returns one.
var everyZone = sync.OnceValues(func() ([]zoneChanges, error) {
	f, err := os.Open("testdata/zones.txt")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []zoneChanges
	names, seen := 0, map[string]bool{}
	for lines := bufio.NewScanner(f); lines.Scan(); names++ {
		zone, err := time.LoadLocation(lines.Text())
		if err != nil {
			return nil, err
		}
		z := zoneChanges{Location: zone}
		var key strings.Builder
		_, offset := zonesFrom.In(zone).Zone()
		fmt.Fprint(&key, offset)
		for t := zonesFrom.In(zone); ; {
			t = stretchEnd(t)
			if t.IsZero() || t.After(zonesTo) {
				break
			}
			_, now := t.Zone()
			if now == offset {
				continue // only the abbreviation changes
			}
			offset = now
			z.changes = append(z.changes, t)
			fmt.Fprint(&key, " ", t.Unix(), " ", offset)
		}
		if !seen[key.String()] {
			seen[key.String()] = true
			out = append(out, z)
		}
	}
	if names < 590 {
		return nil, fmt.Errorf("only %d zones", names)
	}
	return out, nil
})

func zones(t testing.TB) []zoneChanges {
	all, err := everyZone()
	require.NoError(t, err)
	return all
}

// offsetsAround returns the offsets in force within two days of a wall clock reading, in the order of time.
func offsetsAround(l oncall.Local, zone *time.Location) []int64 {
	var out []int64
	for t := time.Unix(int64(l)-2*day, 0).In(zone); ; {
		_, o := t.Zone()
		out = append(out, int64(o))
		t = stretchEnd(t)
		if t.IsZero() || t.Unix() > int64(l)+2*day {
			return out
		}
	}
}

func TestWallClockTimesAtEveryOffsetChangeOfEveryZone(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, z := range zones(t) {
		for _, change := range z.changes {
			for _, shift := range []int64{-26 * hour, -25 * hour, -day, -2 * hour, -hour, -30 * minute, -1, 0, 1, 30 * minute, hour, 2 * hour, day, 26 * hour} {
				checkWallClock(t, oncall.Local(change.Unix()+shift+
					offsetsAround(oncall.LocalIn(change, z.Location), z.Location)[0]), z.Location)
				checked++
			}
		}
	}
	require.Greater(t, checked, 80_000)
}

// checkWallClock compares a conversion with a search through all offsets.
func checkWallClock(t *testing.T, l oncall.Local, zone *time.Location) {
	got := l.In(zone)
	offsets := offsetsAround(l, zone)
	var first time.Time
	for _, o := range offsets {
		if at := time.Unix(int64(l)-o, 0); oncall.LocalIn(at, zone) == l && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if !first.IsZero() {
		if !got.Equal(first) {
			require.Fail(t, "not the first", "%s in %s: %s, not %s", l, zone, got, first)
		}
		return
	}
	// A skipped time uses the offset after the skip, so on the clock it is before the skip.
	_, end := got.ZoneBounds()
	if after := oncall.LocalIn(end, zone); after <= l || l-oncall.LocalIn(got, zone) != after-(oncall.LocalIn(end.Add(-time.Second), zone)+1) {
		require.Fail(t, "not on the offset after the skip", "%s in %s: %s", l, zone, got)
	}
}

func TestSkippedAndRepeatedTimesFollowOncallsRule(t *testing.T) {
	t.Parallel()
	la, err := time.LoadLocation("US/Pacific")
	require.NoError(t, err)
	require.Equal(t, "2026-03-08T09:30:00Z", oncall.LocalDate(2026, 3, 8, 2*hour+
		30*minute).In(la).UTC().Format(time.RFC3339))
	require.Equal(t, "2026-11-01T08:30:00Z", oncall.LocalDate(2026, 11, 1, hour+
		30*minute).In(la).UTC().Format(time.RFC3339))
}

// tilings are rotations in which somebody is on call at every instant.
func tilings() map[string]Layer {
	nine := oncall.LocalDate(1999, 12, 6, 9*hour) // a Monday
	two := []LayerMember{{User: 1}, {User: 2}, {User: 3}}
	return map[string]Layer{
		"hourly":    {Start: nine, Every: 1, Unit: Hours, Members: two},
		"half days": {Start: nine, Every: 12, Unit: Hours, Members: two},
		"daily":     {Start: nine, Every: 1, Unit: Days, Members: two},
		"thrice a day": {Start: nine, Every: 1, Unit: Days,
			HandOffs: []time.Duration{2*time.Hour + 30*time.Minute, 9 * time.Hour, 17 * time.Hour}, Members: two},
		"weekly": {Start: nine, Every: 1, Unit: Weeks, Members: two},
		"monthly": {Start: oncall.LocalDate(1999, 12, 31, 2*hour+30*minute), Every: 1, Unit: Months,
			Members: two},
		"business days": {Start: nine, Every: 1, Unit: BusinessDays, Members: two},
		"windows": {Start: nine, Every: 1, Unit: Days, Members: two, Restrict: []Window{
			{From: 0, To: 2*time.Hour + 15*time.Minute}, {From: 2*time.Hour + 15*time.Minute,
				To: 3 * time.Hour}, {From: 3 * time.Hour, To: 24 * time.Hour},
		}},
	}
}

func TestRotationsHaveNoGapAtEveryOffsetChangeOfEveryZone(t *testing.T) {
	t.Parallel()
	for name, layer := range tilings() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, z := range zones(t) {
				s := &Schedule{Zone: z.Location, Roster: roster(1, 2, 3), Rotation: &Rotation{Layers: []Layer{layer}}}
				b := newWorkingCalendar(Calendars{})
				for _, change := range z.changes {
					w := oncall.Span{Start: change.Add(-30 * time.Hour), End: change.Add(30 * time.Hour)}
					checkTiling(t, z.Location, w, &layer, s.layerPieces(b, 0, w))
				}
			}
		})
	}
}

// checkTiling checks that pieces follow each other without gap or overlap. Each hand-off must be at its local time; a
// hand-off at a skipped time must follow the rule for skipped times.
func checkTiling(t *testing.T, zone *time.Location, w oncall.Span, l *Layer, pieces []piece) {
	fail := func(what string, p piece) {
		require.Fail(t, what, "%s: %s to %s in %s", what, p.Start.In(zone), p.End.In(zone), zone)
	}
	at := w.Start
	for i, p := range pieces {
		if !p.Start.Equal(at) || !p.Start.Before(p.End) {
			fail("gap or overlap", p)
		}
		at = p.End
		if i == 0 || len(l.Restrict) > 0 {
			continue
		}
		due := l.handOff(p.turn)
		if oncall.LocalIn(p.Start, zone) != due && oncall.LocalIn(due.In(zone), zone) == due && !skipsNear(p.Start, zone) {
			fail("hand-off at another local time", p)
		}
	}
	if !at.Equal(w.End) {
		require.Fail(t, "it ends too early", "%s in %s", at.In(zone), zone)
	}
}

// skipsNear reports whether the clocks jump forward soon after t, by more than the time until the jump. Then a turn
// before the jump has no length.
func skipsNear(t time.Time, zone *time.Location) bool {
	_, before := t.Add(-time.Second).In(zone).Zone()
	_, end := t.Add(-time.Second).In(zone).ZoneBounds()
	if end.IsZero() {
		return false
	}
	_, after := end.Zone()
	return after > before && end.Sub(t) <= time.Duration(after-before)*time.Second
}

func TestWeeklyPatternsHaveNoGapInFortyYearsOfEveryZone(t *testing.T) {
	t.Parallel()
	half := make([]Slot, 14)
	daily := make([]Slot, 7)
	for i := range half {
		half[i] = Slot{Start: time.Duration(i)*12*time.Hour + 2*time.Hour + 30*time.Minute, Duration: 12 * time.Hour}
	}
	for i := range daily {
		daily[i] = Slot{Start: time.Duration(i) * 24 * time.Hour, Duration: 24 * time.Hour}
	}
	for name, pattern := range map[string][]Slot{
		"half days": half, "days": daily, "a week": {{Start: 9 * time.Hour, Duration: week * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, z := range zones(t) {
				s := &Schedule{Zone: z.Location, Pattern: pattern}
				for _, change := range z.changes {
					sunday := oncall.LocalIn(change, z.Location).Sunday() - week
					var at time.Time
					for range 3 {
						for _, slot := range s.periodAt(sunday).slots {
							if !at.IsZero() && !at.Equal(slot.Start) {
								require.Fail(t, "gap or overlap", "%s, then %s in %s", at, slot.Start, z)
							}
							at = slot.End
						}
						sunday += week
					}
				}
			}
		})
	}
}

func roster(ids ...int) []Member {
	var out []Member
	for _, id := range ids {
		out = append(out, Member{User: userID(id), InRotation: true, Active: true})
	}
	return out
}

// For years that tzdata does not list, the library's bounds of an offset may be wrong at the turn of the year.
func TestWallClockTimesAtEveryTurnOfTheYear(t *testing.T) {
	t.Parallel()
	for _, z := range zones(t) {
		for year := 2000; year <= 2060; year++ {
			for _, sec := range []int{-day - 1, -hour, -1, 0, hour, day} {
				checkWallClock(t, oncall.LocalDate(year, 1, 1, sec), z.Location)
			}
		}
	}
}
