package oncall

import (
	"time"

	"github.com/iris-oncall/iris/internal/users"
)

// Recurring is a person's regular unavailability, such as every Tuesday evening: an RFC 5545 rule on the person's clock.
type Recurring struct {
	User   users.ID
	Zone   *time.Location
	Start  Local // the first time
	Length time.Duration
	Rule   string // e.g. FREQ=WEEKLY;BYDAY=TU; "" = once
	Reason string
}

// Check returns an Invalid fault if the rule cannot be read.
func (r Recurring) Check() error { panic("being written") }

// Between returns the absences that overlap [from, to), by start.
func (r Recurring) Between(from, to time.Time) ([]Absence, error) { panic("being written") }
