package scheduling

import (
	"time"

	"github.com/iris-oncall/iris/internal/kit/fault"
	"github.com/iris-oncall/iris/internal/oncall"
	"github.com/iris-oncall/iris/internal/users"
)

// Recurring is a person's regular unavailability, such as every Tuesday evening: an RFC 5545 rule on the person's
// clock.
type Recurring struct {
	User   users.ID
	Zone   *time.Location
	Start  oncall.Local  // the first occurrence
	Length time.Duration // on the clock: midnight to midnight is 24 hours, also across a change of the clocks
	Rule   string        // e.g. FREQ=WEEKLY;BYDAY=TU; "" = once
	Reason string
}

const (
	maxAbsence = 366 * 24 * time.Hour
	// maxTimes bounds how many absences one call of Between returns.
	maxTimes = 10_000
	maxRule  = 500 // bytes
)

// Lasts is the length of [start, end) on a zone's clock.
func Lasts(start, end time.Time, zone *time.Location) time.Duration {
	if d := time.Duration(oncall.LocalIn(end, zone)-oncall.LocalIn(start, zone)) * time.Second; d > 0 {
		return d
	}
	return end.Sub(start) // within an hour that the clock shows twice
}

// End is the end of the first occurrence.
func (r Recurring) End() time.Time { return (r.Start + oncall.Local(r.Length/time.Second)).In(r.Zone) }

// Check returns an Invalid fault if the rule cannot be used.
func (r Recurring) Check() error {
	if r.Length <= 0 || r.Length > maxAbsence {
		return fault.Invalidf("length", "the length must be positive and at most 366 days")
	}
	if year := r.Start.Time().Year(); year < 1990 || year > 2200 {
		return fault.Invalidf("start", "the start must be a date from 1990 to 2200")
	}
	if r.Rule == "" {
		return nil
	}
	if len(r.Rule) > maxRule {
		return fault.Invalidf("rule", "a rule has at most %d characters", maxRule)
	}
	rule, err := r.rule()
	if err != nil {
		return r.wrong()
	}
	// At most daily, which bounds the work of iterating over a rule's occurrences.
	if !rule.atMostDaily() {
		return fault.Invalidf("rule", "the rule may recur at most daily, at the time of day of its start")
	}
	happens := false
	err = rule.until(r.Start.Time().AddDate(maxFirst, 0, 0), func(time.Time) bool {
		happens = true
		return false
	})
	switch {
	case err != nil:
		return r.wrong()
	case !happens:
		return fault.Invalidf("rule", "the rule %.100q never happens", r.Rule)
	}
	return nil
}

// maxFirst is the number of years within which a rule must occur. Rules for leap days and days of the week occur within
// 40.
const maxFirst = 60

func (r Recurring) wrong() error {
	return fault.Invalidf("rule", "the rule %.100q is not one of RFC 5545, such as FREQ=WEEKLY;BYDAY=TU", r.Rule)
}

// rule parses the rule on a clock without a zone: wall-clock times stay the same across changes of the clocks, and only
// the results are converted to instants.
func (r Recurring) rule() (recurrence, error) {
	return readRule(r.Rule, r.Start.Time(), func(t time.Time) time.Time { return oncall.LocalIn(t, r.Zone).Time() })
}

// Between returns the absences that overlap [from, to), by start. Its faults are those of Starts.
func (r Recurring) Between(from, to time.Time) ([]oncall.Absence, error) {
	starts, err := r.Starts(from, to)
	var out []oncall.Absence
	for _, start := range starts {
		a := oncall.Absence{User: r.User, Start: start.In(r.Zone),
			End: (start + oncall.Local(r.Length/time.Second)).In(r.Zone), Reason: r.Reason}
		if a.Start.Before(a.End) && a.Start.Before(to) && from.Before(a.End) {
			out = append(out, a)
		}
	}
	return out, err
}

// Starts returns when the occurrences begin that may overlap [from, to), in order; some of the first and last may not
// overlap it. A rule that cannot be parsed, or that occurs more than 10,000 times in the range, is an Invalid fault.
func (r Recurring) Starts(from, to time.Time) ([]oncall.Local, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	if r.Rule == "" {
		return []oncall.Local{r.Start}, nil
	}
	rule, err := r.rule()
	if err != nil {
		return nil, r.wrong()
	}
	// One more day on both sides for the zone.
	first := oncall.LocalIn(from.Add(-r.Length), r.Zone) - 24*60*60
	last := oncall.LocalIn(to, r.Zone) + 24*60*60
	var out []oncall.Local
	err = rule.until(last.Time(), func(at time.Time) bool {
		if start := oncall.LocalOf(at); start >= first {
			out = append(out, start)
		}
		return len(out) <= maxTimes
	})
	if err != nil {
		return nil, r.wrong()
	}
	if len(out) > maxTimes {
		return nil, fault.Invalidf("rule", "the rule recurs too often")
	}
	return out, nil
}
