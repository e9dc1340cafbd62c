package oncall

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/fault"
	"github.com/iris-oncall/iris/internal/users"
)

func userID(n int) users.ID { return users.ID(n) }

// people of the examples, by number.
const names = ".abcdefgh"

func nameOf(id users.ID) string { return string(names[id]) }

func mustZone(t testing.TB, name string) *time.Location {
	zone, err := time.LoadLocation(name)
	require.NoError(t, err)
	return zone
}

// on reads 2026-11-21 09:00 in a zone.
func on(t testing.TB, zone *time.Location, s string) time.Time {
	at, err := time.Parse("2006-01-02 15:04", s)
	require.NoError(t, err)
	return LocalOf(at).In(zone)
}

// links counts up instead of being random.
func links() func() string {
	n := 0
	return func() string { n++; return fmt.Sprintf("%032x", n) }
}

// lines words shifts as "11-21 09:00 - 11-28 09:00 a", on the clock of zone.
func lines(shifts []Shift, zone *time.Location) []string {
	out := []string{}
	for _, s := range SortedShifts(shifts) {
		out = append(out, fmt.Sprintf("%s - %s %s", s.Start.In(zone).Format("01-02 15:04"), s.End.In(zone).Format("01-02 15:04"), nameOf(s.User)))
	}
	return out
}

// store numbers the shifts that a plan adds, as storage would.
func store(shifts []Shift, c Changes) []Shift {
	out := c.Apply(shifts)
	next := ShiftID(1)
	for _, s := range out {
		next = max(next, s.ID+1)
	}
	for i := range out {
		if out[i].ID == 0 {
			out[i].ID = next
			next++
		}
	}
	return out
}

func requireField(t testing.TB, field string, err error) {
	t.Helper()
	var f *fault.Error
	require.ErrorAs(t, err, &f)
	require.Equal(t, fault.Invalid, f.Kind)
	require.Equal(t, field, f.Field)
}

// shift is one of team 7.
func shift(id int, role string, user int, start, end time.Time) Shift {
	return Shift{ID: ShiftID(id), TeamID: 7, Role: role, User: userID(user), Start: start, End: end}
}

func in(h int) time.Time { return time.Date(2026, 6, 10, 12+h, 0, 0, 0, time.UTC) }
