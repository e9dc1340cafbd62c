package oncall

import (
	"time"

	"github.com/iris-oncall/iris/internal/users"
)

func userID(n int) users.ID { return users.ID(n) }

// shift returns a shift of team 7.
func shift(id int, role string, user int, start, end time.Time) Shift {
	return Shift{ID: ShiftID(id), TeamID: 7, Role: role, User: userID(user), Start: start, End: end}
}

func in(h int) time.Time { return time.Date(2026, 6, 10, 12+h, 0, 0, 0, time.UTC) }
