// Package recurrence checks recurrence rules before they are searched. It imports nothing of Iris but faults.
package recurrence

import (
	"time"

	"github.com/teambition/rrule-go"

	"github.com/iris-oncall/iris/internal/kit/fault"
)

const (
	// period is how many years the calendar takes to repeat, with its weekdays.
	period = 400
	// lastYear is the year after which the library ends a search.
	lastYear = 9999
	// margin is how many years of a rule are searched at least: a 29th of February on a certain weekday comes after at
	// most 40 years.
	margin = 61
)

// Possible reports whether a rule has an occurrence at all if it begins at the date of its Dtstart. Without one, the
// library searches the years up to 9999, each time: a second of work. It does not see the end of the rule before it has
// found an occurrence. Possible searches the same dates at most 400 years before that year. Of rules that recur more
// than once a day, and of those with a count or an end, it checks the days alone.
func Possible(o rrule.ROption) (possible bool) {
	var err error
	defer func() { possible = possible && err == nil }()
	defer fault.Recover(&err)
	at := o.Dtstart
	years := (lastYear - margin - at.Year()) / period * period
	o.Dtstart = time.Date(at.Year()+max(0, years), at.Month(), at.Day(), 0, 0, 0, 0, time.UTC)
	o.Count, o.Until = 0, time.Time{}
	o.Byhour, o.Byminute, o.Bysecond = nil, nil, nil
	if o.Freq > rrule.DAILY {
		o.Freq, o.Interval, o.Bysetpos = rrule.DAILY, 1, nil
	}
	r, err := rrule.NewRRule(o)
	if err != nil {
		return false
	}
	_, found := r.Iterator()()
	return found
}
