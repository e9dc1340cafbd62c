package editing

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

func userID(n int) users.ID { return users.ID(n) }

// names are the people of the examples, by number.
const names = ".abcdefgh"

func nameOf(id users.ID) string { return string(names[id]) }

// links returns a function that counts links up instead of drawing random ones.
func links() func() string {
	n := 0
	return func() string { n++; return fmt.Sprintf("%032x", n) }
}

// lines formats shifts as "11-21 09:00 - 11-28 09:00 a", on the clock of zone.
func lines(shifts []oncall.Shift, zone *time.Location) []string {
	out := []string{}
	for _, s := range oncall.SortedShifts(shifts) {
		out = append(out, fmt.Sprintf("%s - %s %s", s.Start.In(zone).Format("01-02 15:04"),
			s.End.In(zone).Format("01-02 15:04"), nameOf(s.User)))
	}
	return out
}

// store numbers the shifts that a plan adds, as storage does.
func store(shifts []oncall.Shift, c oncall.Changes) []oncall.Shift {
	out := c.Apply(shifts)
	next := oncall.ShiftID(1)
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

// shift returns a shift of team 7.
func shift(id int, role string, user int, start, end time.Time) oncall.Shift {
	return oncall.Shift{ID: oncall.ShiftID(id), TeamID: 7, Role: role, User: userID(user), Start: start, End: end}
}
