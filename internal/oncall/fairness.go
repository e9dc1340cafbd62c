package oncall

import (
	"time"

	"github.com/iris-oncall/iris/internal/users"
)

// Load is how much a person carried in a window, in time on call. Night, weekend and holiday overlap.
type Load struct {
	User                            users.ID
	Shifts                          int
	Total, Night, Weekend, Holidays time.Duration
}

// Fairness adds up the shifts of roles (none = all that are on duty) in [from, to) by person, in the order of their ids.
// Nights are 22:00 to 06:00, weekends Saturday and Sunday, all on the team's clock; each hour counts once for each role.
func Fairness(shifts []Shift, zone *time.Location, holidays map[Date]bool, from, to time.Time, roles ...string) []Load {
	panic("being written")
}

// Suggestion is who might best take a shift, and how far each candidate's next shift is away. Forever = no shift near.
type Suggestion struct {
	User     users.ID // 0 = nobody is free
	Distance map[users.ID]time.Duration
}

// Forever is the distance of somebody without a shift nearby.
const Forever = time.Duration(1<<63 - 1)

// Suggest says who of a roster is free in [start, end) and has the most rest around it (contract 4.3).
func Suggest(teamID int64, role string, roster []Member, shifts []Shift, start, end time.Time) Suggestion {
	panic("being written")
}
