package users

import (
	"slices"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

// MaxPerDay is the highest limit of calls and texts on one day.
const MaxPerDay = 1000

// QuietLimits limit the pages to a person. Urgent pages are never held.
type QuietLimits struct {
	PerDay      *int       `json:"calls_and_texts_per_day" required:"false" doc:"The most calls and texts a day; urgent pages are not limited. null = the limit of the installation."`
	WorkingDays []Priority `json:"working_days_only" required:"false" doc:"Pages of these priorities are sent on working days only."`
}

// Check returns an Invalid fault if the limits cannot be stored.
func (q QuietLimits) Check() error {
	if q.PerDay != nil && (*q.PerDay < 0 || *q.PerDay > MaxPerDay) {
		return fault.Invalidf("calls_and_texts_per_day", "the limit must be between 0 and %d", MaxPerDay)
	}
	for i, p := range q.WorkingDays {
		if p != Medium && p != Low {
			return fault.Invalidf("working_days_only",
				"%.40q cannot be limited to working days: only medium and low can", p)
		}
		if slices.Contains(q.WorkingDays[:i], p) {
			return fault.Invalidf("working_days_only", "the priority %s is named twice", p)
		}
	}
	return nil
}
