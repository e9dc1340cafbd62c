package editing

import (
	"time"

	"github.com/iris-oncall/iris/internal/oncall"
)

// Selection names the shifts that an edit is about.
type Selection struct {
	// TeamID is the team whose calendar is edited; 0 = that of the first shift chosen.
	TeamID int64
	IDs    []oncall.ShiftID
	Links  []string
	// Running adds the team's shifts that run now, and those that begin before Until (zero = none of them).
	Running bool
	Until   time.Time
}

// Decision is what is to be stored, with its entry in the audit log (Action "" = none).
type Decision struct {
	Changes oncall.Changes
	Action  string
	// Context makes the entry's context, when the added shifts have their numbers (in the order of Changes.Add).
	Context func(added []oncall.Shift) any
}

// Decide looks at the chosen shifts, by start, and says what becomes of them. It is called inside the transaction that
// stores the decision, with the team locked: what it saw is what is changed.
type Decide func(now time.Time, team Membership, chosen []oncall.Shift) (Decision, error)
